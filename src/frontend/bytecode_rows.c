// SPDX-License-Identifier: BSD-2-Clause
// The instructions that stand for an operator.
#include "frontend/bytecode.h"

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

bool taper_bytecode_is_instruction(const char *schema)
{
    const size_t length = strcspn(schema, "(");
    static const char dict_item[] = "aten::__getitem__.Dict_"; // of every kind of key
    if (strncmp(schema, dict_item, sizeof dict_item - 1) == 0) {
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const taper_bytecode_row *row = &rows[i].row;
        const size_t base = strlen(row->name), extra = strlen(row->overload);
        if (length == base + (extra != 0 ? 1 + extra : 0) && memcmp(schema, row->name, base) == 0 &&
            (extra == 0 || memcmp(schema + base + 1, row->overload, extra) == 0)) {
            return true;
        }
    }
    return false;
}
