// SPDX-License-Identifier: BSD-2-Clause
// Tensors that stay on the device between recordings: their elements as numbers, one behind the other, in a buffer.
#ifndef TAPER_BACKENDS_GPU_HELD_H
#define TAPER_BACKENDS_GPU_HELD_H

#include "backends/gpu/gpu_state.h"

typedef struct taper_gpu_held {
    taper_memory memory; // first
    taper_gpu_state *state;
    struct taper_gpu_held *next; // of those that nobody has
    taper_gpu_buffer buffer;
} taper_gpu_held;

// Of so many bytes, one that was let go where there is such a one. TAPER_DEVICE_LOST: the device has no memory.
TAPER_MUST_USE taper_status taper_gpu_hold(const taper_device *device, uint64_t bytes, taper_gpu_held **held);
static inline taper_gpu_held *taper_gpu_held_of(const taper_tensor *tensor) // it is away, with this device
{
    return (taper_gpu_held *)tensor->storage->memory;
}
// Whether the host can copy it as fast as the device: else the device does.
bool taper_gpu_sees(const taper_gpu_range *from, const taper_gpu_range *to);
// What it sees, between buffers of the device; bytes are those of `from`. Under the lock.
TAPER_MUST_USE taper_status taper_gpu_transfer(taper_gpu_state *state, const taper_gpu_range *from,
                                               const taper_gpu_range *to);
// Whether the segment's result shall stay: nobody looks at it but segments of the device, and who keeps it for later.
bool taper_gpu_result_stays(const taper_segment *segment, size_t number, bool results_stay);
void taper_gpu_free_spares(taper_gpu_state *state);

#endif
