// SPDX-License-Identifier: BSD-2-Clause
// Reads arguments of nodes for backends. See node_reader.h.
#include "backends/common/node_reader.h"

#include <string.h>

#include "ops/call/call.h"

taper_status taper_read_refuse(taper_node_reader *r, const char *why)
{
    r->why = why;
    return TAPER_DECLINED;
}

taper_known_value taper_read_value(const taper_node_reader *r, const taper_ir_value *value)
{
    taper_known_value known = {.shape = taper_shape_unknown()};
    r->know(r->user, value, &known);
    return known;
}

const taper_ir_value *taper_read_argument(const taper_node *node, const char *name)
{
    for (size_t i = 0; i < node->schema->arg_count && i < node->input_count; i++) {
        if (strcmp(node->schema->args[i].name, name) == 0) {
            return taper_node_in(node, i);
        }
    }
    return NULL;
}

const taper_val *taper_read_constant(const taper_node_reader *r, const taper_ir_value *value)
{
    return value != NULL ? taper_read_value(r, value).constant : NULL;
}

taper_tensor *taper_read_tensor(const taper_node_reader *r, const taper_ir_value *value)
{
    const taper_val *constant = taper_read_constant(r, value);
    return constant != NULL && constant->tag == TAPER_TENSOR ? constant->as.tensor : NULL;
}

static bool will_be_known(const taper_ir_value *value)
{
    return value->type != NULL && (value->type->kind == TAPER_TYPE_INT || value->type->kind == TAPER_TYPE_FLOAT ||
                                   value->type->kind == TAPER_TYPE_BOOL);
}

// Reads an argument by name. *constant is NULL if the argument is None, missing, or not known yet.
static taper_status named(taper_node_reader *r, const taper_node *node, const char *name, const taper_val **constant)
{
    const taper_ir_value *value = taper_read_argument(node, name);
    *constant = taper_read_constant(r, value);
    if (r->later && value != NULL && *constant == NULL && will_be_known(value)) {
        return TAPER_OK;
    }
    TAPER_READ_REFUSE(r, value != NULL && *constant == NULL, "an argument that is no constant");
    *constant = value != NULL && (*constant)->tag != TAPER_NONE ? *constant : NULL;
    return TAPER_OK;
}

taper_status taper_read_int(taper_node_reader *r, const taper_node *node, const char *name, int64_t otherwise,
                            int64_t *number)
{
    const taper_val *constant;
    TAPER_TRY(named(r, node, name, &constant));
    TAPER_READ_REFUSE(r, constant != NULL && constant->tag != TAPER_INT && constant->tag != TAPER_BOOLEAN,
                      "an argument that is no whole number");
    *number = constant == NULL             ? otherwise
              : constant->tag == TAPER_INT ? constant->as.i
                                           : /* TAPER_BOOLEAN */ constant->as.b;
    return TAPER_OK;
}

taper_status taper_read_number(taper_node_reader *r, const taper_node *node, const char *name, double otherwise,
                               double *number)
{
    const taper_val *constant;
    TAPER_TRY(named(r, node, name, &constant));
    TAPER_READ_REFUSE(r, constant != NULL && constant->tag != TAPER_INT && constant->tag != TAPER_DOUBLE,
                      "an argument that is no number");
    *number = constant == NULL ? otherwise : constant->tag == TAPER_INT ? (double)constant->as.i : constant->as.f;
    return TAPER_OK;
}

taper_status taper_read_int_list(taper_node_reader *r, const taper_ir_value *value, int64_t *numbers, size_t *count)
{
    const taper_val *constant = taper_read_constant(r, value);
    // The argument is a list of constants that is not folded yet.
    const taper_node *list = constant == NULL ? value->node : NULL;
    TAPER_READ_REFUSE(r, constant == NULL && (list == NULL || list->kind != TAPER_NODE_LIST),
                      "an argument that is no constant");
    const bool one = constant != NULL && constant->tag == TAPER_INT;
    TAPER_READ_REFUSE(r, constant != NULL && !one && constant->tag != TAPER_LIST, "an argument that is no list");
    const size_t have = one ? 1 : list != NULL ? list->input_count : constant->as.list->count;
    TAPER_READ_REFUSE(r, have > TAPER_MAX_RANK, "an argument of too many numbers");
    for (size_t i = 0; i < have; i++) {
        const taper_val *item = one            ? constant
                                : list != NULL ? taper_read_constant(r, taper_node_in(list, i))
                                               : &constant->as.list->items[i];
        if (item == NULL && r->later && will_be_known(taper_node_in(list, i))) {
            numbers[i] = 0;
            continue;
        }
        TAPER_READ_REFUSE(r, item == NULL || item->tag != TAPER_INT, "an argument that is no constant");
        numbers[i] = item->as.i;
    }
    *count = have;
    return TAPER_OK;
}

taper_status taper_read_ints(taper_node_reader *r, const taper_node *node, const char *name, size_t want,
                             int64_t otherwise, int64_t *numbers)
{
    const taper_ir_value *value = taper_read_argument(node, name);
    const taper_val *constant = taper_read_constant(r, value);
    int64_t found[TAPER_MAX_RANK];
    size_t count = 0;
    if (value != NULL && (constant == NULL || constant->tag != TAPER_NONE)) {
        TAPER_TRY(taper_read_int_list(r, value, found, &count));
    }
    TAPER_READ_REFUSE(r, count > 1 && count != want, "an argument of other than two numbers");
    for (size_t i = 0; i < want; i++) {
        numbers[i] = count == 0 ? otherwise : found[count == 1 ? 0 : i];
        TAPER_READ_REFUSE(r, numbers[i] < -INT32_MAX || numbers[i] > INT32_MAX, "a number that 32 bits do not hold");
    }
    return TAPER_OK;
}
