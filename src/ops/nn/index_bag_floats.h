// SPDX-License-Identifier: BSD-2-Clause
// Part of index_bag.c: bags of floats, by the vector kernels.
#ifndef TAPER_OPS_NN_INDEX_BAG_FLOATS_H
#define TAPER_OPS_NN_INDEX_BAG_FLOATS_H

typedef struct bag_job {
    const bags *b;
    const taper_vector_entry *vector;
    float *output;
    int64_t *bag_of, *sizes, *largest;
} bag_job;

// Writes the maximum of each column over indices [start, end) to `to`, and the row of the maximum to `largest`. Returns
// the number of indices that are not padding.
static int64_t largest_of_bag(const bags *b, int64_t start, int64_t end, float *to, int64_t *largest)
{
    enum { TOGETHER = 64 };
    const taper_tensor *w = b->weight;
    const int64_t width = w->sizes[1];
    int64_t used = 0;
    for (int64_t at = 0; at < width; at += TOGETHER) {
        const int64_t n = taper_min_i64(TOGETHER, width - at);
        float best[TOGETHER];
        int32_t which[TOGETHER]; // index of each row within the bag, from 0
        used = 0;
        for (int64_t i = start; i < end; i++) {
            const int64_t row = taper_index_at(b->indices, i);
            const float *from = (const float *)taper_tensor_data(w) + row * w->strides[0] + at;
            const int32_t here = (int32_t)(i - start);
            if (row == b->padding) {
                continue;
            }
            if (used++ == 0) {
                for (int64_t c = 0; c < n; c++) {
                    best[c] = from[c];
                    which[c] = here;
                }
                continue;
            }
            for (int64_t c = 0; c < n; c++) {
                which[c] = from[c] > best[c] ? here : which[c];
                best[c] = from[c] > best[c] ? from[c] : best[c];
            }
        }
        for (int64_t c = 0; c < n && used != 0; c++) {
            to[at + c] = best[c];
            largest[at + c] = taper_index_at(b->indices, start + which[c]);
        }
    }
    return used;
}

// Computes bags [begin, end) of floats with contiguous rows.
static void float_bags(void *argument, size_t begin, size_t end)
{
    const bag_job *job = argument;
    const bags *b = job->b;
    const taper_tensor *w = b->weight;
    const int64_t width = w->sizes[1];
    const float *weight = taper_tensor_data(w),
                *samples = b->sample_weights == NULL ? NULL : taper_tensor_data(b->sample_weights);
    for (int64_t bag = (int64_t)begin; bag < (int64_t)end; bag++) {
        const int64_t start = bag_start(b, bag), stop = bag_start(b, bag + 1);
        float *to = job->output + bag * width;
        int64_t used = b->mode == BAG_MAX ? largest_of_bag(b, start, stop, to, job->largest + bag * width) : 0;
        for (int64_t i = start; i < stop; i++) {
            job->bag_of[i] = bag;
            const int64_t row = taper_index_at(b->indices, i);
            const float *from = weight + row * w->strides[0];
            if (row == b->padding || b->mode == BAG_MAX) {
                continue;
            }
            used++;
            if (samples == NULL) {
                job->vector->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV]((size_t)width, to, from, to, -INFINITY,
                                                                         INFINITY);
            } else {
                job->vector->blend((size_t)width, to, from, 1, samples[i], to);
            }
        }
        job->sizes[bag] = used;
        if (b->mode == BAG_MEAN && used > 1) {
            const float divisor = (float)used;
            job->vector->binary[TAPER_BINARY_DIV][TAPER_OPERANDS_VS]((size_t)width, to, &divisor, to, -INFINITY,
                                                                     INFINITY);
        }
    }
}

static taper_status fill_float_bags(taper_run *run, const bags *b, taper_tensor *output, int64_t *bag_of,
                                    int64_t *sizes, int64_t *largest)
{
    const taper_tensor *w = b->weight;
    if (run->portable || w->dtype != TAPER_F32 || (w->strides[1] != 1 && w->sizes[1] != 1) ||
        (b->sample_weights != NULL && b->sample_weights->dtype != TAPER_F32) || b->index_count > INT32_MAX ||
        w->sizes[1] == 0) {
        return TAPER_DECLINED;
    }
    bag_job job = {b, taper_vector_f32_select(run->cpu), taper_tensor_mutable(output), bag_of, sizes, largest};
    if (job.vector->blend == NULL) {
        return TAPER_DECLINED;
    }
    return taper_run_floats(run, float_bags, &job, (size_t)b->count,
                            (double)b->index_count / (double)taper_max_i64(b->count, 1) * (double)w->sizes[1] + 100);
}

#endif
