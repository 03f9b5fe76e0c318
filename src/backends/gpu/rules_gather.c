// SPDX-License-Identifier: BSD-2-Clause
// Elements by index (shaders/gather.comp). Indices are integers from outside the segment, so the host checks them
// before each run. If one is out of range, the CPU runs the segment and reports the error.
#include <string.h>

#include "backends/gpu/gpu_emit.h"

typedef enum gather { EMBEDDING, SELECT, EACH } gather;

// Makes the view `indices` of the node's indices. The view has the sizes of the result; dimensions without an index
// have stride 0. If `wraps` is set, negative indices count from the end. The host adjusts negative indices in place, so
// the tensor must have no other use.
static taper_status read_indices(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *table, int d,
                                 bool wraps, taper_gpu_view *indices)
{
    TAPER_TRY(taper_gpu_operand_of(e, value, TAPER_GPU_WHOLES, indices));
    taper_gpu_memory *memory = &e->program->memories[indices->buffer];
    const int64_t count = table->sizes[d];
    TAPER_GPU_REFUSE(e, count > TAPER_GPU_MOST_WHOLE, "a dimension that is too large for indices");
    const bool others = memory->most != 0 || (memory->below != 0 && (!memory->wraps || memory->below != count));
    TAPER_GPU_REFUSE(e, (wraps && others) || (memory->wraps && !wraps), "indices of several kinds");
    memory->wraps = wraps;
    memory->below = memory->below == 0 || count < memory->below ? (uint32_t)count : memory->below;
    return TAPER_OK;
}

// Adds the dispatch. `table` and `indices` have the result's sizes, except the table's dimension `d`, which has `count`
// elements.
static taper_status add_gather(taper_gpu_emitter *e, const taper_gpu_view *table, const taper_gpu_view *indices, int d,
                               const taper_gpu_view *out)
{
    const int packed = out->packed;
    taper_gpu_view from = *table, by = *indices;
    const taper_gpu_view *views[3] = {out, &from, &by};
    const taper_gpu_chain chain = {0};
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0;
    memcpy(from.sizes, out->sizes, sizeof from.sizes);
    memcpy(by.sizes, out->sizes, sizeof by.sizes);
    from.strides[d] = 0; // the shader adds the index times this dimension's stride itself
    from.packed = by.packed = packed;
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 3, &loops), "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_GATHER;
    TAPER_TRY(taper_gpu_bind(e, w, &chain, out, &loops, 2));
    w->buffers[1] = table->buffer;
    w->buffers[2] = indices->buffer;
    taper_gpu_put_strides(w, &at, &from, loops.strides[1]);
    taper_gpu_put_strides(w, &at, &by, loops.strides[2]);
    taper_gpu_put(w, &at, table->sizes[d]);
    taper_gpu_put(w, &at, table->strides[d]);
    w->constants[11] = by.strides[packed] != 0 || table->packed == d;
    w->constants[12] = table->packed == d;
    w->threads[0] = (uint32_t)loops.sizes[2];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * taper_gpu_extent(out, packed));
    return TAPER_OK;
}

// Gathers rows of the table, by indices into its first dimension. The table must be packed along another dimension.
static taper_status add_rows(taper_gpu_emitter *e, const taper_gpu_view *table, const taper_gpu_view *indices,
                             int index_rank, taper_gpu_view *out)
{
    // The dimensions of the indices come first, then the dimensions of a row.
    taper_shape shape = {.rank = index_rank + table->rank - 1, .dtype = TAPER_F32};
    TAPER_GPU_REFUSE(e, shape.rank > TAPER_GPU_RANK - 1 || shape.rank < 1, "indices of more than four dimensions");
    memcpy(shape.sizes, indices->sizes, (size_t)index_rank * sizeof *shape.sizes);
    memcpy(shape.sizes + index_rank, table->sizes + 1, (size_t)(table->rank - 1) * sizeof *shape.sizes);
    const int rank = shape.rank, packed = table->packed + index_rank - 1;
    TAPER_TRY(taper_gpu_new(e, &shape, packed, out));
    // The views get an added first dimension, from which the indices select.
    taper_gpu_view result = *out, from, by;
    from = (taper_gpu_view){.buffer = table->buffer, .offset = table->offset, .rank = rank + 1, .packed = packed + 1};
    by = (taper_gpu_view){
        .buffer = indices->buffer, .offset = indices->offset, .rank = rank + 1, .packed = TAPER_GPU_RANK};
    result.rank = rank + 1;
    result.packed = packed + 1;
    memmove(result.sizes + 1, out->sizes, (size_t)rank * sizeof *result.sizes);
    memmove(result.strides + 1, out->strides, (size_t)rank * sizeof *result.strides);
    result.sizes[0] = 1;
    result.strides[0] = 0;
    from.sizes[0] = table->sizes[0];
    from.strides[0] = table->strides[0];
    memcpy(from.strides + 1 + index_rank, table->strides + 1, (size_t)(table->rank - 1) * sizeof *from.strides);
    memcpy(by.strides + 1, indices->strides, (size_t)index_rank * sizeof *by.strides);
    return add_gather(e, &from, &by, 0, &result);
}

// Gathers the rows of an embedding's weights that the indices select.
static taper_status embed(taper_gpu_emitter *e, const taper_node *node, taper_gpu_view *out)
{
    taper_gpu_view table, indices;
    TAPER_TRY(taper_gpu_operand_packed(e, taper_node_in(node, 0), 1, &table));
    TAPER_GPU_REFUSE(e, table.rank != 2, "rows of other than a matrix");
    TAPER_TRY(read_indices(e, taper_node_in(node, 1), &table, 0, false, &indices));
    return add_rows(e, &table, &indices, taper_gpu_shape(e, taper_node_in(node, 1)).rank, out);
}

// Emits x[i] where i is one tensor of integers.
taper_status taper_gpu_rule_index(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const unsigned kinds = TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS;
    const taper_ir_value *list = taper_node_in(node, 1);
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    taper_gpu_view table, indices, out, made;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), kinds));
    TAPER_GPU_REFUSE(e, list->node == NULL || list->node->kind != TAPER_NODE_LIST, "a list that is not made here");
    TAPER_GPU_REFUSE(e, list->node->input_count != 1, "several tensors of indices, or some of other dimensions");
    const taper_ir_value *index = taper_node_in(list->node, 0);
    const int dtype = taper_gpu_shape(e, index).dtype; // bool indices, and unknown dtypes that may be bool, are refused
    TAPER_GPU_REFUSE(e, dtype >= 0 && dtype != TAPER_I64 && dtype != TAPER_I32, "indices of other than whole numbers");
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), kinds, &table));
    const taper_gpu_view before = table;
    if (table.rank == 1) { // views the table as rows of one element
        const taper_shape rows = {.rank = 2, .dtype = TAPER_F32, .sizes = {table.sizes[0], 1}};
        TAPER_TRY(taper_gpu_reshape(e, &before, &rows, &made));
        TAPER_TRY(taper_gpu_repack(e, &made, 1, &table));
    } else if (table.packed == 0) {
        TAPER_TRY(taper_gpu_repack(e, &before, before.rank - 1, &table));
    }
    TAPER_TRY(read_indices(e, index, &table, 0, true, &indices));
    TAPER_TRY(add_rows(e, &table, &indices, taper_gpu_shape(e, index).rank, &made));
    TAPER_TRY(taper_gpu_reshape(e, &made, &shape, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

// Emits gather and similar operators. `code` is the operator.
taper_status taper_gpu_rule_gather(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]), of = taper_gpu_shape(e, taper_node_in(node, 0));
    const taper_ir_value *index = taper_node_in(node, code == EMBEDDING ? 1 : 2);
    taper_gpu_view table, indices, by, out;
    int d = 0;
    TAPER_TRY(taper_gpu_ask_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS));
    TAPER_TRY(taper_gpu_ask_operand_of(e, index, TAPER_GPU_WHOLES));
    TAPER_TRY(code != EMBEDDING ? taper_gpu_dim(e, node, "dim", of.rank, 0, &d) : TAPER_OK);
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result whose sizes follow from elements, or that is empty");
    if (code == EMBEDDING) {
        TAPER_TRY(embed(e, node, &out));
        taper_gpu_give(e, &node->outputs[0], &out);
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, taper_node_in(node, 0), TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS, &table));
    TAPER_TRY(read_indices(e, index, &table, d, false, &indices));
    TAPER_GPU_REFUSE(e, table.rank != shape.rank || shape.rank < 1, "a tensor without dimensions");
    TAPER_GPU_REFUSE(e, indices.rank != (code == SELECT ? 1 : table.rank), "indices of other dimensions");
    by = indices;
    if (code == SELECT) {
        TAPER_GPU_REFUSE(e, indices.sizes[0] != shape.sizes[d], "indices of other sizes");
        by = (taper_gpu_view){.buffer = indices.buffer, .offset = indices.offset, .rank = table.rank};
        by.strides[d] = indices.strides[0];
    }
    for (int k = 0; k < table.rank; k++) {
        TAPER_GPU_REFUSE(e, k != d && shape.sizes[k] > table.sizes[k], "indices of other sizes");
    }
    TAPER_TRY(taper_gpu_new(e, &shape, table.packed, &out));
    TAPER_TRY(add_gather(e, &table, &by, d, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}
