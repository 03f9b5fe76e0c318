// SPDX-License-Identifier: BSD-2-Clause
// Linear layers, and products of two tensors (shaders/conv.comp).
#include <math.h>
#include <string.h>

#include "backends/gpu/layer_parts.h"
#include "ops/nn/prepacked.h"

// ---- linear layers

// Multiplies x [.., l->in], packed along its last dimension, by the constant weight. The other dimensions of `out` are
// the same as in x.
static taper_status linear_of(taper_gpu_emitter *e, const taper_gpu_view *x, taper_gpu_layer *l,
                              const taper_gpu_chain *chain, taper_gpu_view *out)
{
    const int last = x->rank - 1;
    taper_gpu_view in = *x;
    taper_gpu_loops loops;
    taper_shape shape = {.rank = x->rank, .dtype = TAPER_F32};
    taper_gpu_product p = {
        .parts = 1, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .linear = true, .biased = true};
    TAPER_GPU_REFUSE(e, in.packed != last || in.sizes[last] != l->in, "a product of other sizes");
    TAPER_TRY(taper_gpu_check_bias(e, l));
    memcpy(shape.sizes, x->sizes, sizeof x->sizes);
    shape.sizes[last] = l->out;
    TAPER_TRY(taper_gpu_new(e, &shape, last, out));
    // The leading dimensions become three loops. The kernel's rows are in the last loop.
    taper_gpu_view rows = in; // the input with the sizes of the result
    rows.sizes[last] = l->out;
    const taper_gpu_view *views[4] = {out, &rows, &chain->operands[0], NULL};
    if (taper_gpu_view_loops(views, 2 + chain->operand_count, &loops) && loops.sizes[0] == 1) {
        if (loops.sizes[1] != 1) { // the middle loop becomes the batch
            for (size_t v = 0; v < 4; v++) {
                loops.strides[v][0] = loops.strides[v][1];
                loops.strides[v][1] = 0;
            }
            loops.sizes[0] = loops.sizes[1];
            loops.sizes[1] = 1;
        }
    } else {
        shape.sizes[last] = l->in;
        TAPER_TRY(taper_gpu_new(e, &shape, last, &in));
        TAPER_TRY(taper_gpu_move(e, x, &in));
        rows = in;
        rows.sizes[last] = l->out;
        TAPER_GPU_REFUSE(
            e, !taper_gpu_view_loops(views, 2 + chain->operand_count, &loops) || loops.sizes[0] * loops.sizes[1] != 1,
            "tensors of more dimensions than a kernel has loops");
    }
    l->part_in = l->in;
    l->part_out = l->out;
    l->groups = 1;
    l->kernel[0] = l->kernel[1] = 1;
    p.in = in;
    p.out = *out;
    memcpy(p.in_strides, loops.strides[1], sizeof p.in_strides);
    memcpy(p.out_sizes, loops.sizes, sizeof p.out_sizes);
    p.in_sizes[0] = 1;
    p.in_sizes[1] = loops.sizes[2];
    p.in_groups = taper_gpu_vectors(l->in);
    p.out_groups = taper_gpu_vectors(l->out);
    taper_gpu_choose_tile(e, &p);
    l->tile = p.tile;
    p.w_row = l->tile;
    p.w_group = 1;
    p.w_tile = p.in_groups * TAPER_GPU_VECTOR * l->tile;
    p.operations = 2.0 * (double)(loops.sizes[0] * loops.sizes[1] * loops.sizes[2] * l->in * l->out);
    // Weights that exceed the largest buffer are divided. Each product then computes some of the results.
    const int64_t all = l->out, row = (p.in_groups * TAPER_GPU_VECTOR + 1) * (int64_t)sizeof(float);
    const int64_t whole = TAPER_GPU_VECTOR * l->tile;
    const int64_t most = (int64_t)(e->state->gpu->most_bytes / (uint64_t)row) / whole * whole;
    TAPER_GPU_REFUSE(e, most < whole, "weights that are larger than a buffer may be");
    for (l->first = 0; l->first < all; l->first += most) {
        taper_gpu_product part = p;
        taper_gpu_chain steps = *chain;
        const int64_t vectors_before = l->first / TAPER_GPU_VECTOR;
        l->out = l->part_out = all - l->first < most ? all - l->first : most;
        part.out.offset += vectors_before * out->strides[last];
        part.out.sizes[last] = l->out;
        part.out_groups = taper_gpu_vectors(l->out);
        for (uint32_t i = 0; i < steps.operand_count; i++) {
            steps.operands[i].offset += vectors_before * steps.operands[i].strides[last];
        }
        const taper_gpu_key key = taper_gpu_layer_key(l, TAPER_GPU_KIND_LINEAR);
        const int64_t vectors = taper_gpu_layer_vectors(l, &part.bias);
        TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, vectors), taper_gpu_fill_layer, l,
                                        &part.weights));
        TAPER_TRY(taper_gpu_add_product(e, &part, &loops, &steps));
    }
    return TAPER_OK;
}

taper_status taper_gpu_linear(taper_gpu_emitter *e, const taper_gpu_view *in, const taper_tensor *weight,
                              const taper_tensor *bias, const taper_gpu_chain *chain, taper_gpu_view *out)
{
    taper_gpu_layer l = {.weight = weight, .bias = bias, .out = weight->sizes[0], .in = weight->sizes[1]};
    return linear_of(e, in, &l, chain, out);
}

// Emits x [.., in] times a constant [out, in], or [in, out].
taper_status taper_gpu_emit_linear(taper_gpu_emitter *e, const taper_ir_value *x, taper_gpu_layer *l,
                                   const taper_ir_value *result, const taper_shape *shape, double min, double max)
{
    taper_gpu_view in, out;
    taper_gpu_chain chain = {.most = TAPER_GPU_FEW_STEPS};
    taper_gpu_add_clamp(&chain, min, max);
    TAPER_GPU_REFUSE(e, shape->rank < 1, "a product without dimensions");
    TAPER_TRY(taper_gpu_operand_packed(e, x, shape->rank - 1, &in));
    TAPER_GPU_REFUSE(e, in.rank != shape->rank, "a product of other sizes");
    TAPER_TRY(taper_gpu_take_steps(e, &result, shape->rank - 1, 1, &chain));
    TAPER_TRY(linear_of(e, &in, l, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

taper_status taper_gpu_rule_linear(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_gpu_layer l = {0};
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_gpu_constant(e, taper_node_in(node, 1), true, &l.weight));
    TAPER_TRY(taper_gpu_constant(e, taper_read_argument(node, "bias"), false, &l.bias));
    TAPER_GPU_REFUSE(e, l.weight->rank != 2, "a linear layer whose weight is no matrix");
    TAPER_GPU_REFUSE(e, l.bias != NULL && l.bias->rank != 1, "a linear layer whose bias is no vector");
    l.out = l.weight->sizes[0];
    l.in = l.weight->sizes[1];
    return e->asking
               ? TAPER_OK
               : taper_gpu_emit_linear(e, taper_node_in(node, 0), &l, &node->outputs[0], &shape, -HUGE_VAL, HUGE_VAL);
}

taper_status taper_gpu_rule_packed_linear(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_run run = taper_run_on(e->heap, NULL, NULL);
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_linear_args args = {.min = -HUGE_VAL, .max = HUGE_VAL};
    taper_object *object;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    (void)code;
    TAPER_TRY(taper_gpu_packed_object(e, node, &object));
    TAPER_GPU_REFUSE(e, taper_prepacked_linear_state(&call, object, &args) != TAPER_OK,
                     "packed weights that cannot be read");
    TAPER_GPU_REFUSE(e,
                     args.weight->dtype != TAPER_F32 || args.weight->rank != 2 ||
                         (args.bias != NULL && (args.bias->dtype != TAPER_F32 || args.bias->rank != 1)),
                     "a weight of other than float32");
    const int out = args.weight_is_in_out ? 1 : 0;
    taper_gpu_layer l = {.weight = args.weight,
                         .bias = args.bias,
                         .out = args.weight->sizes[out],
                         .in = args.weight->sizes[1 - out],
                         .transposed_linear = args.weight_is_in_out};
    return e->asking
               ? TAPER_OK
               : taper_gpu_emit_linear(e, taper_node_in(node, 0), &l, &node->outputs[0], &shape, args.min, args.max);
}

// Emits addmm: bias + a b.
taper_status taper_gpu_rule_addmm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_gpu_layer l = {.transposed_linear = true};
    double alpha, beta;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 1)));
    TAPER_TRY(taper_gpu_constant(e, taper_node_in(node, 2), true, &l.weight));
    TAPER_TRY(taper_gpu_constant(e, taper_node_in(node, 0), true, &l.bias));
    TAPER_TRY(taper_read_number(&e->reader, node, "alpha", 1, &alpha));
    TAPER_TRY(taper_read_number(&e->reader, node, "beta", 1, &beta));
    TAPER_GPU_REFUSE(e, alpha != 1 || beta != 1, "a product with factors");
    TAPER_GPU_REFUSE(e, l.weight->rank != 2 || l.bias->rank != 1 || l.bias->sizes[0] != l.weight->sizes[1],
                     "a sum that is no bias");
    l.out = l.weight->sizes[1];
    l.in = l.weight->sizes[0];
    return e->asking
               ? TAPER_OK
               : taper_gpu_emit_linear(e, taper_node_in(node, 1), &l, &node->outputs[0], &shape, -HUGE_VAL, HUGE_VAL);
}

// ---- products of two tensors

static taper_status ask_sum(taper_gpu_emitter *e, const taper_node *node)
{
    double alpha, beta;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_number(&e->reader, node, "alpha", 1, &alpha));
    TAPER_TRY(taper_read_number(&e->reader, node, "beta", 1, &beta));
    TAPER_GPU_REFUSE(e, alpha != 1 || beta != 1, "a product with factors");
    return TAPER_OK;
}

// Moves the loop with the most trips to the end. The order of batches does not matter.
static void largest_last(taper_gpu_loops *loops)
{
    const size_t largest = loops->sizes[0] > loops->sizes[1] ? 0 : 1;
    if (loops->sizes[largest] <= loops->sizes[2]) {
        return;
    }
    const int64_t size = loops->sizes[largest];
    loops->sizes[largest] = loops->sizes[2];
    loops->sizes[2] = size;
    for (size_t v = 0; v < 4; v++) {
        const int64_t stride = loops->strides[v][largest];
        loops->strides[v][largest] = loops->strides[v][2];
        loops->strides[v][2] = stride;
    }
}

taper_status taper_gpu_multiply(taper_gpu_emitter *e, const taper_gpu_view *a, const taper_gpu_view *b,
                                const taper_shape *shape, const taper_gpu_chain *chain, taper_gpu_view *out)
{
    const int rank = shape->rank;
    const int64_t m = a->sizes[rank - 2], k = a->sizes[rank - 1], n = b->sizes[rank - 1];
    const bool dots = b->packed == rank - 2;
    TAPER_TRY(taper_gpu_new(e, shape, rank - 1, out));
    // Batches become one loop, so that there are at most three loops, including the loop over rows.
    taper_gpu_view from_a = *a, from_b = *b, batches = *out;
    taper_gpu_view all[3];
    taper_gpu_loops loops, of_batches;
    from_a.packed = from_b.packed = batches.packed = rank - 1;
    for (int d = 0; d < rank - 2; d++) {
        TAPER_GPU_REFUSE(e,
                         (a->sizes[d] != shape->sizes[d] && a->sizes[d] != 1) ||
                             (b->sizes[d] != shape->sizes[d] && b->sizes[d] != 1),
                         "batches that do not fit");
        from_a.strides[d] = a->sizes[d] == 1 ? 0 : a->strides[d];
        from_b.strides[d] = b->sizes[d] == 1 ? 0 : b->strides[d];
    }
    all[0] = batches;
    all[1] = from_a;
    all[2] = from_b;
    for (size_t v = 0; v < 3; v++) {
        memcpy(all[v].sizes, shape->sizes, sizeof all[v].sizes);
        all[v].sizes[rank - 2] = 1;
    }
    const taper_gpu_view *views[4] = {&all[0], &all[1], &all[2], &chain->operands[0]};
    taper_gpu_view operand = chain->operands[0];
    operand.sizes[rank - 2] = 1;
    views[3] = &operand;
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 3 + chain->operand_count, &of_batches),
                     "batches of more dimensions than a kernel has loops");
    largest_last(&of_batches);
    // A kernel loops over one batch dimension. The other batch dimensions become separate dispatches.
    const int64_t outer = of_batches.sizes[0] * of_batches.sizes[1];
    TAPER_GPU_REFUSE(e, outer > 64, "batches of more dimensions than a kernel has loops");
    for (int64_t i = 0; i < outer; i++) {
        const int64_t i0 = i / of_batches.sizes[1], i1 = i % of_batches.sizes[1];
        taper_gpu_chain here = *chain;
        taper_gpu_product p = {.in = *a,
                               .out = *out,
                               .parts = 1,
                               .kernel = {1, 1},
                               .stride = {1, 1},
                               .dilation = {1, 1},
                               .linear = true,
                               .guarded = !dots,
                               .rows_packed = dots};
        loops = (taper_gpu_loops){.sizes = {of_batches.sizes[2], 1, m}};
        for (size_t v = 0; v < 4; v++) {
            loops.strides[v][0] = of_batches.strides[v == 3 ? 3 : v][2];
        }
        p.in.offset += i0 * of_batches.strides[1][0] + i1 * of_batches.strides[1][1];
        p.out.offset += i0 * of_batches.strides[0][0] + i1 * of_batches.strides[0][1];
        p.w_offset = b->offset + i0 * of_batches.strides[2][0] + i1 * of_batches.strides[2][1];
        p.w_batch = of_batches.strides[2][2];
        loops.strides[0][2] = out->strides[rank - 2];
        if (chain->operand_count != 0) {
            here.operands[0].offset += i0 * of_batches.strides[3][0] + i1 * of_batches.strides[3][1];
            loops.strides[2][0] = of_batches.strides[3][2];
            loops.strides[2][1] = 0;
            loops.strides[2][2] = chain->operands[0].strides[rank - 2];
        }
        p.in_strides[0] = of_batches.strides[1][2];
        p.in_strides[2] = a->strides[rank - 2];
        memcpy(p.out_sizes, loops.sizes, sizeof p.out_sizes);
        p.in_sizes[0] = 1;
        p.in_sizes[1] = m;
        p.in_groups = taper_gpu_vectors(k);
        p.out_groups = taper_gpu_vectors(n);
        p.weights = b->buffer;
        taper_gpu_choose_tile(e, &p);
        p.w_tile = p.tile * b->strides[rank - 1];
        p.w_row = dots ? b->strides[rank - 1] : b->strides[rank - 2];
        p.w_group = dots ? b->strides[rank - 2] : b->strides[rank - 1];
        p.w_rows = dots ? n : k;
        p.operations = 2.0 * (double)(loops.sizes[0] * m * k * n);
        TAPER_TRY(taper_gpu_add_product(e, &p, &loops, &here));
    }
    return TAPER_OK;
}

// Emits the product of the node. `sum` is the tensor that is added to the product, or NULL if nothing is added.
static taper_status multiply(taper_gpu_emitter *e, const taper_node *node, taper_gpu_view a, taper_gpu_view b,
                             const taper_ir_value *sum)
{
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    taper_gpu_view out;
    taper_gpu_chain chain = {0};
    const int rank = shape.rank;
    TAPER_GPU_REFUSE(e, rank < 2 || a.rank != rank || b.rank != rank, "operands that are not matrices");
    TAPER_GPU_REFUSE(e,
                     a.sizes[rank - 1] != b.sizes[rank - 2] || a.sizes[rank - 2] != shape.sizes[rank - 2] ||
                         b.sizes[rank - 1] != shape.sizes[rank - 1],
                     "matrices that do not fit");
    const taper_gpu_view before = a;
    TAPER_TRY(taper_gpu_repack(e, &before, rank - 1, &a));
    const bool dots = b.packed == rank - 2; // true if b is packed along its rows, as a transposed tensor is
    if (dots) {
        taper_gpu_view keys = b;
        keys.packed = rank - 1;
        keys.sizes[rank - 2] = b.sizes[rank - 1];
        keys.sizes[rank - 1] = b.sizes[rank - 2];
        keys.strides[rank - 2] = b.strides[rank - 1];
        keys.strides[rank - 1] = b.strides[rank - 2];
        const taper_status attends = taper_gpu_take_attention(e, node, &a, &keys, sum, &result, &out);
        if (attends != TAPER_DECLINED) {
            taper_gpu_give(e, result, &out);
            return attends;
        }
    }
    if (!dots && b.packed != rank - 1) {
        const taper_gpu_view other = b;
        taper_shape there = {.rank = rank, .dtype = TAPER_F32};
        memcpy(there.sizes, b.sizes, sizeof b.sizes);
        TAPER_TRY(taper_gpu_new(e, &there, rank - 1, &b));
        TAPER_TRY(taper_gpu_move(e, &other, &b));
    }
    chain.most = TAPER_GPU_FEW_STEPS;
    chain.only_plain = dots;
    if (sum != NULL) {
        taper_gpu_view added;
        bool splat;
        TAPER_TRY(taper_gpu_operand_like(e, sum, &shape, rank - 1, false, true, &added, &splat));
        taper_gpu_append(&chain, TAPER_GPU_STEP_ADD, &added, 0, 1);
        chain.codes[0] |= splat ? TAPER_GPU_SPLAT : 0;
    }
    TAPER_TRY(taper_gpu_take_steps(e, &result, rank - 1, 1, &chain));
    TAPER_TRY(taper_gpu_multiply(e, &a, &b, &shape, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// Emits a [.., m, k] b [.., k, n], with broadcast batches. If `code` is 1, the first argument is added.
taper_status taper_gpu_rule_matmul(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *a_value = taper_node_in(node, code), *b_value = taper_node_in(node, code + 1);
    const taper_ir_value *result = &node->outputs[0], *sum = code != 0 ? taper_node_in(node, 0) : NULL;
    const taper_shape shape = taper_gpu_shape(e, result);
    const taper_tensor *weight = taper_read_tensor(&e->reader, b_value);
    taper_gpu_view a, b;
    TAPER_TRY(taper_gpu_ask_operand(e, a_value));
    TAPER_TRY(taper_gpu_ask_operand(e, b_value));
    TAPER_TRY(sum != NULL ? ask_sum(e, node) : TAPER_OK);
    if (sum == NULL && weight != NULL && weight->rank == 2 && weight->dtype == TAPER_F32) {
        taper_gpu_layer l = {
            .weight = weight, .transposed_linear = true, .out = weight->sizes[1], .in = weight->sizes[0]};
        return e->asking ? TAPER_OK : taper_gpu_emit_linear(e, a_value, &l, result, &shape, -HUGE_VAL, HUGE_VAL);
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, a_value, &a));
    TAPER_TRY(taper_gpu_operand(e, b_value, &b));
    return multiply(e, node, a, b, sum);
}

// Reads the letters of an operand or of the result. Returns their number, or 0 if there are other characters or too
// many letters.
static size_t read_letters(const char **at, const char *end, char *letters)
{
    size_t count = 0;
    while (*at < end && **at != ',' && **at != '-') {
        const char c = *(*at)++;
        if (c != ' ') {
            if (count == TAPER_GPU_RANK || !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) ||
                memchr(letters, c, count) != NULL) {
                return 0;
            }
            letters[count++] = c;
        }
    }
    return count;
}

// Returns true if the equation is a batched product of matrices, with the batches in front and in the same order:
// "…ik,…kj->…ij". *transposed: true if the equation is "…ik,…jk->…ij".
static bool is_product(const char *at, const char *end, size_t *rank, bool *transposed)
{
    char a[TAPER_GPU_RANK], b[TAPER_GPU_RANK], c[TAPER_GPU_RANK];
    const size_t count = read_letters(&at, end, a);
    if (count < 2 || at == end || *at++ != ',' || read_letters(&at, end, b) != count || end - at < 2 || *at++ != '-' ||
        *at++ != '>' || read_letters(&at, end, c) != count || at != end) {
        return false;
    }
    const size_t i = count - 2, j = count - 1;
    *rank = count;
    *transposed = b[j] == a[j] && b[i] == c[j];
    return memcmp(a, b, i) == 0 && memcmp(a, c, i) == 0 && c[i] == a[i] && c[j] != a[j] &&
           (*transposed || (b[i] == a[j] && b[j] == c[j]));
}

// Emits einsum, if it is a product of matrices.
taper_status taper_gpu_rule_einsum(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_val *text = taper_read_constant(&e->reader, taper_node_in(node, 0));
    const taper_ir_value *list = taper_node_in(node, 1);
    taper_gpu_view a, b;
    size_t rank;
    bool transposed;
    (void)code;
    TAPER_GPU_REFUSE(e, text == NULL || text->tag != TAPER_STRING, "an equation that is no constant");
    const char *equation = text->as.string->data;
    TAPER_GPU_REFUSE(e, !is_product(equation, equation + text->as.string->length, &rank, &transposed),
                     "an einsum that is no product of matrices");
    TAPER_GPU_REFUSE(e, list->node == NULL || list->node->kind != TAPER_NODE_LIST || list->node->input_count != 2,
                     "a list that is not made here");
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(list->node, i)));
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(list->node, 0), &a));
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(list->node, 1), &b));
    TAPER_GPU_REFUSE(e, a.rank != (int)rank || b.rank != (int)rank, "an einsum of other dimensions");
    if (transposed) {
        int64_t order[TAPER_GPU_RANK] = {0, 1, 2, 3, 4, 5};
        const taper_gpu_view rows = b;
        order[rank - 2] = b.rank - 1;
        order[rank - 1] = b.rank - 2;
        taper_gpu_permute(&rows, order, &b);
    }
    return multiply(e, node, a, b, NULL);
}
