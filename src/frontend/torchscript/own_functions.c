// SPDX-License-Identifier: BSD-2-Clause
// Functions that PyTorch has in TorchScript of its own and finds under the names of operators. It inlines them where
// they are called, so that the sources it writes hold them only where they were operators when the file was made, or
// where the sources were written by other hands.
#include "frontend/torchscript/lower.h"

typedef struct pair {
    const char *name, *operator_name;
} pair;

static const char *find(const pair *pairs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(pairs[i].name, name) == 0) {
            return pairs[i].operator_name;
        }
    }
    return NULL;
}

#define FIND(pairs, name) find(pairs, sizeof(pairs) / sizeof *(pairs), name)

static bool is_a(const taper_ts_binding *value, taper_type_kind kind)
{
    return value->type != NULL && value->type->kind == kind;
}

static bool is_real(const taper_ts_binding *value)
{
    return is_a(value, TAPER_TYPE_INT) || is_a(value, TAPER_TYPE_FLOAT);
}

// Properties of tensors, which were operators until PyTorch 1.3.
static const char *property(const char *name)
{
    static const pair properties[] = {{"prim::shape", "aten::size"}, {"prim::ndim", "aten::dim"},
                                      {"prim::T", "aten::numpy_T"},  {"prim::H", "aten::matrix_H"},
                                      {"prim::mT", "aten::mT"},      {"prim::mH", "aten::mH"}};
    return FIND(properties, name);
}

// A number and a tensor, as a tensor and a number.
static taper_status number_first(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                 const taper_ts_binding *args, bool *done, taper_ts_binding *out)
{
    static const pair turned[] =
        {
            {"aten::mul", "aten::mul"},
            {"aten::add", "aten::add"},
            {"aten::eq", "aten::eq"},
            {"aten::ne", "aten::ne"},
        },
                      compared[] =
                          {
                              {"aten::lt", "aten::gt"},
                              {"aten::le", "aten::ge"},
                              {"aten::gt", "aten::lt"},
                              {"aten::ge", "aten::le"},
                          },
                      // What is done to the tensor first, the other then.
        first[] = {{"aten::sub", "aten::neg"}, {"aten::div", "aten::reciprocal"}},
                      then[] = {{"aten::sub", "aten::add"}, {"aten::div", "aten::mul"}};
    taper_ts_binding swapped[2] = {args[1], args[0]};
    const char *operator_name = FIND(turned, name);
    if (operator_name == NULL && is_real(&args[0])) {
        operator_name = FIND(compared, name);
    }
    const char *before = FIND(first, name);
    if (before != NULL) {
        TAPER_TRY(taper_ts_builtin(l, node, before, &args[1], NULL, 1, &swapped[0]));
        operator_name = FIND(then, name);
    }
    *done = operator_name != NULL;
    return *done ? taper_ts_builtin(l, node, operator_name, swapped, NULL, 2, out) : TAPER_OK;
}

// torch._pair(n), [n, n], and its like; lists stay as they are.
static taper_status several(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                            const taper_ts_binding *number, bool *done, taper_ts_binding *out)
{
    static const char *const names[] = {"aten::_single", "aten::_pair", "aten::_triple", "aten::_quadruple"};
    const taper_type *const types[] = {&taper_type_list_int, &taper_type_list_float};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t t = 0; t < 2 && strcmp(name, names[i]) == 0; t++) {
            if (number->type != NULL && taper_ts_converts(l, number->type, types[t], (int32_t)i + 1, false)) {
                *done = true;
                return taper_ts_convert(l, node, *number, types[t], (int32_t)i + 1, out);
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_own_function(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                   const taper_ts_binding *args, size_t count, bool *done, taper_ts_binding *out)
{
    *done = false;
    if (count == 1 && property(name) != NULL) {
        *done = true;
        return taper_ts_builtin(l, node, property(name), args, NULL, 1, out);
    }
    if (count == 1) {
        return several(l, node, name, args, done, out);
    }
    if (count != 2) {
        return TAPER_OK;
    }
    if (is_a(&args[0], TAPER_TYPE_TENSOR) && is_real(&args[1]) && strcmp(name, "aten::floordiv") == 0) {
        *done = true;
        return taper_ts_builtin(l, node, "aten::floor_divide", args, NULL, 2, out);
    }
    if ((is_real(&args[0]) || is_a(&args[0], TAPER_TYPE_COMPLEX)) && is_a(&args[1], TAPER_TYPE_TENSOR)) {
        return number_first(l, node, name, args, done, out);
    }
    return TAPER_OK;
}
