// SPDX-License-Identifier: BSD-2-Clause
// Lowers calls of functions that PyTorch implements in TorchScript under the names of operators. PyTorch inlines their
// calls when it saves a file. A source therefore contains such a call only if the function was still an operator when
// the file was saved, or if a program other than PyTorch wrote the source.
#include "frontend/torchscript/lower.h"
#include "ops/list/op_names.h"

static bool is_a(const taper_ts_binding *value, taper_type_kind kind)
{
    return value->type != NULL && value->type->kind == kind;
}

static bool is_real(const taper_ts_binding *value)
{
    return is_a(value, TAPER_TYPE_INT) || is_a(value, TAPER_TYPE_FLOAT);
}

// If a property of tensors was an operator until PyTorch 1.3, returns that operator, otherwise NULL.
static const char *property(const char *name)
{
    static const char *const properties[][2] = {
#define PROPERTY(name, operator) {name, operator},
#include "ops/list/own_names.h"
    };
    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
        if (strcmp(name, properties[i][0]) == 0) {
            return properties[i][1];
        }
    }
    return NULL;
}

// An operator on a number and a tensor, and the operator on a tensor and a number that replaces it.
typedef struct turned_row {
    const char *name;
    const char *before; // operator that is applied to the tensor first, or NULL for none
    const char *operator_name;
    bool of_reals; // true if complex numbers are refused
} turned_row;

static taper_status number_first(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                 const taper_ts_binding *args, bool *done, taper_ts_binding *out)
{
    static const turned_row rows[] = {
#define TURNED(name, before, operator, reals) {name, before, operator, reals },
#include "ops/list/own_names.h"
    };
    taper_ts_binding swapped[2] = {args[1], args[0]};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].name, name) == 0 && (!rows[i].of_reals || is_real(&args[0]))) {
            *done = true;
            if (rows[i].before != NULL) {
                TAPER_TRY(taper_ts_builtin(l, node, rows[i].before, &args[1], NULL, 1, &swapped[0]));
            }
            return taper_ts_builtin(l, node, rows[i].operator_name, swapped, NULL, 2, out);
        }
    }
    return TAPER_OK;
}

// Lowers torch._pair(n), which is [n, n], and similar functions. If n is a list, the result is n.
static taper_status several(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                            const taper_ts_binding *number, bool *done, taper_ts_binding *out)
{
    static const char *const names[] = {
#define SEVERAL(name, count) [(count)-1] = name,
#include "ops/list/own_names.h"
    };
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
    if (is_a(&args[0], TAPER_TYPE_TENSOR) && is_real(&args[1]) && strcmp(name, TAPER_NAME_FLOORDIV) == 0) {
        *done = true;
        return taper_ts_builtin(l, node, TAPER_NAME_FLOOR_DIVIDE, args, NULL, 2, out);
    }
    if ((is_real(&args[0]) || is_a(&args[0], TAPER_TYPE_COMPLEX)) && is_a(&args[1], TAPER_TYPE_TENSOR)) {
        return number_first(l, node, name, args, done, out);
    }
    return TAPER_OK;
}
