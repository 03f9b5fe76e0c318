// SPDX-License-Identifier: BSD-2-Clause
// Matrix products: a blocked product over strided matrices, products of tensors, and parts that the product operators
// share (working dtypes, combination with a bias, texts for messages).
#ifndef TAPER_OPS_MATMUL_H
#define TAPER_OPS_MATMUL_H

#include "ops/call/call.h"
#include "ops/call/promote.h"

// ---- the product of strided matrices: c = a b, or c += a b. Strides are in elements. The strides of `a` and `b` may
// be any, even 0; c must not overlap itself.
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

// If the left matrix has at most this many rows, a product with a transposed matrix is computed as dot products with
// that matrix's rows in place. Packing the rows would take longer than the product.
enum { TAPER_GEMM_FEW_ROWS = 6 };

TAPER_MUST_USE taper_status taper_gemm_run(taper_run *run, const taper_gemm *gemm);

// The dimensions of a batch of products, and the strides of each matrix along them, in elements.
typedef struct taper_gemm_batch {
    size_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    int64_t a[TAPER_MAX_RANK], b[TAPER_MAX_RANK], c[TAPER_MAX_RANK];
} taper_gemm_batch;

TAPER_MUST_USE taper_status taper_gemm_run_batch(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);
// Computes products of floats by the gemm kernels (matmul_packed.c). A kernel cannot be stopped within a sum. Returns
// TAPER_DECLINED, with nothing written, if no kernel fits.
TAPER_MUST_USE taper_status taper_gemm_packed(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);
// Returns the number of products in a batch in which no size is 0. The number cannot overflow, because it is at most
// the number of elements of the result.
static inline int64_t taper_gemm_batch_count(const taper_gemm_batch *batch)
{
    int64_t count = 1;
    for (size_t d = 0; d < batch->rank; d++) {
        count *= batch->sizes[d];
    }
    return count;
}
// Finds the first element of each matrix of product `index`, as an offset in elements. Products are numbered with the
// last dimension fastest.
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

// ---- dtypes
// Products are computed in a working dtype: float for half and bfloat16, int64 for integers and bool, complex double
// for complex.
taper_dtype taper_work_dtype(taper_dtype dtype);
// Returns in *cast the tensor itself, retained, if it has the dtype. Otherwise it returns a copy, with the tensor's
// strides if these have no gaps.
TAPER_MUST_USE taper_status taper_tensor_cast(taper_run *run, taper_tensor *tensor, taper_dtype dtype,
                                              taper_tensor **cast);
// Returns in *floats a contiguous float32 tensor: the tensor itself, retained, or a copy.
TAPER_MUST_USE taper_status taper_tensor_floats(taper_run *run, taper_tensor *tensor, taper_tensor **floats);
// Sets value, converted to dtype, as result `at` of the call. Takes over the caller's reference to value, which has the
// working dtype.
TAPER_MUST_USE taper_status taper_ret_cast(taper_call *call, size_t at, taper_tensor *value, taper_dtype dtype);
// Fails for quantized dtypes, and for bool unless it is allowed. name is the argument's name, for the message.
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
taper_shape_text taper_shape_print(size_t rank, const int64_t *sizes); // returns a text such as "[2, 3]"
#define TAPER_SHAPE(tensor) (taper_shape_print((tensor)->rank, (tensor)->sizes).text)

// Returns a tensor on the stack that has other sizes and strides and shares the storage of `tensor`. The returned
// tensor must not outlive `tensor`.
taper_tensor taper_tensor_twin(const taper_tensor *tensor, size_t rank, const int64_t *sizes, const int64_t *strides);
taper_tensor taper_tensor_twin_t(const taper_tensor *tensor); // returns the tensor with its last two dimensions swapped
// Broadcasts two shapes. Returns false if they do not match.
bool taper_broadcast_shapes(size_t a_rank, const int64_t *a, size_t b_rank, const int64_t *b, size_t *rank,
                            int64_t *sizes);
// Computes the strides of tensor broadcast to `sizes`; broadcast dimensions get 0. Returns false if tensor does not
// expand to `sizes`.
bool taper_broadcast_strides(const taper_tensor *tensor, size_t rank, const int64_t *sizes, int64_t *strides);

// ---- products of tensors: c[..., m, n] = a[..., m, k] b[..., k, n]
// Computes the product into c. a, b and c have equal ranks, 2 or more, and equal working dtypes. The batch sizes of `a`
// and `b` equal those of `c`, or are 1. The caller has checked the sizes.
TAPER_MUST_USE taper_status taper_product_into(taper_run *run, const taper_tensor *a, const taper_tensor *b,
                                               taper_tensor *c);
// Computes the product of `a` and `b` into a new contiguous tensor, in the working dtype of `a`.
TAPER_MUST_USE taper_status taper_product_new(taper_run *run, const taper_tensor *a, const taper_tensor *b, size_t rank,
                                              const int64_t *sizes, taper_tensor **result);
// Computes torch.matmul into a new contiguous tensor, in the working dtype of `a`.
TAPER_MUST_USE taper_status taper_matmul_new(taper_run *run, taper_tensor *a, taper_tensor *b, taper_tensor **result);
// Computes product = beta * self (broadcast) + alpha * product. self has the product's working dtype. self is not read
// if beta is 0.
TAPER_MUST_USE taper_status taper_product_combine(taper_run *run, taper_tensor *product, taper_tensor *self,
                                                  taper_scalar beta, taper_scalar alpha);
inline taper_scalar taper_scalar_one(void)
{
    return (taper_scalar){.kind = TAPER_SCALAR_INT, .i = 1, .f = 1.0};
}

#endif
