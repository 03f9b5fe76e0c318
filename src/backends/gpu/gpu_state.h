// SPDX-License-Identifier: BSD-2-Clause
// An open GPU and what all recordings on it share: its lock, pipelines, packed weights.
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

// Memory between dispatches, of all recordings that it is large enough for: one of them runs at a time.
typedef struct taper_gpu_shared {
    taper_gpu_buffer buffer;
    size_t users;
} taper_gpu_shared;

typedef struct taper_gpu_state {
    const taper_gpu_api *api;
    const taper_allocator *allocator;
    taper_gpu *gpu;
    taper_mutex *lock; // of the queue and of what is below
    taper_gpu_made_pipeline *pipelines;
    struct taper_gpu_wish *wishes; // pipelines that are being made (gpu_maker.h)
    taper_background *maker;       // the thread that makes them; it may have ended
    bool makes, stops_making;      // it has not; it is to
    taper_mutex *make_lock;        // one pipeline is made at a time; taken within the lock, or without it
    struct taper_gpu_weights *weights;
    size_t pipeline_count, weight_count;
    uint64_t shaders_hash;             // of the interface's
    size_t kept_bytes;                 // of what the driver compiled, as it was kept last (gpu_kept.h)
    uint64_t passed[TAPER_GPU_PASSED]; // hashes of what was checked and is right (gpu_check.c); 0: none
    size_t passed_count;
    size_t tries; // recordings that have not shown yet what they give
    taper_mark mark;
    uint64_t weight_bytes;
    taper_gpu_shared *arena;       // of the next recordings; NULL: none has one
    struct taper_gpu_held *spares; // memory of tensors that nobody has any more (gpu_held.h)
    size_t spare_count;
    // How this device is used (gpu_quirks.c).
    bool reads_texels;         // texel buffers where they are large enough
    bool alias;                // memory of the arena is used again
    bool wide;                 // the largest tiles
    uint32_t fill;             // so many threads give it enough to do; 0: teams do not pay
    bool shares;               // threads of a subgroup load for each other (LANES of the kernels)
    int winograd;              // of the options; 0 where halves are too coarse
    bool half;                 // vectors are of half precision in memory
    bool times;                // dispatches are timed
    int background;            // pipelines are made in the background: 0: never, 1: always; -1: where time is short
    bool checks;               // first results are held against those of the CPU
    uint32_t group_x, group_y; // threads of a workgroup
    uint32_t row;              // so many that lie in a row run at once, however long it is; 0: any of a workgroup may
    bool measured;             // what it can do at most was (gpu_peak.h)
    double peak_flops, peak_bytes; // in a second; 0: not known
    bool estimates;                // who is slower by far as estimated is not tried (gpu_estimate.h)
    unsigned learned;              // recordings that were measured; the mean logarithm of what both ways took, as
    double log_device, log_plain;  // part of what was estimated
    const char *quirk;             // why the device is used in a way of its own; NULL: it is not
} taper_gpu_state;

// Bytes of vectors in memory. Of halves two are read at once: there are always two.
static inline uint64_t taper_gpu_vector_bytes(const taper_gpu_state *state, int64_t vectors)
{
    return state->half ? (uint64_t)(vectors + 1) / 2 * 16 : (uint64_t)vectors * 16;
}

// How many threads share each result, a power of two up to `most`, where so many make one each and a result is of so
// many pieces: as many as give the device enough to do.
static inline uint32_t taper_gpu_team(const taper_gpu_state *state, int64_t threads, int64_t pieces, uint32_t most)
{
    enum { LEAST_PIECES = 2 }; // of each of them
    uint32_t team = 1;
    while (team < most && 2 * (int64_t)team * LEAST_PIECES <= pieces && threads * team < state->fill) {
        team *= 2;
    }
    return team;
}

// taper_backend.open, over this interface.
TAPER_MUST_USE taper_status taper_gpu_open(taper_device *device, const taper_gpu_api *api, const char **why,
                                           taper_error *error);
// A pipeline, made where it is not there yet. Under the lock.
TAPER_MUST_USE taper_status taper_gpu_pipeline_get(taper_gpu_state *state, taper_gpu_kernel kernel, bool texels,
                                                   const uint32_t *constants, taper_gpu_pipeline **pipeline);
// Makes it, of the kernel and constants that it has. Without the lock, or under it.
TAPER_MUST_USE taper_status taper_gpu_pipeline_make(taper_gpu_state *state, taper_gpu_made_pipeline *made);
void taper_gpu_state_free(taper_gpu_state *state); // all of it, the device last; zeroed is fine

// What an interface's status is for who called it: with an error where it is one of ours.
TAPER_MUST_USE taper_status taper_gpu_status(taper_status status, taper_error *error);

#endif
