// SPDX-License-Identifier: BSD-2-Clause
// Replaces operators that have two names. PyTorch's compiler normalizes the names in every function that it loads
// (NormalizeOps in torch/csrc/jit/passes/normalize_ops.cpp). Thus passes, lists of operators and files for the lite
// interpreter contain only one of the names. overload.c calls this for each node that it makes.
#include "frontend/torchscript/list.h"
#include "ops/list/op_names.h"
#include "ops/list/op_table.h"

// The table of PyTorch 1.13. The in-place forms of these operators have the same names with '_' appended.
static const char *const names[][2] = {
#define ALIAS(alias, name) {alias, name},
#include "ops/list/own_names.h"
};

const char *taper_ts_alias_of(const char *name, char *in_place, size_t size)
{
    const size_t length = strlen(name), plain = length != 0 && name[length - 1] == '_' ? length - 1 : length;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strncmp(name, names[i][0], plain) != 0 || names[i][0][plain] != 0) {
            continue;
        }
        const size_t bytes = strlen(names[i][1]);
        if (plain == length) {
            return names[i][1];
        }
        if (bytes + 2 <= size) {
            memcpy(in_place, names[i][1], bytes);
            memcpy(in_place + bytes, "_", 2);
            return in_place;
        }
    }
    return NULL;
}

taper_status taper_ts_normalize(taper_ts_lowering *l, const taper_op *called, const taper_schema *schema,
                                taper_ir_value **inputs, size_t count, const taper_op **op, const taper_schema **normal)
{
    char in_place[TAPER_TS_ALIAS_BYTES];
    const char *name = taper_ts_alias_of(schema->name, in_place, sizeof in_place);
    const taper_op *sub = TAPER_OP(aten_sub_Tensor);
    *op = NULL;
    if (called == TAPER_OP(aten_rsub_Tensor) && sub != NULL) {
        taper_ir_value *self = inputs[0];
        inputs[0] = inputs[1];
        inputs[1] = self;
        *op = sub;
        return taper_registry_schema(l->unit->registry, *op, normal, l->unit->error);
    }
    for (int implicit = 0; name != NULL && implicit < 2; implicit++) {
        for (const taper_op *row = taper_row_first(name); row != NULL; row = taper_row_next(row)) {
            const taper_schema *s;
            TAPER_TRY(taper_registry_schema(l->unit->registry, row, &s, l->unit->error));
            bool fits = s->arg_count == count && !s->vararg && s->ret_count == schema->ret_count;
            for (size_t i = 0; fits && i < count; i++) {
                const taper_type *known = taper_ts_type_in_graph(inputs[i]);
                const taper_type *type = known != NULL ? known : schema->args[i].type;
                fits = taper_ts_converts(l, type, s->args[i].type, s->args[i].size, implicit != 0);
            }
            if (fits) {
                *op = row;
                *normal = s;
                return TAPER_OK;
            }
        }
    }
    return TAPER_OK;
}
