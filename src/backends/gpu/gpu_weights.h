// SPDX-License-Identifier: BSD-2-Clause
// Constants as shaders want them, in the device's memory: made once and shared by all recordings that look at them, for
// as long as there is one.
#ifndef TAPER_BACKENDS_GPU_WEIGHTS_H
#define TAPER_BACKENDS_GPU_WEIGHTS_H

#include "backends/gpu/gpu_state.h"
#include "ir/tensor_def.h"

// What they are made of and how. Constants stay where they are while somebody looks at what was made of them, so the
// place of their bytes is their name.
enum { TAPER_GPU_KEY_TENSORS = 8, TAPER_GPU_KEY_NUMBERS = 13 };
typedef struct taper_gpu_key {
    const taper_tensor *tensors[TAPER_GPU_KEY_TENSORS]; // NULL: none
    double numbers[TAPER_GPU_KEY_NUMBERS];
    uint32_t kind; // whoever fills them
} taper_gpu_key;

typedef struct taper_gpu_weights {
    struct taper_gpu_weights *next;
    struct { // of each tensor
        const void *data;
        int64_t offset, sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    } names[TAPER_GPU_KEY_TENSORS];
    double numbers[TAPER_GPU_KEY_NUMBERS];
    uint32_t kind;
    size_t users;
    taper_gpu_buffer buffer;
} taper_gpu_weights;

// `bytes` of them, filled by fill(user, zeroed memory) where they are not there yet. A reference.
TAPER_MUST_USE taper_status taper_gpu_weights_get(taper_gpu_state *state, const taper_gpu_key *key, uint64_t bytes,
                                                  void (*fill)(void *user, float *to), void *user,
                                                  taper_gpu_weights **weights, taper_error *error);
void taper_gpu_weights_release(taper_gpu_state *state, taper_gpu_weights *weights);

#endif
