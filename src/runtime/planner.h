// SPDX-License-Identifier: BSD-2-Clause
// The memory planner. The first run of a method with given inputs records the order in which storages are created and
// freed. From that the planner gives every storage a place in the session's arena, so that storages that live at the
// same time do not overlap. All plans share that arena, which is as large as the largest plan needs. Later runs replay
// a plan: each new storage is compared with the plan and with the storages that are still in the arena. After the first
// difference, new storages of that run are on the heap. Storages that outlive the run (results, attributes) are never
// planned.
#ifndef TAPER_RUNTIME_PLANNER_H
#define TAPER_RUNTIME_PLANNER_H

#include "ir/tensor_def.h"

typedef struct taper_planner taper_planner;
struct taper_function;
struct taper_recording;

// One storage of a plan.
typedef struct taper_birth {
    size_t bytes, offset;
    uint32_t born, died; // numbers of events; died is UINT32_MAX if it outlives the run
    uint32_t held;       // event before which its place is not reused
    const struct taper_op *op;
} taper_birth;

// current: the place where the executor notes the current operator. The planner reads it when a storage is created.
TAPER_MUST_USE taper_status taper_planner_create(const taper_allocator *allocator, taper_heap *heap,
                                                 const struct taper_op *const *current, taper_planner **planner,
                                                 taper_error *error);
void taper_planner_destroy(taper_planner *planner);
// Call these around a run. They cannot fail: if memory for a plan is missing, the run continues without one.
void taper_planner_begin(taper_planner *planner, const struct taper_function *function, taper_value *const *inputs,
                         size_t count);
// Returns the place for the recordings of the plan that was made from this run, or NULL if none was made.
struct taper_recording **taper_planner_end(taper_planner *planner, bool success);
void taper_planner_forget(taper_planner *planner);                                    // drops all plans
size_t taper_planner_bytes(const taper_planner *planner);                             // bytes of the arena
const taper_birth *taper_planner_latest(const taper_planner *planner, size_t *count); // the plan used last, or NULL
uint64_t taper_planner_calls(const taper_planner *planner); // number of allocator calls so far

// ---- results in the host's memory (taper_session_run_into)

enum { TAPER_MOST_LENT = 8 };
typedef struct taper_lease {
    void *data;
    size_t bytes;
    uint64_t layout; // hash of dtype and sizes
} taper_lease;
// Lends memory for the results of the next run. A result is placed there if the plan of an earlier run remembers it and
// all layouts are equal to that run's. Copies up to TAPER_MOST_LENT leases.
void taper_planner_lend(taper_planner *planner, const taper_lease *leases, size_t count);
// Call this after a run, with its results. Later runs of the same plan may place the results that have a storage here.
typedef struct taper_result {
    const taper_storage *storage; // NULL if the result must not be placed
    uint64_t layout;
} taper_result;
void taper_planner_remember_results(taper_planner *planner, const taper_result *results, size_t count);
// Takes the memory back. Call this right after the run, while its result is held. `mine` returns true if only the
// result holds the storage. Another storage gets a block of its own. Fails if memory for it is missing.
TAPER_MUST_USE taper_status taper_planner_take_back(taper_planner *planner,
                                                    bool (*mine)(const void *user, const taper_storage *storage),
                                                    const void *user, taper_error *error);

// ---- recordings of a plan (runtime/recording.h)

void taper_recording_destroy(const taper_allocator *allocator, taper_heap *heap, struct taper_recording *recordings);

// Call these during a run. The first three are for a run that a plan is made from. They return the storages so far, and
// the number of a storage. taper_planner_hold prevents that storages up to `until` reuse the place of storage `index`.
const taper_birth *taper_planner_recorded(const taper_planner *planner);
size_t taper_planner_birth_of(const taper_planner *planner, const taper_storage *storage); // SIZE_MAX for none
void taper_planner_hold(taper_planner *planner, size_t index, size_t until);
bool taper_planner_is_recording(const taper_planner *planner);  // true if a plan is made from this run
size_t taper_planner_births(const taper_planner *planner);      // number of births in this run so far
void taper_planner_skip(taper_planner *planner, size_t births); // sets the number of births
// Returns the recordings of the plan that this run replays, or NULL.
struct taper_recording *taper_planner_recordings(const taper_planner *planner);
// The state of a replay. taper_planner_replays returns false if no plan is replayed, or after a difference.
typedef struct taper_replay {
    const taper_birth *births;
    char *arena;
    const uint32_t *live; // numbers of the births in the arena now
    size_t live_count;
    unsigned run; // taper_storage.plan_run of storages created now
} taper_replay;
bool taper_planner_replays(const taper_planner *planner, taper_replay *replay);

#endif
