// SPDX-License-Identifier: BSD-2-Clause
// Reductions, softmax and layer norm, on rows of elements (shaders/reduce.comp, rownorm.comp).
#include <string.h>

#include "backends/gpu/gpu_emit.h"

// ---- sums, means, extremes

// Reads the dimensions to reduce, as flags. Without a list, all dimensions are reduced.
static taper_status read_dims(taper_gpu_emitter *e, const taper_node *node, int rank, bool *goes)
{
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    const taper_ir_value *value = taper_read_argument(node, "dim");
    const taper_val *constant = taper_read_constant(&e->reader, value);
    memset(goes, 0, TAPER_GPU_RANK * sizeof *goes);
    if (value != NULL && !(constant != NULL && constant->tag == TAPER_NONE)) {
        TAPER_TRY(taper_read_int_list(&e->reader, value, dims, &count));
    }
    for (size_t i = 0; i < count; i++) {
        const int64_t d = dims[i] < 0 ? dims[i] + rank : dims[i];
        TAPER_GPU_REFUSE(e, rank >= 0 && (d < 0 || d >= rank), "a dimension that is not there");
        if (rank >= 0) {
            goes[d] = true;
        }
    }
    for (int d = 0; d < rank && count == 0; d++) {
        goes[d] = true;
    }
    return TAPER_OK;
}

enum { MEAN = 256 };

// Reduces `in` over the dimensions whose flag in `goes` is set. `code` is a mode of the shader, or MEAN. `chain`
// contains steps that are applied to the result before the steps of following nodes.
static taper_status reduce(taper_gpu_emitter *e, const taper_node *node, taper_gpu_view in, const bool *goes,
                           uint32_t code, taper_gpu_chain chain)
{
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0)), shape = taper_gpu_shape(e, result);
    taper_gpu_view out, kept;
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0;
    int64_t count[2] = {1, 1}, step[2] = {0, 0}, elements = 1;
    int loop = 2;
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape), "a result that is not float32");
    const bool lanes = goes[in.packed];
    for (int d = in.rank; d-- > 0;) { // from the innermost dimension on; contiguous dimensions become one loop
        elements *= goes[d] ? in.sizes[d] : 1;
        if (!goes[d] || d == in.packed || in.sizes[d] == 1) {
            continue;
        }
        if (loop < 2 && in.strides[d] == step[loop] * count[loop]) {
            count[loop] *= in.sizes[d];
            continue;
        }
        TAPER_GPU_REFUSE(e, loop == 0, "a sum over more dimensions than a kernel has loops");
        loop--;
        count[loop] = in.sizes[d];
        step[loop] = in.strides[d];
    }
    // The shape of the result with size 1 for reduced dimensions. The memory has the layout of a tensor with these
    // sizes.
    taper_shape wide = from;
    for (int d = 0; d < from.rank; d++) {
        wide.sizes[d] = goes[d] ? 1 : from.sizes[d];
    }
    TAPER_TRY(taper_gpu_new(e, &wide, in.packed, &kept));
    const bool stays =
        taper_gpu_view_reshape(&kept, &shape, &out); // if `stays` is false, the elements are packed again
    if (stays) {
        TAPER_TRY(taper_gpu_take_steps(e, &result, out.packed, from.rank == shape.rank ? 2 : 0, &chain));
    }
    taper_gpu_view source = in;
    memcpy(source.sizes, kept.sizes, sizeof source.sizes);
    const taper_gpu_view *views[4] = {&kept, &source, &chain.operands[0], &chain.operands[1]};
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 2 + chain.operand_count, &loops),
                     "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_REDUCE;
    TAPER_TRY(taper_gpu_bind(e, w, &chain, &kept, &loops, 2));
    w->buffers[1] = in.buffer;
    taper_gpu_put_strides(w, &at, &in, loops.strides[1]);
    taper_gpu_put(w, &at, count[0]);
    taper_gpu_put(w, &at, count[1]);
    taper_gpu_put(w, &at, step[0]);
    taper_gpu_put(w, &at, step[1]);
    const int64_t vectors = taper_gpu_vectors(in.sizes[in.packed]);
    taper_gpu_put(w, &at, vectors);
    taper_gpu_put(w, &at, in.sizes[in.packed] - (vectors - 1) * TAPER_GPU_VECTOR);
    taper_gpu_put_float(w, &at, (code & MEAN) != 0 ? 1.0 / (double)elements : 1.0);
    w->constants[11] = code & ~(uint32_t)MEAN;
    w->constants[12] = lanes;
    // Each workgroup computes one result, with as many threads as it has work for.
    const int64_t all = count[0] * count[1] * (lanes ? vectors : 1);
    w->constants[0] = e->state->gpu->is_cpu || all < 16 ? 1 : all < 64 ? 16 : 64;
    w->constants[1] = 1;
    w->threads[0] = (uint32_t)loops.sizes[2] * w->constants[0];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * taper_gpu_extent(&kept, kept.packed));
    if (!stays) {
        TAPER_TRY(taper_gpu_new(e, &shape, taper_gpu_usual_packed(shape.rank), &out));
        TAPER_TRY(taper_gpu_move_reshaped(e, &kept, &out));
    }
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// Emits a reduction. `code` is the mode of the shader; bit 8 is set for a mean.
taper_status taper_gpu_rule_mean(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0));
    bool goes[TAPER_GPU_RANK];
    taper_gpu_view in;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(read_dims(e, node, from.rank, goes));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &in));
    return reduce(e, node, in, goes, code, (taper_gpu_chain){0});
}

// Emits norm: the root of the sum of squares.
taper_status taper_gpu_rule_norm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape from = taper_gpu_shape(e, taper_node_in(node, 0));
    const taper_val *dtype = taper_read_constant(&e->reader, taper_read_argument(node, "dtype"));
    const char *const name = taper_read_argument(node, "p") != NULL ? "p" : "ord";
    enum { SQUARES = 3 };
    taper_gpu_chain root = {0};
    bool goes[TAPER_GPU_RANK];
    taper_gpu_view in;
    double power;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_number(&e->reader, node, name, 2, &power));
    TAPER_GPU_REFUSE(e, power != 2, "a norm of another power");
    TAPER_GPU_REFUSE(e, dtype != NULL && dtype->tag != TAPER_NONE, "a norm of another dtype");
    TAPER_TRY(read_dims(e, node, from.rank, goes));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &in));
    taper_gpu_append(&root, TAPER_GPU_STEP_SQRT, NULL, 0, 0);
    return reduce(e, node, in, goes, SQUARES, root);
}

// ---- normalized rows

enum { SUMS = 3 }; // mode of the shader for cumulative sums

taper_status taper_gpu_rows(taper_gpu_emitter *e, const taper_gpu_view *in, int dim, uint32_t mode, double eps,
                            const taper_gpu_chain *chain, taper_gpu_view *out)
{
    taper_shape shape = {.rank = in->rank, .dtype = TAPER_F32};
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0;
    const bool lanes = dim == in->packed;
    memcpy(shape.sizes, in->sizes, sizeof in->sizes);
    TAPER_TRY(taper_gpu_new(e, &shape, in->packed, out));
    // The kernel itself loops over the row. The loops found here are over all other dimensions.
    taper_gpu_view rows[4] = {*out, *in, chain->operands[0], chain->operands[1]};
    const taper_gpu_view *views[4] = {&rows[0], &rows[1], &rows[2], &rows[3]};
    if (!lanes) {
        TAPER_GPU_REFUSE(e, chain->operand_count != 0, "an operand beside a row");
        for (size_t v = 0; v < 4; v++) {
            rows[v].sizes[dim] = 1;
        }
    }
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 2 + chain->operand_count, &loops),
                     "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_ROWNORM;
    TAPER_TRY(taper_gpu_bind(e, w, chain, out, &loops, 2));
    w->buffers[1] = in->buffer;
    taper_gpu_put_strides(w, &at, in, loops.strides[1]);
    taper_gpu_put(w, &at, in->sizes[dim]);
    taper_gpu_put(w, &at, lanes ? 0 : in->strides[dim]);
    taper_gpu_put(w, &at, lanes ? 0 : out->strides[dim]);
    taper_gpu_put_float(w, &at, eps);
    w->constants[11] = mode;
    w->constants[12] = lanes;
    w->threads[0] = (uint32_t)loops.sizes[2];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * (lanes ? 1 : taper_gpu_extent(out, out->packed)));
    if (mode != SUMS) { // in mode SUMS, each element depends on the previous one
        w->team = taper_gpu_team(e->state, taper_gpu_threads(w),
                                 lanes ? taper_gpu_vectors(in->sizes[dim]) : in->sizes[dim], 32);
    }
    return TAPER_OK;
}

static taper_status along(taper_gpu_emitter *e, const taper_node *node, uint32_t mode)
{
    int d;
    taper_gpu_view in, out;
    const taper_gpu_chain chain = {0};
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_gpu_dim(e, node, "dim", shape.rank, -1, &d));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &in));
    TAPER_TRY(taper_gpu_rows(e, &in, d, mode, 0, &chain, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

taper_status taper_gpu_rule_softmax(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    return along(e, node, code);
}

taper_status taper_gpu_rule_cumsum(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    (void)code;
    return along(e, node, SUMS);
}

static void fill_affine(void *user, float *to)
{
    const taper_gpu_affine *a = user;
    const int64_t vectors = taper_gpu_vectors(a->count);
    for (int64_t i = 0; i < a->count; i++) {
        to[i] = a->weight != NULL ? ((const float *)taper_tensor_data(a->weight))[i * a->weight->strides[0]] : 1;
        to[vectors * TAPER_GPU_VECTOR + i] =
            a->bias != NULL ? ((const float *)taper_tensor_data(a->bias))[i * a->bias->strides[0]] : 0;
    }
}

static taper_status vector_of(taper_gpu_emitter *e, const taper_node *node, const char *name, int64_t count,
                              const taper_tensor **tensor)
{
    const taper_ir_value *value = taper_read_argument(node, name);
    const taper_val *constant = taper_read_constant(&e->reader, value);
    *tensor = NULL;
    if (value == NULL || (constant != NULL && constant->tag == TAPER_NONE)) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, constant == NULL || constant->tag != TAPER_TENSOR, "a weight that is no constant");
    *tensor = constant->as.tensor;
    TAPER_GPU_REFUSE(e, (*tensor)->dtype != TAPER_F32 || (*tensor)->rank != 1 || (*tensor)->sizes[0] != count,
                     "a weight that is no vector of float32");
    return TAPER_OK;
}

taper_status taper_gpu_read_affine(taper_gpu_emitter *e, const taper_node *node, int64_t count, taper_gpu_affine *a)
{
    a->count = count;
    TAPER_TRY(vector_of(e, node, "weight", count, &a->weight));
    return vector_of(e, node, "bias", count, &a->bias);
}

taper_status taper_gpu_add_affine(taper_gpu_emitter *e, const taper_gpu_affine *a, const taper_gpu_view *v,
                                  taper_gpu_chain *chain)
{
    enum { KIND_AFFINE = 7 };
    uint32_t weights;
    if (a->weight == NULL && a->bias == NULL) {
        return TAPER_OK;
    }
    const taper_gpu_key key = {.tensors = {a->weight, a->bias}, .numbers = {(double)a->count}, .kind = KIND_AFFINE};
    const int64_t vectors = taper_gpu_vectors(a->count);
    TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, 2 * vectors), fill_affine,
                                    (void *)(uintptr_t)a, &weights));
    for (uint32_t i = 0; i < 2; i++) {
        taper_gpu_view one = {.buffer = weights, .rank = v->rank, .packed = v->packed, .offset = i == 0 ? 0 : vectors};
        memcpy(one.sizes, v->sizes, sizeof one.sizes);
        one.strides[v->packed] = 1;
        taper_gpu_append(chain, i == 0 ? TAPER_GPU_STEP_MUL : TAPER_GPU_STEP_ADD, &one, 0, 1);
    }
    return TAPER_OK;
}

taper_status taper_gpu_rule_layer_norm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    enum { NORM = 2 };
    int64_t sizes[TAPER_MAX_RANK];
    size_t count;
    double eps;
    taper_gpu_affine a;
    taper_gpu_view in, out;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_int_list(&e->reader, taper_node_in(node, 1), sizes, &count));
    TAPER_GPU_REFUSE(e, count != 1, "a layer norm of several dimensions");
    TAPER_TRY(taper_read_number(&e->reader, node, "eps", 1e-5, &eps));
    TAPER_TRY(taper_gpu_read_affine(e, node, sizes[0], &a));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &in));
    const int last = in.rank - 1;
    TAPER_GPU_REFUSE(e, in.sizes[last] != a.count, "a layer norm of other sizes");
    const taper_gpu_view before = in;
    TAPER_TRY(taper_gpu_repack(e, &before, last, &in));
    TAPER_TRY(taper_gpu_add_affine(e, &a, &in, &chain));
    TAPER_TRY(taper_gpu_rows(e, &in, last, NORM, eps, &chain, &out));
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

// Reads weight and bias while nodes are claimed, when the number of elements may not be known.
static taper_status ask_affine(taper_gpu_emitter *e, const taper_node *node)
{
    taper_gpu_affine affine;
    const taper_val *weight = taper_read_constant(&e->reader, taper_read_argument(node, "weight"));
    const taper_val *bias = taper_read_constant(&e->reader, taper_read_argument(node, "bias"));
    const taper_val *one = weight != NULL && weight->tag == TAPER_TENSOR ? weight : bias;
    const bool is_vector = one != NULL && one->tag == TAPER_TENSOR && one->as.tensor->rank == 1;
    return taper_gpu_read_affine(e, node, is_vector ? one->as.tensor->sizes[0] : 0, &affine);
}

// ---- group norm and instance norm

static taper_status norm_groups(taper_gpu_emitter *e, const taper_node *node, const taper_gpu_view *x, int64_t groups,
                                double eps, const taper_gpu_affine *a)
{
    enum { NORM = 2 };
    taper_shape rows_shape = {.rank = 3, .dtype = TAPER_F32}, shape = {.rank = x->rank, .dtype = TAPER_F32};
    taper_gpu_view rows, done, out;
    taper_gpu_chain chain = {0};
    int64_t elements = 1;
    for (int d = 1; d < x->rank; d++) {
        elements *= x->sizes[d];
    }
    memcpy(shape.sizes, x->sizes, sizeof x->sizes);
    rows_shape.sizes[0] = x->sizes[0];
    rows_shape.sizes[1] = groups;
    rows_shape.sizes[2] = elements / groups;
    TAPER_TRY(taper_gpu_reshape(e, x, &rows_shape, &rows));
    TAPER_TRY(taper_gpu_rows(e, &rows, 2, NORM, eps, &chain, &done));
    TAPER_TRY(taper_gpu_reshape(e, &done, &shape, &out));
    if (a->weight != NULL || a->bias != NULL) {
        const taper_gpu_view before = out;
        TAPER_TRY(taper_gpu_repack(e, &before, 1, &rows));
        TAPER_TRY(taper_gpu_add_affine(e, a, &rows, &chain));
        TAPER_TRY(taper_gpu_new(e, &shape, 1, &out));
        TAPER_TRY(taper_gpu_elementwise(e, &rows, false, &chain, &out));
    }
    taper_gpu_give(e, &node->outputs[0], &out);
    return TAPER_OK;
}

taper_status taper_gpu_rule_group_norm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    taper_gpu_affine a = {0};
    taper_gpu_view x;
    int64_t groups;
    double eps;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_int(&e->reader, node, "num_groups", 1, &groups));
    TAPER_TRY(taper_read_number(&e->reader, node, "eps", 1e-5, &eps));
    TAPER_TRY(ask_affine(e, node));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, shape.rank < 2 || groups < 1 || shape.sizes[1] % groups != 0, "an invalid number of groups");
    TAPER_TRY(taper_gpu_read_affine(e, node, shape.sizes[1], &a));
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &x));
    return norm_groups(e, node, &x, groups, eps, &a);
}

taper_status taper_gpu_rule_instance_norm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_shape shape = taper_gpu_shape(e, taper_node_in(node, 0));
    taper_gpu_affine a = {0};
    taper_gpu_view x;
    int64_t own;
    double eps;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_int(&e->reader, node, "use_input_stats", 1, &own));
    TAPER_GPU_REFUSE(e, own == 0, "an instance norm by statistics that are given");
    const taper_val *running = taper_read_constant(&e->reader, taper_read_argument(node, "running_mean"));
    TAPER_GPU_REFUSE(e, running == NULL || running->tag != TAPER_NONE, "an instance norm that keeps statistics");
    TAPER_TRY(taper_read_number(&e->reader, node, "eps", 1e-5, &eps));
    TAPER_TRY(ask_affine(e, node));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, shape.rank < 3, "an instance norm of images without a batch");
    TAPER_TRY(taper_gpu_read_affine(e, node, shape.sizes[1], &a));
    TAPER_TRY(taper_gpu_operand_packed(e, taper_node_in(node, 0), 1, &x));
    return norm_groups(e, node, &x, shape.sizes[1], eps, &a);
}
