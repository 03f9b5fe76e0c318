// SPDX-License-Identifier: BSD-2-Clause
// Statistics and the affine map that batch, instance and group normalization share (norm_stats.c).
#ifndef TAPER_OPS_NORM_H
#define TAPER_OPS_NORM_H

#include "ops/engine/volume.h"

// A tensor to be normalized and its result, as volumes of equal sizes.
typedef struct taper_norm {
    taper_run *run;
    taper_volume x, y;
    taper_dtype dtype; // dtype of the tensor and of its result
    const void *in;
    void *out;
    int64_t spatial; // number of elements of one channel of one sample
} taper_norm;

// Merges spatial dimensions that are contiguous with each other in both tensors.
void taper_norm_merge(taper_norm *norm);
// Computes the mean of channel c of sample n, and the sum of squared distances from this mean. Writes them at index [n
// · channels + c].
TAPER_MUST_USE taper_status taper_norm_planes(const taper_norm *norm, double *mean, double *squares);
// Computes y = x · scale + shift. The coefficients of channel c of sample n are at [n · per_sample + c]. The
// coefficients are floats for float32 tensors, and doubles for other dtypes.
TAPER_MUST_USE taper_status taper_norm_affine(taper_run *run, const taper_norm *norm, const void *scale,
                                              const void *shift, int64_t per_sample);

// Returns Σ (x[i] - mean)² with little rounding error.
double taper_sum_squares_f32(taper_run *run, const float *x, int64_t count, float mean);

// The variants of batch norm in norm_legit.c, which explains the fields.
typedef struct taper_norm_legit {
    bool running, copies, reserve;
    int training;
} taper_norm_legit;
extern const taper_norm_legit taper_norm_legit_no_stats, taper_norm_legit_no_training, taper_norm_legit_functional,
    taper_norm_legit_update, taper_norm_legit_update_functional, taper_norm_legit_no_update;

#endif
