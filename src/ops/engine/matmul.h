// SPDX-License-Identifier: BSD-2-Clause
// Matrix products: a blocked product over strided matrices, products of tensors, and what the operators made of
// products share (working dtypes, combinations with a bias, texts for messages).
#ifndef TAPER_OPS_MATMUL_H
#define TAPER_OPS_MATMUL_H

#include "ops/call/call.h"
#include "ops/call/promote.h"

// ---- the core: c = a b, or c += a b. Strides are in elements and may be anything (0 included, except in c).
typedef struct taper_gemm {
    taper_dtype dtype; // TAPER_F32, F64, I64 (wraps around) or C128
    int64_t m, n, k;
    const void *a;
    int64_t a_row, a_column;
    const void *b;
    int64_t b_row, b_column;
    void *c;
    int64_t c_row, c_column;
    bool add;
} taper_gemm;

// Up to so many rows times a transposed matrix are dot products with its rows as they lie: packing does not pay.
enum { TAPER_GEMM_FEW_ROWS = 6 };

TAPER_MUST_USE taper_status taper_gemm_run(taper_run *run, const taper_gemm *gemm);

// The same product for every index of up to TAPER_MAX_RANK dimensions: strides in elements from one matrix to the next.
typedef struct taper_gemm_batch {
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    int64_t a[TAPER_MAX_RANK], b[TAPER_MAX_RANK], c[TAPER_MAX_RANK];
} taper_gemm_batch;

TAPER_MUST_USE taper_status taper_gemm_run_batch(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);
// Of floats, by the gemm kernels (matmul_packed.c), which cannot be stopped within a sum. TAPER_DECLINED before
// anything was written.
TAPER_MUST_USE taper_status taper_gemm_packed(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);
// How many products; no size is 0. It is at most the number of elements of the result.
static inline int64_t taper_gemm_batch_count(const taper_gemm_batch *batch)
{
    int64_t count = 1;
    for (size_t d = 0; d < batch->rank; d++) {
        count *= batch->sizes[d];
    }
    return count;
}
// Where the matrices of the index-th product start, in elements; index counts with the last dimension fastest.
static inline void taper_gemm_batch_at(const taper_gemm_batch *batch, int64_t index, int64_t *a, int64_t *b, int64_t *c)
{
    *a = *b = *c = 0;
    for (size_t d = batch->rank; d-- > 0;) {
        const int64_t i = index % batch->sizes[d];
        index /= batch->sizes[d];
        *a += i * batch->a[d];
        *b += i * batch->b[d];
        *c += i * batch->c[d];
    }
}

// ---- dtypes. Products are computed in a working dtype: float for half and bfloat16, int64 for integers and bool,
// complex double for complex.
taper_dtype taper_work_dtype(taper_dtype dtype);
// tensor itself (retained) when it has that dtype, otherwise a copy, with its strides where they have no gaps.
TAPER_MUST_USE taper_status taper_tensor_cast(taper_run *run, taper_tensor *tensor, taper_dtype dtype,
                                              taper_tensor **cast);
// Sets value (taken over, of working dtype) as the result, converted to dtype.
TAPER_MUST_USE taper_status taper_ret_cast(taper_call *call, size_t at, taper_tensor *value, taper_dtype dtype);
// Fails on quantized dtypes, and on bool unless allowed; name is that of the argument.
TAPER_MUST_USE taper_status taper_check_product_dtype(const taper_call *call, const taper_tensor *tensor,
                                                      const char *name);

static inline taper_tensor *taper_tensor_keep(taper_tensor *tensor)
{
    taper_obj_retain(&tensor->head);
    return tensor;
}

// ---- shapes
typedef struct taper_shape_text {
    char text[32 + 22 * TAPER_MAX_RANK];
} taper_shape_text;
taper_shape_text taper_shape_print(size_t rank, const int64_t *sizes); // "[2, 3]"
#define TAPER_SHAPE(tensor) (taper_shape_print((tensor)->rank, (tensor)->sizes).text)

// A twin on the stack with other sizes and strides over the same storage; never handed out.
taper_tensor taper_tensor_twin(const taper_tensor *tensor, size_t rank, const int64_t *sizes, const int64_t *strides);
taper_tensor taper_tensor_twin_t(const taper_tensor *tensor); // the last two dimensions swapped
// Broadcasts two shapes; false when they do not match.
bool taper_broadcast_shapes(size_t a_rank, const int64_t *a, size_t b_rank, const int64_t *b, size_t *rank,
                            int64_t *sizes);
// Fills strides of tensor as seen with `sizes` (0 where broadcast); false when tensor does not expand to it.
bool taper_broadcast_strides(const taper_tensor *tensor, size_t rank, const int64_t *sizes, int64_t *strides);

// ---- products of tensors c[..., m, n] = a[..., m, k] b[..., k, n]: same rank (>= 2), batch sizes of a and b equal
// those of c or are 1. All have the same working dtype. The caller has checked the sizes.
TAPER_MUST_USE taper_status taper_product_into(taper_run *run, const taper_tensor *a, const taper_tensor *b,
                                               taper_tensor *c);
// As taper_product_into, into a new contiguous tensor of the working dtype of a.
TAPER_MUST_USE taper_status taper_product_new(taper_run *run, const taper_tensor *a, const taper_tensor *b, size_t rank,
                                              const int64_t *sizes, taper_tensor **result);
// torch.matmul; the result is new, in the working dtype of a. It is contiguous, as PyTorch's is.
TAPER_MUST_USE taper_status taper_matmul_new(taper_run *run, taper_tensor *a, taper_tensor *b, taper_tensor **result);
// product = beta * self (broadcast) + alpha * product, both of the product's working dtype. self is not read when beta
// is 0.
TAPER_MUST_USE taper_status taper_product_combine(taper_run *run, taper_tensor *product, taper_tensor *self,
                                                  taper_scalar beta, taper_scalar alpha);
inline taper_scalar taper_scalar_one(void)
{
    return (taper_scalar){.kind = TAPER_SCALAR_INT, .i = 1, .f = 1.0};
}

#endif
