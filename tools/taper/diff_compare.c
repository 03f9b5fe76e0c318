// SPDX-License-Identifier: BSD-2-Clause
// Measures the difference of two tensors. Quantized tensors are compared as real numbers, or as integers if both have
// the same scale.
#include <math.h>
#include <string.h>

#include "common/tensor_data.h"
#include "taper/diff.h"

typedef struct numbers {
    taper_dtype dtype; // for complex numbers: dtype of the real and imaginary part
    size_t size, count;
    const char *data;
} numbers;

static numbers numbers_of(const diff_record *record)
{
    const taper_dtype dtype = record->info.dtype;
    numbers n = {.data = record->data};
    n.dtype = dtype == TAPER_C32    ? TAPER_F16
              : dtype == TAPER_C64  ? TAPER_F32
              : dtype == TAPER_C128 ? TAPER_F64
              : dtype == TAPER_BF16 ? TAPER_F32 // diff_trace.c has converted bfloat16 to float32
                                    : dtype;
    n.size = taper_dtype_size(n.dtype);
    n.count = n.size != 0 ? record->bytes / n.size : 0;
    return n;
}

typedef enum number_class { OF_INTEGERS, OF_FLOATS, OF_COMPLEX } number_class;

static number_class class_of(const taper_tensor_info *info)
{
    switch (info->dtype) {
    case TAPER_F16:
    case TAPER_F32:
    case TAPER_F64:
    case TAPER_BF16:
    case TAPER_QI8:
    case TAPER_QU8:
    case TAPER_QI32:
        return OF_FLOATS;
    case TAPER_C32:
    case TAPER_C64:
    case TAPER_C128:
        return OF_COMPLEX;
    default:
        return OF_INTEGERS;
    }
}

static bool same_sizes(const diff_record *a, const diff_record *b)
{
    return a->info.rank == b->info.rank && memcmp(a->sizes, b->sizes, a->info.rank * sizeof *a->sizes) == 0;
}

static double number_at(const numbers *n, const taper_tensor_info *info, size_t i)
{
    const double number = tensor_number(n->dtype, n->data + i * n->size);
    return info->quantized == 1 ? (number - (double)info->zero_point) * info->scale : number;
}

static bool are_same_integers(const taper_tensor_info *a, const taper_tensor_info *b)
{
    return a->dtype == b->dtype && a->quantized == b->quantized &&
           (a->quantized != 0 ? a->scale == b->scale && a->zero_point == b->zero_point : class_of(a) == OF_INTEGERS);
}

static void add(diff_figures *f, double wanted, double got)
{
    const bool same = wanted == got || (isnan(wanted) && isnan(got));
    const double difference = same ? 0 : isfinite(wanted) && isfinite(got) ? fabs(wanted - got) : (double)INFINITY;
    f->difference = difference > f->difference ? difference : f->difference;
    if (isfinite(wanted)) {
        f->largest = fabs(wanted) > f->largest ? fabs(wanted) : f->largest;
        f->signal += wanted * wanted;
    }
    f->noise += difference * difference;
}

diff_figures diff_compare(const diff_record *wanted, const diff_record *got, bool same_dtype)
{
    const taper_tensor_info *a = &wanted->info, *b = &got->info;
    const numbers x = numbers_of(wanted), y = numbers_of(got);
    const bool quantized = a->quantized != 0 || b->quantized != 0;
    diff_figures f = {.integers = are_same_integers(a, b)};
    f.mismatch =
        !same_sizes(wanted, got) || class_of(a) != class_of(b) || x.count != y.count ||
        (same_dtype && !quantized && a->dtype != b->dtype) ||
        (!f.integers && (a->quantized == 2 || b->quantized == 2)); // not comparable: a record lacks scales per channel
    for (size_t i = 0; !f.mismatch && i < x.count; i++) {
        const double p = number_at(&x, a, i), q = number_at(&y, b, i);
        add(&f, p, q);
        f.differing += f.integers ? memcmp(x.data + i * x.size, y.data + i * y.size, x.size) != 0
                                  : p != q && !(isnan(p) && isnan(q));
    }
    return f;
}

bool diff_diverges(const diff_figures *figures, const diff_tolerance *tolerance)
{
    return figures->mismatch ||
           (figures->integers ? figures->differing != 0
                              : !(figures->difference <= tolerance->relative * figures->largest + tolerance->absolute));
}

double diff_sqnr(const diff_figures *figures)
{
    return figures->mismatch    ? -(double)INFINITY
           : figures->noise > 0 ? 10 * log10(figures->signal / figures->noise)
                                : (double)INFINITY;
}
