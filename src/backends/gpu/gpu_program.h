// SPDX-License-Identifier: BSD-2-Clause
// What a recording does, before the device knows of it: dispatches in order over buffers that have no place yet.
#ifndef TAPER_BACKENDS_GPU_PROGRAM_H
#define TAPER_BACKENDS_GPU_PROGRAM_H

#include "backends/gpu/gpu_api.h"
#include "backends/gpu/gpu_kernels.h"
#include "backends/gpu/gpu_steps.h"
#include "backends/gpu/gpu_view.h"
#include "backends/gpu/gpu_weights.h"

enum { TAPER_GPU_MOST_WHOLE = 1 << 24 }; // floats up to this are exact

typedef enum taper_gpu_place {
    TAPER_GPU_ARENA,    // born and dead within the run
    TAPER_GPU_WEIGHTS,  // packed constants
    TAPER_GPU_INPUT,    // numbers of an argument, in its order, which the host writes before
    TAPER_GPU_OUTPUT,   // numbers of a result, which the host reads behind
    TAPER_GPU_STAYS_IN, // the same of an argument and a result that the host does not see (gpu_held.h)
    TAPER_GPU_STAYS_OUT,
    TAPER_GPU_PLACES
} taper_gpu_place;

typedef struct taper_gpu_memory {
    taper_gpu_place place;
    uint64_t bytes, offset;     // offset: in what all of that place share
    uint32_t first, last;       // dispatches that look at it
    taper_gpu_weights *weights; // of WEIGHTS: a reference
    uint32_t number;            // of INPUT and STAYS_IN: the argument; of OUTPUT and STAYS_OUT: the result
    uint32_t most;              // of INPUT, whole numbers: the largest one that may be; 0: whichever
    double scale;               // of OUTPUT, quint8
    int32_t zero_point;         // the same
    uint32_t below;             // of INPUT, of indices: from 0 on, less than this
    bool wraps;                 // the same: those below 0 count from the end
} taper_gpu_memory;

// Where vectors lie: by batch, row, column and group of four channels. As shaders have it (common.glsl).
typedef struct taper_gpu_strides {
    uint32_t offset, by[3], group;
} taper_gpu_strides;

// The words of a dispatch, as the shaders' block `Parameters` has them.
typedef struct taper_gpu_parameters {
    float low[TAPER_GPU_STEPS], high[TAPER_GPU_STEPS];
    taper_gpu_strides out, e, f;
    uint32_t sizes[3], groups, tail;
    uint32_t more[TAPER_GPU_PARAMETERS - 2 * TAPER_GPU_STEPS - 3 * 5 - 5]; // the kernel's own
} taper_gpu_parameters;

typedef struct taper_gpu_work {
    taper_gpu_kernel kernel;
    uint32_t constants[TAPER_GPU_CONSTANTS];
    uint32_t threads[3];                  // wanted, of the whole dispatch
    uint32_t team;                        // threads of a workgroup that make the same results (common.glsl); 0: one
    bool shares;                          // threads load for those beside them: they are whole subgroups (LANES)
    uint32_t buffers[TAPER_GPU_BINDINGS]; // numbers; TAPER_GPU_NONE
    taper_gpu_parameters parameters;
    const taper_node *node; // that asked for it, for profiles
    double operations;      // multiplications and additions of layers
} taper_gpu_work;

#define TAPER_GPU_NONE UINT32_MAX

// A result that is a whole number: it follows from sizes, so it is the same in all runs.
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
    uint64_t bytes[TAPER_GPU_PLACES]; // of the buffers of each place, once placed
} taper_gpu_program;

void taper_gpu_program_free(taper_gpu_program *program);
TAPER_MUST_USE taper_status taper_gpu_add_memory(taper_gpu_program *program, taper_gpu_place place, uint64_t bytes,
                                                 uint32_t *number);
// A zeroed dispatch to be filled; good until the next one.
TAPER_MUST_USE taper_status taper_gpu_add_work(taper_gpu_program *program, taper_gpu_work **work);
// Those that are wanted, all together.
static inline int64_t taper_gpu_threads(const taper_gpu_work *w)
{
    return (int64_t)w->threads[0] * w->threads[1] * w->threads[2];
}

// Gives every memory its place (gpu_arena.c). alias: what is never there together may share bytes.
TAPER_MUST_USE taper_status taper_gpu_program_place(taper_gpu_program *program, uint64_t align, bool alias);
// Whether work i needs what those since the last barrier did, or writes what they look at; made one by one, in order
// (gpu_arena.c). since: the first behind the last barrier.
bool taper_gpu_needs_barrier(const taper_gpu_program *program, size_t since, size_t i);
// Returns a hash of everything that decides the results and the speed of a placed program: the device, its driver, the
// shaders, the dispatches.
uint64_t taper_gpu_program_hash(const taper_gpu_state *state, const taper_gpu_program *program);

#endif
