// SPDX-License-Identifier: BSD-2-Clause
// The contents of a recording before the device records it: dispatches in order, and the buffers that they use, which
// have no addresses yet.
#ifndef TAPER_BACKENDS_GPU_PROGRAM_H
#define TAPER_BACKENDS_GPU_PROGRAM_H

#include "backends/gpu/gpu_api.h"
#include "backends/gpu/gpu_kernels.h"
#include "backends/gpu/gpu_steps.h"
#include "backends/gpu/gpu_view.h"
#include "backends/gpu/gpu_weights.h"

enum { TAPER_GPU_MOST_WHOLE = 1 << 24 }; // every integer up to this number is exact as a float

typedef enum taper_gpu_place {
    TAPER_GPU_ARENA,    // intermediate data of a run
    TAPER_GPU_WEIGHTS,  // packed constants
    TAPER_GPU_INPUT,    // elements of an argument in the tensor's order, written by the host before the run
    TAPER_GPU_OUTPUT,   // elements of a result, read by the host after the run
    TAPER_GPU_STAYS_IN, // elements of an argument (IN) or of a result (OUT) that remains on the device (gpu_held.h)
    TAPER_GPU_STAYS_OUT,
    TAPER_GPU_PLACES
} taper_gpu_place;

typedef struct taper_gpu_memory {
    taper_gpu_place place;
    uint64_t bytes, offset;     // size; offset in the memory that all buffers of the same taper_gpu_place share
    uint32_t first, last;       // first and last dispatch that uses the memory
    taper_gpu_weights *weights; // packed constants of WEIGHTS; owned reference
    uint32_t number;            // number of the argument (INPUT, STAYS_IN) or of the result (OUTPUT, STAYS_OUT)
    uint32_t most;              // largest magnitude allowed for integers of an INPUT, or 0 for no limit
    double scale;               // scale of a quint8 OUTPUT
    int32_t zero_point;         // zero point of a quint8 OUTPUT
    uint32_t below;             // bound of indices in an INPUT: they must be at least 0 and less than `below`
    bool wraps;                 // true if negative indices in an INPUT count from the end
} taper_gpu_memory;

// Offset and strides of vectors, by batch, row, column and group of four channels, as in the shaders (common.glsl).
typedef struct taper_gpu_strides {
    uint32_t offset, by[3], group;
} taper_gpu_strides;

// The parameters of a dispatch, as in the shaders' block `Parameters`.
typedef struct taper_gpu_parameters {
    float low[TAPER_GPU_STEPS], high[TAPER_GPU_STEPS];
    taper_gpu_strides out, e, f;
    uint32_t sizes[3], groups, tail;
    // Further parameters, which the kernel defines.
    uint32_t more[TAPER_GPU_PARAMETERS - 2 * TAPER_GPU_STEPS - 3 * 5 - 5];
} taper_gpu_parameters;

typedef struct taper_gpu_work {
    taper_gpu_kernel kernel;
    uint32_t constants[TAPER_GPU_CONSTANTS];
    uint32_t threads[3]; // number of threads that the whole dispatch needs, in each dimension
    // Number of threads of a workgroup that compute the same results together (common.glsl); 0 or 1 without teams.
    uint32_t team;
    // True if neighbouring threads share what they load; a workgroup then consists of whole subgroups (LANES).
    bool shares;
    uint32_t buffers[TAPER_GPU_BINDINGS]; // numbers of memories, or TAPER_GPU_NONE
    taper_gpu_parameters parameters;
    const taper_node *node; // node that the dispatch computes, for profiles
    double operations;      // number of multiplications and additions of a layer
} taper_gpu_work;

#define TAPER_GPU_NONE UINT32_MAX

// A result that is an integer. The integer follows from sizes, so it is equal in all runs.
typedef struct taper_gpu_number {
    uint32_t result;
    int64_t value;
} taper_gpu_number;

typedef struct taper_gpu_program {
    const taper_allocator *allocator;
    taper_error *error;
    taper_gpu_memory *memories;
    size_t memory_count, memory_capacity;
    taper_gpu_work *works;
    size_t work_count, work_capacity;
    taper_gpu_number *numbers;
    size_t number_count, number_capacity;
    // For each taper_gpu_place, the size of its buffer in bytes. taper_gpu_program_place sets these sizes.
    uint64_t bytes[TAPER_GPU_PLACES];
} taper_gpu_program;

void taper_gpu_program_free(taper_gpu_program *program);
TAPER_MUST_USE taper_status taper_gpu_add_memory(taper_gpu_program *program, taper_gpu_place place, uint64_t bytes,
                                                 uint32_t *number);
// Adds a zeroed dispatch for the caller to fill. The pointer is valid until the next call.
TAPER_MUST_USE taper_status taper_gpu_add_work(taper_gpu_program *program, taper_gpu_work **work);
// Returns the number of threads that the dispatch needs, in all dimensions together.
static inline int64_t taper_gpu_threads(const taper_gpu_work *w)
{
    return (int64_t)w->threads[0] * w->threads[1] * w->threads[2];
}

// Assigns an offset to every memory (gpu_arena.c). If `alias` is set, memories with disjoint lifetimes may share bytes.
TAPER_MUST_USE taper_status taper_gpu_program_place(taper_gpu_program *program, uint64_t align, bool alias);
// Returns true if work i depends on results of works after the last barrier, or overwrites data that such a work reads
// (gpu_arena.c). Call this for each work in order. `since` is the number of the first work after the last barrier.
bool taper_gpu_needs_barrier(const taper_gpu_program *program, size_t since, size_t i);
// Returns a hash of everything that decides the results and the speed of a placed program: the device, its driver, the
// shaders, the dispatches.
uint64_t taper_gpu_program_hash(const taper_gpu_state *state, const taper_gpu_program *program);

#endif
