// SPDX-License-Identifier: BSD-2-Clause
// Tensors that remain on the device between recordings. Their elements are plain consecutive numbers in a buffer.
#ifndef TAPER_BACKENDS_GPU_HELD_H
#define TAPER_BACKENDS_GPU_HELD_H

#include "backends/gpu/gpu_state.h"

typedef struct taper_gpu_held {
    taper_memory memory; // must be the first member
    taper_gpu_state *state;
    struct taper_gpu_held *next; // next entry in the list of released memory
    taper_gpu_buffer buffer;
} taper_gpu_held;

// Returns memory of `bytes` bytes in *held, from released memory if possible. Returns TAPER_DEVICE_LOST if the device
// has no memory.
TAPER_MUST_USE taper_status taper_gpu_hold(const taper_device *device, uint64_t bytes, taper_gpu_held **held);
// Returns the device's memory of a tensor. The tensor must be in this device's memory.
static inline taper_gpu_held *taper_gpu_held_of(const taper_tensor *tensor)
{
    return (taper_gpu_held *)tensor->storage->memory;
}
// Returns true if the host can copy `from` to `to` as fast as the device can. Otherwise the caller lets the device copy
// the range.
bool taper_gpu_sees(const taper_gpu_range *from, const taper_gpu_range *to);
// Copies all bytes of `from` to `to`, both of which the host can access. The caller holds the lock.
TAPER_MUST_USE taper_status taper_gpu_transfer(taper_gpu_state *state, const taper_gpu_range *from,
                                               const taper_gpu_range *to);
// Returns true if the result of the segment should remain on the device: each user is a segment of the device, or only
// keeps the result for later.
bool taper_gpu_result_stays(const taper_segment *segment, size_t number, bool results_stay);
void taper_gpu_free_spares(taper_gpu_state *state);

#endif
