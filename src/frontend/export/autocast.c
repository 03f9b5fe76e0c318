// SPDX-License-Identifier: BSD-2-Clause
// Graphs within autocast for the CPU: some operators take their floats in the lower dtype, some in float32, some in the
// widest that they are given. The casts stand in no graph: PyTorch makes them where operators are called.
#include "frontend/export/parts.h"

typedef enum rule { LOWER, FLOAT32, WIDEST, RULES } rule;

// Operators of aten by what they take, as PyTorch 2.15 has them; all overloads of a name.
static const char *const listed[RULES] = {
    [LOWER] =
        " _addmm_activation _native_multi_head_attention addbmm addmm baddbmm bmm conv1d conv2d conv3d conv_tbc "
        "conv_transpose1d conv_transpose2d conv_transpose3d linalg_vecdot linear matmul mkldnn_rnn_layer mm prelu "
        "scaled_dot_product_attention ",
    [FLOAT32] =
        " _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy "
        "binary_cross_entropy_with_logits cdist cholesky_inverse cholesky_solve cosine_embedding_loss "
        "cross_entropy_loss ctc_loss fake_quantize_per_tensor_affine fft_fft fft_fft2 fft_fftn fft_hfft fft_ifft "
        "fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn "
        "fractional_max_pool2d fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d "
        "hinge_embedding_loss huber_loss inverse kl_div l1_loss linalg_cholesky linalg_cholesky_ex linalg_cond "
        "linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv linalg_inv_ex "
        "linalg_lstsq linalg_matrix_rank linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv "
        "linalg_tensorsolve lu_solve margin_ranking_loss max_pool3d max_unpool2d max_unpool3d mse_loss "
        "multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nanquantile nll_loss nll_loss2d "
        "orgqr ormqr pinverse poisson_nll_loss polar prod quantile reflection_pad1d reflection_pad2d "
        "replication_pad1d replication_pad2d replication_pad3d smooth_l1_loss soft_margin_loss stft svd trace "
        "triangular_solve triplet_margin_loss view_as_complex ",
    [WIDEST] = " cat index_copy stack ",
};

static rule rule_of(const char *name, size_t length)
{
    for (unsigned i = 0; i < RULES; i++) {
        for (const char *at = strchr(listed[i], ' '); at[1] != '\0'; at = strchr(at + 1, ' ')) {
            if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ' ') {
                return (rule)i;
            }
        }
    }
    return RULES;
}

// Whether autocast would cast a value: a tensor of floats, but no doubles.
static bool castable(const taper_export_scope *scope, const taper_pt2_argument *argument, int *dtype)
{
    const taper_pt2_meta *meta =
        argument->kind == TAPER_PT2_VALUE ? scope->graph->values[argument->as.value].meta : NULL;
    *dtype = meta != NULL ? meta->dtype : TAPER_F64;
    return *dtype == TAPER_F32 || *dtype == TAPER_F16 || *dtype == TAPER_BF16;
}

// The n-th of a node's arguments, lists taken apart; NULL behind the last.
static const taper_pt2_argument *nth(const taper_pt2_node *node, size_t *input, size_t *item)
{
    while (*input < node->input_count) {
        const taper_pt2_argument *argument = &node->inputs[*input].argument;
        if (argument->kind != TAPER_PT2_LIST) {
            ++*input;
            return argument;
        }
        if (*item < argument->count) {
            return &argument->as.items[(*item)++];
        }
        *item = 0;
        ++*input;
    }
    return NULL;
}

// What an operator that is not listed gives is of a dtype that it was given or asked for; if not, it is made of others
// that are listed. Products are, but for some that need no lower dtype.
static taper_status check_others(taper_export_lowering *l, const taper_export_scope *scope, const taper_op *op)
{
    const taper_pt2_node *node = l->node;
    int dtype, result = TAPER_F64;
    bool floats = false, lower = true, found = false;
    if (node->output_count == 0 || !castable(scope, &node->outputs[0], &result)) {
        result = -1;
    }
    size_t input = 0, item = 0;
    for (const taper_pt2_argument *a = nth(node, &input, &item); a != NULL; a = nth(node, &input, &item)) {
        if (castable(scope, a, &dtype)) {
            floats = true;
            lower &= dtype == l->autocast;
            found |= dtype == result;
        }
        found |= a->kind == TAPER_PT2_DTYPE;
    }
    const bool product = op != NULL && taper_op_has(op, TAPER_OP_PRODUCT) && !lower;
    return floats && ((result >= 0 && !found) || product)
               ? taper_export_refuse(l,
                                     "it stands within autocast of the CPU, which casts inside of it: export without "
                                     "autocast, or after run_decompositions()")
               : TAPER_OK;
}

// The values of the node's arguments to `kept`, or back.
static void exchange(const taper_pt2_node *node, taper_export_scope *scope, taper_ir_value **kept, bool back)
{
    size_t input = 0, item = 0, i = 0;
    for (const taper_pt2_argument *a = nth(node, &input, &item); a != NULL; a = nth(node, &input, &item), i++) {
        if (a->kind == TAPER_PT2_VALUE && back) {
            scope->values[a->as.value] = kept[i];
        } else if (a->kind == TAPER_PT2_VALUE) {
            kept[i] = scope->values[a->as.value];
        }
    }
}

taper_status taper_export_autocast(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                                   const char *name, taper_ir_value ***kept)
{
    static const char space[] = "aten::";
    const bool own = strncmp(name, space, sizeof space - 1) == 0;
    const char *base = name + (own ? sizeof space - 1 : 0);
    const rule what = own ? rule_of(base, strlen(base)) : RULES;
    *kept = NULL;
    if (what == RULES) {
        return check_others(l, scope, op);
    }
    int to = what == FLOAT32 ? TAPER_F32 : l->autocast, dtype;
    size_t input = 0, item = 0, count = 0;
    for (const taper_pt2_argument *a = nth(l->node, &input, &item); a != NULL; a = nth(l->node, &input, &item)) {
        count++;
        to = what == WIDEST && castable(scope, a, &dtype) && dtype == TAPER_F32 ? TAPER_F32 : to;
    }
    TAPER_TRY(taper_charge(l->module->allocator, 3 * (uint64_t)count, l->emit.error));
    TAPER_TRY(taper_emit_values(&l->emit, count + 1, kept));
    exchange(l->node, scope, *kept, false);
    input = item = 0;
    for (const taper_pt2_argument *a = nth(l->node, &input, &item); a != NULL; a = nth(l->node, &input, &item)) {
        taper_ir_value *wanted, *value;
        if (!castable(scope, a, &dtype) || dtype == to) {
            continue;
        }
        TAPER_TRY(taper_emit_constant(&l->emit, taper_val_int(to), &wanted));
        TAPER_TRY(taper_export_value(l, scope, a, &taper_type_tensor, &value));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_to_dtype), &scope->values[a->as.value], value, wanted));
    }
    return TAPER_OK;
}

void taper_export_uncast(const taper_export_lowering *l, taper_export_scope *scope, taper_ir_value **kept)
{
    exchange(l->node, scope, kept, true);
}
