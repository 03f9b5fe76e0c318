// SPDX-License-Identifier: BSD-2-Clause
// Connects a serialized model to its caller: checks the inputs, which come from a list, and makes new tensors in
// another list for the results.
#include <math.h>
#include <stdio.h>

#include "frontend/nnapi/lowering.h"
#include "ops/call/promote.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

#define SCALE_ERROR 0x1p-23 // relative error of a scale that was rounded to float32

// PyTorch's formats of inputs and results (DimOrder in torch/backends/_nnapi/serializer.py).
enum { FORMAT_PLAIN = 0, FORMAT_IMAGE = 1, FORMAT_ROWS = 2 };

// Adds a check of an input's quantizer, because NNAPI uses the raw bytes of the input, which mean other numbers with
// another quantizer. The scales may differ by rounding to float32.
static taper_status check_quantizer(taper_nnapi_lowering *l, const taper_nnapi_operand *operand, size_t number,
                                    taper_ir_value *x)
{
    const double scale = (double)operand->scale;
    char text[128];
    (void)snprintf(text, sizeof text, "input %zu of the NNAPI model should have the scale %.9g and the zero point %ld",
                   number, scale, (long)operand->zero_point);
    taper_ir_value *have, *want;
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_q_zero_point), &have, x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(operand->zero_point), &want));
    TAPER_TRY(taper_emit_expect(&l->emit, TAPER_OP(aten_eq_int), have, want, text));
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten_q_scale), &have, x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_double(scale * (1.0 - SCALE_ERROR)), &want));
    TAPER_TRY(taper_emit_expect(&l->emit, TAPER_OP(aten_ge_float), have, want, text));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_double(scale * (1.0 + SCALE_ERROR)), &want));
    return taper_emit_expect(&l->emit, TAPER_OP(aten_le_float), have, want, text);
}

// Adds a check that x has the operand's dtype and its known sizes. A size that is 0 in the operand is known only at run
// time, so it is not checked.
static taper_status check_input(taper_nnapi_lowering *l, const taper_nnapi_operand *operand, size_t number, bool image,
                                taper_ir_value *x)
{
    const taper_dtype dtype = taper_nnapi_dtype(operand->type);
    int64_t sizes[TAPER_MAX_RANK];
    bool open = false;
    for (uint32_t d = 0; d < operand->rank; d++) {
        sizes[image ? taper_nnapi_image_dim(d) : d] = operand->sizes[d];
        open = open || operand->sizes[d] == 0;
    }
    char text[512];
    (void)snprintf(text, sizeof text, "input %zu of the NNAPI model should be %s of sizes %s%s", number,
                   taper_dtype_torch_name(dtype), taper_shape_print(operand->rank, sizes).text,
                   open ? ", where 0 is any size" : "");
    taper_ir_value *have, *want;
    TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(prim_dtype), &have, x));
    TAPER_TRY(taper_nnapi_constant(l, taper_val_int(dtype), &want));
    TAPER_TRY(taper_emit_expect(&l->emit, TAPER_OP(aten_eq_int), have, want, text));
    if (dtype == TAPER_QU8) {
        TAPER_TRY(check_quantizer(l, operand, number, x));
    }
    return taper_emit_expect_sizes(&l->emit, x, operand->rank, sizes, text);
}

static bool format_of(const int64_t *formats, size_t count, size_t at, int64_t *format)
{
    *format = formats == NULL ? FORMAT_PLAIN : at < count ? formats[at] : -1;
    return *format >= FORMAT_PLAIN && *format <= FORMAT_ROWS;
}

static taper_status take_inputs(taper_nnapi_lowering *l, const taper_nnapi_interface *face)
{
    for (uint32_t i = 0; i < l->model->input_count; i++) {
        const uint32_t at = l->model->inputs[i];
        const taper_nnapi_operand *operand = taper_nnapi_operand_of(l, at);
        const taper_nnapi_value *known = &l->values[at];
        int64_t format;
        taper_ir_value *x, *number;
        if (known->plain != NULL || known->image != NULL || taper_nnapi_is_constant(l, at)) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_FILE, "operand %u cannot be input %u: it has a value", at, i);
        }
        if (!format_of(face->in_formats, face->in_format_count, i, &format) || format == FORMAT_ROWS ||
            (format == FORMAT_IMAGE && operand->rank != 4)) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "input %u has type %u and format %lld", i, operand->type,
                       (long long)format);
        }
        if (face->args != NULL) {
            TAPER_TRY(taper_nnapi_constant(l, taper_val_int(i), &number));
            TAPER_TRY(TAPER_NNAPI_EMIT(l, TAPER_OP(aten___getitem___t), &x, face->args, number));
            x->type = &taper_type_tensor;
        } else if (i < face->item_count) {
            x = face->items[i];
        } else {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "there is no input %u", i);
        }
        TAPER_TRY(taper_nnapi_check_type(l, at));
        TAPER_TRY(check_input(l, operand, i, format == FORMAT_IMAGE, x));
        TAPER_TRY(taper_nnapi_from_tensor(l, at, x, &x));
        taper_nnapi_give_view(l, at, at, x, format == FORMAT_IMAGE);
        l->values[at].scale = (double)NAN;
        l->values[at].shared = true;
    }
    return TAPER_OK;
}

// Returns true if nothing else owns the memory of operand `at`: the operand is not an input, a constant, or an earlier
// result. Marks the memory as owned.
static bool take_storage(taper_nnapi_lowering *l, uint32_t at)
{
    const uint32_t storage = l->values[at].storage;
    const bool own =
        !l->values[storage].shared && !taper_nnapi_is_constant(l, at) && !taper_nnapi_is_constant(l, storage);
    l->values[storage].shared = true;
    return own;
}

// Makes the list of results, which are new tensors, contiguous in NNAPI's order of dimensions.
static taper_status give_outputs(taper_nnapi_lowering *l, const taper_nnapi_interface *face, taper_ir_value **list)
{
    taper_ir_value **items;
    TAPER_TRY(taper_nnapi_values(l, l->model->output_count, &items));
    for (uint32_t i = 0; i < l->model->output_count; i++) {
        const uint32_t at = l->model->outputs[i];
        int64_t format;
        taper_ir_value *y, *order;
        if (!format_of(face->out_formats, face->out_format_count, i, &format) ||
            (format == FORMAT_IMAGE && taper_nnapi_operand_of(l, at)->rank != 4)) {
            TAPER_FAIL(l->emit.error, TAPER_ERROR_UNSUPPORTED, "output %u has format %lld", i, (long long)format);
        }
        const bool image = format == FORMAT_IMAGE;
        TAPER_TRY(image ? taper_nnapi_image(l, at, false, &y) : taper_nnapi_plain(l, at, &y));
        TAPER_TRY(taper_nnapi_to_tensor(l, at, y, &y));
        TAPER_TRY(taper_nnapi_constant(l, taper_val_int(image ? TAPER_FORMAT_CHANNELS_LAST : TAPER_FORMAT_CONTIGUOUS),
                                       &order));
        TAPER_TRY(take_storage(l, at) ? TAPER_NNAPI_EMIT(l, TAPER_OP(aten_contiguous), &y, y, order)
                                      : TAPER_NNAPI_EMIT(l, TAPER_OP(aten_clone), &y, y, order));
        items[i] = y;
    }
    return taper_nnapi_list(l, face->type, items, l->model->output_count, list);
}

taper_status taper_nnapi_lower_model(taper_nnapi_lowering *l, taper_arena *arena, const taper_nnapi_interface *face,
                                     taper_ir_value **list)
{
    const uint32_t count = l->model->operand_count;
    l->values = taper_arena_array(arena, count, sizeof *l->values);
    if (l->values == NULL && count != 0) {
        return taper_fail_memory(l->emit.error);
    }
    for (uint32_t i = 0; i < count; i++) {
        const double scale = (double)l->model->operands[i].scale;
        l->values[i] = (taper_nnapi_value){.storage = i, .wanted = scale, .scale = scale};
    }
    for (uint32_t i = 0; i < l->model->output_count && i < face->out_scale_count; i++) {
        const uint32_t at = l->model->outputs[i];
        if ((float)face->out_scales[i] == l->model->operands[at].scale) {
            l->values[at].wanted = face->out_scales[i];
        }
    }
    TAPER_TRY(take_inputs(l, face));
    TAPER_TRY(taper_nnapi_lower_operations(l));
    return give_outputs(l, face, list);
}
