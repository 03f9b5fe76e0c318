// SPDX-License-Identifier: BSD-2-Clause
// What rules ask of a node's arguments.
#include <string.h>

#include "backends/nnapi/translating.h"

taper_status taper_translate_refuse(taper_translator *t, const char *why)
{
    t->why = why;
    return TAPER_DECLINED;
}

static taper_known_value know(const taper_translator *t, const taper_ir_value *value)
{
    taper_known_value known = {.shape = taper_shape_unknown()};
    t->options->know(t->options->user, value, &known);
    return known;
}

const taper_ir_value *taper_translate_argument(const taper_node *node, const char *name)
{
    for (size_t i = 0; i < node->schema->arg_count && i < node->input_count; i++) {
        if (strcmp(node->schema->args[i].name, name) == 0) {
            return taper_node_in(node, i);
        }
    }
    return NULL;
}

const taper_val *taper_translate_constant(const taper_translator *t, const taper_ir_value *value)
{
    return value != NULL ? know(t, value).constant : NULL;
}

taper_tensor *taper_translate_tensor(const taper_translator *t, const taper_ir_value *value)
{
    const taper_val *constant = taper_translate_constant(t, value);
    return constant != NULL && constant->tag == TAPER_TENSOR ? constant->as.tensor : NULL;
}

// *constant NULL: None, or no such argument.
static taper_status named(taper_translator *t, const taper_node *node, const char *name, const taper_val **constant)
{
    const taper_ir_value *value = taper_translate_argument(node, name);
    *constant = taper_translate_constant(t, value);
    TAPER_REFUSE(t, value != NULL && *constant == NULL, "an argument that is no constant");
    *constant = value != NULL && (*constant)->tag != TAPER_NONE ? *constant : NULL;
    return TAPER_OK;
}

taper_status taper_translate_int(taper_translator *t, const taper_node *node, const char *name, int64_t otherwise,
                                 int64_t *number)
{
    const taper_val *constant;
    TAPER_TRY(named(t, node, name, &constant));
    TAPER_REFUSE(t, constant != NULL && constant->tag != TAPER_INT && constant->tag != TAPER_BOOLEAN,
                 "an argument that is no whole number");
    *number = constant == NULL             ? otherwise
              : constant->tag == TAPER_INT ? constant->as.i
                                           : /* TAPER_BOOLEAN */ constant->as.b;
    return TAPER_OK;
}

taper_status taper_translate_number(taper_translator *t, const taper_node *node, const char *name, double otherwise,
                                    double *number)
{
    const taper_val *constant;
    TAPER_TRY(named(t, node, name, &constant));
    TAPER_REFUSE(t, constant != NULL && constant->tag != TAPER_INT && constant->tag != TAPER_DOUBLE,
                 "an argument that is no number");
    *number = constant == NULL ? otherwise : constant->tag == TAPER_INT ? (double)constant->as.i : constant->as.f;
    return TAPER_OK;
}

taper_status taper_translate_int_list(taper_translator *t, const taper_ir_value *value, int64_t *numbers, size_t *count)
{
    const taper_val *constant = taper_translate_constant(t, value);
    const taper_node *list = constant == NULL ? value->node : NULL; // of constants, not folded yet
    TAPER_REFUSE(t, constant == NULL && (list == NULL || list->kind != TAPER_NODE_LIST),
                 "an argument that is no constant");
    const bool one = constant != NULL && constant->tag == TAPER_INT;
    TAPER_REFUSE(t, constant != NULL && !one && constant->tag != TAPER_LIST, "an argument that is no list");
    const size_t have = one ? 1 : list != NULL ? list->input_count : constant->as.list->count;
    TAPER_REFUSE(t, have > TAPER_MAX_RANK, "an argument of too many numbers");
    for (size_t i = 0; i < have; i++) {
        const taper_val *item = one            ? constant
                                : list != NULL ? taper_translate_constant(t, taper_node_in(list, i))
                                               : &constant->as.list->items[i];
        TAPER_REFUSE(t, item == NULL || item->tag != TAPER_INT, "an argument that is no constant");
        numbers[i] = item->as.i;
    }
    *count = have;
    return TAPER_OK;
}

taper_status taper_translate_ints(taper_translator *t, const taper_node *node, const char *name, size_t want,
                                  int64_t otherwise, int64_t *numbers)
{
    const taper_ir_value *value = taper_translate_argument(node, name);
    const taper_val *constant = taper_translate_constant(t, value);
    int64_t found[TAPER_MAX_RANK];
    size_t count = 0;
    if (value != NULL && (constant == NULL || constant->tag != TAPER_NONE)) {
        TAPER_TRY(taper_translate_int_list(t, value, found, &count));
    }
    TAPER_REFUSE(t, count > 1 && count != want, "an argument of other than two numbers");
    for (size_t i = 0; i < want; i++) {
        numbers[i] = count == 0 ? otherwise : found[count == 1 ? 0 : i];
        TAPER_REFUSE(t, numbers[i] < -INT32_MAX || numbers[i] > INT32_MAX, "a number that 32 bits do not hold");
    }
    return TAPER_OK;
}

taper_shape taper_translate_shape(const taper_translator *t, const taper_ir_value *value)
{
    if (t->values != NULL && value->id < t->value_count && t->values[value->id].shape.rank >= 0) {
        return t->values[value->id].shape;
    }
    const taper_tensor *tensor = taper_translate_tensor(t, value);
    return tensor != NULL ? taper_shape_of(tensor) : know(t, value).shape;
}

bool taper_translate_is_known(const taper_shape *shape)
{
    bool known = shape->rank >= 0;
    for (int d = 0; d < shape->rank; d++) {
        known = known && shape->sizes[d] != TAPER_UNKNOWN;
    }
    return known;
}

taper_status taper_translate_told_sizes(taper_translator *t, const taper_shape *shape, int64_t *sizes)
{
    size_t open = 0;
    TAPER_REFUSE(t, shape->rank < 0, "a tensor whose number of dimensions is not known");
    for (int d = 0; d < shape->rank; d++) {
        sizes[d] = shape->sizes[d] == TAPER_UNKNOWN ? -1 : shape->sizes[d];
        open += shape->sizes[d] == TAPER_UNKNOWN;
    }
    TAPER_REFUSE(t, open > (size_t)t->options->open, "a tensor whose sizes are not known");
    return TAPER_OK;
}

taper_status taper_translate_dim(taper_translator *t, const taper_shape *shape, int64_t number, size_t *dim)
{
    *dim = number < 0 ? 0 : (size_t)number;
    if (shape->rank < 0) {
        TAPER_REFUSE(t, !t->asking, "a tensor whose number of dimensions is not known");
        return TAPER_OK;
    }
    TAPER_REFUSE(t, number < -shape->rank || number >= shape->rank, "a dimension that is not there");
    *dim = (size_t)(number < 0 ? number + shape->rank : number);
    return TAPER_OK;
}

bool taper_translate_is_quantized(const taper_translator *t, const taper_ir_value *value)
{
    if (t->values != NULL && value->id < t->value_count &&
        (t->values[value->id].plain != TAPER_NO_OPERAND || t->values[value->id].image != TAPER_NO_OPERAND)) {
        return t->values[value->id].quantized;
    }
    const taper_tensor *tensor = taper_translate_tensor(t, value);
    const taper_known_value known = know(t, value);
    return tensor != NULL ? tensor->quantizer != NULL
                          : known.quantized || known.shape.dtype == TAPER_QU8 || known.shape.dtype == TAPER_QI8;
}
