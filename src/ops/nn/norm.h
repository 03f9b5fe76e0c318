// SPDX-License-Identifier: BSD-2-Clause
// Statistics and the affine map that batch, instance and group normalisation share: see norm_stats.c.
#ifndef TAPER_OPS_NORM_H
#define TAPER_OPS_NORM_H

#include "ops/engine/volume.h"

// A tensor to be normalised and its result, as volumes of the same sizes.
typedef struct taper_norm {
    taper_run *run;
    taper_volume x, y;
    taper_dtype dtype; // of both
    const void *in;
    void *out;
    int64_t spatial; // elements of one channel of one sample
} taper_norm;

// Merges spatial dimensions that lie evenly in both tensors.
void taper_norm_merge(taper_norm *norm);
// Mean, and sum of squared distances from it, of each channel of each sample: at [n · channels + c].
TAPER_MUST_USE taper_status taper_norm_planes(const taper_norm *norm, double *mean, double *squares);
// y = x · scale + shift. The coefficients of channel c of sample n are at [n · per_sample + c]: floats for float32
// tensors, doubles for others.
TAPER_MUST_USE taper_status taper_norm_affine(taper_run *run, const taper_norm *norm, const void *scale,
                                              const void *shift, int64_t per_sample);

// Σ (x[i] - mean)² with little rounding error.
double taper_sum_squares_f32(taper_run *run, const float *x, int64_t count, float mean);

// Which form of batch norm: norm_legit.c.
typedef struct taper_norm_legit {
    bool running, copies, reserve;
    int training;
} taper_norm_legit;
extern const taper_norm_legit taper_norm_legit_no_stats, taper_norm_legit_no_training, taper_norm_legit_functional,
    taper_norm_legit_update, taper_norm_legit_update_functional, taper_norm_legit_no_update;

#endif
