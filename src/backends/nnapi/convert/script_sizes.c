// SPDX-License-Identifier: BSD-2-Clause
// Computes sizes as integers in the script.
#include "backends/nnapi/convert/script_sizes.h"

#include "backends/nnapi/serialize.h"

bool taper_script_is_open(const taper_network *network)
{
    for (uint32_t i = 0; i < network->input_count; i++) {
        const taper_network_operand *o = &network->operands[network->inputs[i]];
        for (uint32_t d = 0; d < o->rank; d++) {
            if (o->sizes[d] == 0) {
                return true;
            }
        }
    }
    return false;
}

taper_status taper_script_read_sizes(taper_emitter *e, const taper_nnapi_part *part, taper_script_sizes *sizes,
                                     taper_ir_value **now)
{
    static const uint8_t image[4] = {0, 2, 3, 1};
    const taper_network *network = part->network;
    taper_ir_value **items, *dim;
    size_t count = 0, open = 0;
    TAPER_TRY(taper_network_find_sizes(network, &e->graph->arena, &sizes->found, e->error));
    sizes->values = taper_arena_array(&e->graph->arena, sizes->found.count, sizeof *sizes->values);
    if (sizes->values == NULL) {
        return taper_fail_memory(e->error);
    }
    for (size_t i = 0; i < sizes->found.count; i++) {
        sizes->values[i] = NULL;
        open += sizes->found.sizes[i].kind == TAPER_SIZE_INPUT;
    }
    TAPER_TRY(taper_emit_values(e, open, &items));
    for (size_t i = 0; i < sizes->found.count; i++) {
        const taper_size *size = &sizes->found.sizes[i];
        if (size->kind == TAPER_SIZE_INPUT) {
            const bool is_image = network->operands[network->inputs[size->a]].is_image;
            taper_ir_value *x = (taper_ir_value *)(uintptr_t)part->inputs[size->a];
            TAPER_TRY(taper_emit_constant(e, taper_val_int(is_image ? image[size->b] : size->b), &dim));
            TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_size_int), &sizes->values[i], x, dim));
            items[count++] = sizes->values[i];
        }
    }
    return taper_emit_list(e, &taper_type_list_int, items, count, now);
}

taper_status taper_script_compute_sizes(taper_emitter *e, taper_script_sizes *sizes)
{
    for (size_t i = 0; i < sizes->found.count; i++) {
        const taper_size *size = &sizes->found.sizes[i];
        taper_ir_value **made = &sizes->values[i], *const a = sizes->values[size->a], *b = NULL;
        if (size->kind == TAPER_SIZE_SUM || size->kind == TAPER_SIZE_PRODUCT) {
            b = sizes->values[size->b];
        } else if (size->kind != TAPER_SIZE_INPUT) {
            TAPER_TRY(taper_emit_constant(e, taper_val_int(size->number), &b));
        }
        switch (size->kind) {
        case TAPER_SIZE_INPUT:
            break;
        case TAPER_SIZE_KNOWN:
            *made = b;
            break;
        case TAPER_SIZE_ADD:
        case TAPER_SIZE_SUM:
            TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_add_int), made, a, b));
            break;
        case TAPER_SIZE_TIMES:
        case TAPER_SIZE_PRODUCT:
            TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_mul_int), made, a, b));
            break;
        case TAPER_SIZE_OVER:
            TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_floordiv_int), made, a, b));
            break;
        }
    }
    return TAPER_OK;
}

static size_t put_sizes(const taper_script_sizes *sizes, const taper_network *network, uint32_t operand,
                        taper_ir_value **items)
{
    const uint32_t rank = network->operands[operand].rank;
    for (uint32_t d = 0; items != NULL && d < rank; d++) {
        items[d] = sizes->values[sizes->found.of[operand][d]];
    }
    return rank;
}

taper_status taper_script_sizes_of(taper_emitter *e, const taper_script_sizes *sizes, const taper_network *network,
                                   uint32_t operand, taper_ir_value **list)
{
    taper_ir_value *items[TAPER_MAX_RANK];
    const size_t count = put_sizes(sizes, network, operand, items);
    return taper_emit_list(e, &taper_type_list_int, items, count, list);
}

taper_status taper_script_sized_model(taper_emitter *e, const taper_script_sizes *sizes, const taper_network *network,
                                      taper_ir_value *serialized, taper_ir_value **sized)
{
    const int64_t zero = 0, begin = (int64_t)taper_network_sizes_word(network);
    taper_ir_value **items, *list, *numbers, *part, *copied, *args[4];
    size_t count = 0;
    for (uint32_t i = 0; i < network->operand_count; i++) {
        count += put_sizes(sizes, network, i, NULL);
    }
    TAPER_TRY(taper_emit_values(e, count, &items));
    count = 0;
    for (uint32_t i = 0; i < network->operand_count; i++) {
        count += put_sizes(sizes, network, i, items + count);
    }
    // The arguments of slice: dimension, begin, end, step.
    const int64_t slice[4] = {zero, begin, begin + (int64_t)count, 1};
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(taper_emit_constant(e, taper_val_int(slice[i]), &args[i]));
    }
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_clone), sized, serialized));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_slice_Tensor), &part, *sized, args[0], args[1], args[2], args[3]));
    TAPER_TRY(taper_emit_list(e, &taper_type_list_int, items, count, &list));
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_tensor), &numbers, list));
    return TAPER_EMIT_CALL(e, TAPER_OP(aten_copy_), &copied, part, numbers);
}
