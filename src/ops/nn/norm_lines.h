// SPDX-License-Identifier: BSD-2-Clause
// Part of norm.c: contiguous channels are measured together, and coefficients of floats are computed in vectorized
// loops.
#ifndef TAPER_OPS_NN_NORM_LINES_H
#define TAPER_OPS_NN_NORM_LINES_H

// Returns true if the parameter is missing or consists of contiguous floats.
static bool param_is_line(const norm_param *param)
{
    return param->tensor == NULL || (param->tensor->dtype == TAPER_F32 && param->stride == 1);
}

static bool follow_each_other(const taper_volume *x)
{
    return x->size[0] == 1 && x->size[1] == 1 && x->stride[2] == 1 && x->stride_c == x->size[2];
}

static bool group_of_floats(norm_work *work, int64_t at, int64_t first, int64_t count, double mean, double inverse,
                            const norm_param *weight, const norm_param *bias)
{
    if (!(work->norm.dtype == TAPER_F32 && param_is_line(weight) && param_is_line(bias))) {
        return false;
    }
    const float *scales = weight->tensor != NULL ? taper_tensor_data(weight->tensor) : NULL;
    const float *shifts = bias->tensor != NULL ? taper_tensor_data(bias->tensor) : NULL;
    float *scale = (float *)work->scale + at, *shift = (float *)work->shift + at;
    for (int64_t c = first; c < first + count; c++) { // uses the arithmetic of work_coefficients
        scale[c] = (float)inverse * (scales != NULL ? scales[c] : 1.0f);
        shift[c] = (float)((shifts != NULL ? (double)shifts[c] : 0.0) - mean * (double)scale[c]);
    }
    return true;
}

#endif
