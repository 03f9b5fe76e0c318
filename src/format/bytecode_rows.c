// SPDX-License-Identifier: BSD-2-Clause
// Lists the instructions of the lite interpreter that replace a call of an operator.
#include "format/bytecode_rows.h"

#include <string.h>

#include "format/module.h"

static const struct {
    uint8_t op;
    taper_bytecode_row row;
} rows[] = {
    {TAPER_LITE_TUPLE_INDEX, {"prim::TupleIndex", "", 2}},
    {TAPER_LITE_RAISE_EXCEPTION, {"prim::RaiseException", "", 2}},
    {TAPER_LITE_DICT_INDEX, {"aten::__getitem__", "Dict_str", 2}},
    {TAPER_LITE___IS__, {"aten::__is__", "", 2}},
    {TAPER_LITE___ISNOT__, {"aten::__isnot__", "", 2}},
    {TAPER_LITE_FORMAT, {"aten::format", "", -1}},
    {TAPER_LITE_DEVICE, {"prim::device", "", 1}},
    {TAPER_LITE_DTYPE, {"prim::dtype", "", 1}},
    {TAPER_LITE_DIM, {"aten::dim", "", 1}},
    {TAPER_LITE___NOT__, {"aten::__not__", "", 1}},
    {TAPER_LITE_TO_LIST, {"prim::tolist", "", 3}},
    {TAPER_LITE_NUM_TO_TENSOR, {"prim::NumToTensor", "Scalar", 1}},
    {TAPER_LITE_IS_CUDA, {"prim::is_cuda", "", 1}},
    {TAPER_LITE_WARN, {"aten::warn", "", 2}},
};

const taper_bytecode_row *taper_bytecode_row_of(unsigned op)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].op == op) {
            return &rows[i].row;
        }
    }
    return NULL;
}

int taper_bytecode_instruction_of(const char *name, const char *overload)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool dict = rows[i].op == TAPER_LITE_DICT_INDEX, any = rows[i].op == TAPER_LITE_NUM_TO_TENSOR;
        // DICT_INDEX replaces the overloads for dicts, whatever the type of their keys. NUM_TO_TENSOR replaces all
        // overloads, whatever the type of the number.
        if (strcmp(rows[i].row.name, name) == 0 &&
            (any || (dict ? strncmp(overload, "Dict_", 5) : strcmp(rows[i].row.overload, overload)) == 0)) {
            return rows[i].op;
        }
    }
    return -1;
}
