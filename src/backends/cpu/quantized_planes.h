// SPDX-License-Identifier: BSD-2-Clause
// Part of quantized_elementwise_cpu.c: images with few planes.
#ifndef TAPER_BACKENDS_CPU_QUANTIZED_PLANES_H
#define TAPER_BACKENDS_CPU_QUANTIZED_PLANES_H

// Quantizes the same rows of every plane, so that each thread of the first layer reads rows that it has written itself.
static void quantize_rows(const convert_job *job, size_t begin, size_t end)
{
    for (size_t i = 0, at = begin * job->row; i < job->planes; i++, at += job->plane) {
        job->vector->quantize((end - begin) * job->row, (const float *)job->x + at, job->scale, job->zero_point,
                              (uint8_t *)job->y + at);
    }
}

static void take_planes(convert_job *job, const taper_tensor *x, size_t count)
{
    enum { MOST_PLANES = 4 };
    if (x->rank == 4 && x->sizes[0] == 1 && x->sizes[1] <= MOST_PLANES && taper_tensor_is_contiguous(x)) {
        job->planes = (size_t)x->sizes[1];
        job->plane = count / job->planes;
        job->row = (size_t)x->sizes[3];
        job->rows = (size_t)x->sizes[2];
    }
}

#endif
