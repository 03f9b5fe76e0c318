// SPDX-License-Identifier: BSD-2-Clause
// An open GPU, and the data that all its recordings share: the lock, pipelines, packed weights.
#ifndef TAPER_BACKENDS_GPU_STATE_H
#define TAPER_BACKENDS_GPU_STATE_H

#include "backends/gpu/gpu_kernels.h"
#include "ops/backend.h"
#include "platform/kept_files.h"
#include "platform/platform.h"

typedef struct taper_gpu_made_pipeline {
    struct taper_gpu_made_pipeline *next;
    taper_gpu_kernel kernel;
    bool texels;
    uint32_t constants[TAPER_GPU_CONSTANTS];
    taper_gpu_pipeline *pipeline;
} taper_gpu_made_pipeline;

enum { TAPER_GPU_PASSED = 64 };

// Memory for data between dispatches, shared by all recordings that fit in it, because only one recording runs at a
// time.
typedef struct taper_gpu_shared {
    taper_gpu_buffer buffer;
    size_t users;
} taper_gpu_shared;

typedef struct taper_gpu_state {
    const taper_gpu_api *api;
    const taper_allocator *allocator;
    taper_gpu *gpu;
    taper_mutex *lock; // guards the device's queue and the members below
    taper_gpu_made_pipeline *pipelines;
    struct taper_gpu_wish *wishes; // pipelines to be made (gpu_maker.h)
    taper_background *maker;       // thread that makes pipelines; NULL, or ended, if no pipeline is made
    bool makes, stops_making;      // makes: true while the thread runs; stops_making: true if the thread must end
    taper_mutex *make_lock; // ensures that one pipeline is made at a time; may be locked with or without `lock` held
    struct taper_gpu_weights *weights;
    size_t pipeline_count, weight_count;
    uint64_t shaders_hash; // hash of all shaders for the graphics interface
    size_t kept_bytes;     // number of bytes of compiled code in the file in the cache directory (gpu_kept.h)
    uint64_t passed[TAPER_GPU_PASSED]; // hashes of recordings whose results were correct (gpu_check.c); 0 for none
    size_t passed_count;
    size_t tries; // number of recordings whose first results do not exist yet
    taper_mark mark;
    uint64_t weight_bytes;
    taper_gpu_shared *arena;       // arena that the next recordings use, or NULL if none exists
    struct taper_gpu_held *spares; // released memory of tensors (gpu_held.h)
    size_t spare_count;
    // The members below say how this device is used (gpu_quirks.c).
    bool reads_texels;         // true if shaders read texel buffers, unless the data is too large for one
    bool alias;                // true if memories with disjoint lifetimes share bytes
    bool wide;                 // true if the largest tiles are used
    uint32_t fill;             // number of threads that keeps the device busy; 0: do not use teams
    bool shares;               // true if threads of a subgroup share what they load (LANES of the kernels)
    int winograd;              // the option `winograd`, or 0 if halves are not precise enough
    bool half;                 // true if vectors are stored in half precision
    bool times;                // true if dispatches are timed
    int background;            // make pipelines in the background: 0 never, 1 always, -1 if the run's time is limited
    bool checks;               // true if first results are compared with the CPU's
    uint32_t group_x, group_y; // numbers of threads of a workgroup, along x and along y
    // Number of threads in a row that run together, for rows of any length; 0: all threads of a workgroup run together.
    uint32_t row;
    bool measured;                 // true after the peak was measured (gpu_peak.h)
    double peak_flops, peak_bytes; // measured operations and bytes per second; 0 if unknown
    bool estimates;                // true if segments estimated to be much slower are not tried (gpu_estimate.h)
    unsigned learned;              // number of recordings that were measured
    // Mean of the logarithm of measured time divided by estimated time, for the device and for the CPU.
    double log_device, log_plain;
    const char *quirk; // reason for a special use of this device, or NULL if there is no special use
} taper_gpu_state;

// Returns the number of bytes of vectors in memory. Halves are read two vectors at a time, so the number of vectors is
// rounded up.
static inline uint64_t taper_gpu_vector_bytes(const taper_gpu_state *state, int64_t vectors)
{
    return state->half ? (uint64_t)(vectors + 1) / 2 * 16 : (uint64_t)vectors * 16;
}

// Returns the number of threads that share each result: a power of two up to `most`, large enough to keep the device
// busy. `threads` is the number of threads without sharing. `pieces` is the number of parts of a result's computation.
static inline uint32_t taper_gpu_team(const taper_gpu_state *state, int64_t threads, int64_t pieces, uint32_t most)
{
    enum { LEAST_PIECES = 2 }; // each thread computes at least this many parts of a result
    uint32_t team = 1;
    while (team < most && 2 * (int64_t)team * LEAST_PIECES <= pieces && threads * team < state->fill) {
        team *= 2;
    }
    return team;
}

// Opens a device of the graphics interface `api`, for taper_backend.open.
TAPER_MUST_USE taper_status taper_gpu_open(taper_device *device, const taper_gpu_api *api, const char **why,
                                           taper_error *error);
// Finds a pipeline, or makes it. The caller holds the lock.
TAPER_MUST_USE taper_status taper_gpu_pipeline_get(taper_gpu_state *state, taper_gpu_kernel kernel, bool texels,
                                                   const uint32_t *constants, taper_gpu_pipeline **pipeline);
// Makes the pipeline in *made for its kernel and constants. The lock may be held or not.
TAPER_MUST_USE taper_status taper_gpu_pipeline_make(taper_gpu_state *state, taper_gpu_made_pipeline *made);
void taper_gpu_state_free(taper_gpu_state *state); // frees everything, the device last; accepts a zeroed state

// Returns the status of the interface unchanged, after setting error for TAPER_ERROR_RESOURCE (missing memory).
TAPER_MUST_USE taper_status taper_gpu_status(taper_status status, taper_error *error);

#endif
