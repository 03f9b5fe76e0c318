// SPDX-License-Identifier: BSD-2-Clause
// The memory planner. The first run of a method with given inputs records the order in which storages are created and
// freed. From this record the planner assigns every storage an offset in the session's arena, so that storages that
// live at the same time do not overlap. All plans share that arena, which is as large as the largest plan needs. Later
// runs replay a plan: the planner compares each new storage with the plan and with the storages that are still in the
// arena. After the first difference, new storages of that run are on the heap. Storages that outlive the run (results,
// attributes) are never planned.
#ifndef TAPER_RUNTIME_PLANNER_H
#define TAPER_RUNTIME_PLANNER_H

#include "ir/tensor_def.h"

typedef struct taper_planner taper_planner;
struct taper_function;
struct taper_recording;

// One storage of a plan, called a birth, because the plan lists storages in the order of creation.
typedef struct taper_birth {
    size_t bytes, offset;
    // Numbers of the events at which the storage is created and freed; `died` is UINT32_MAX if the storage outlives the
    // run.
    uint32_t born, died;
    uint32_t held; // number of the event before which the storage's memory is not reused
    const struct taper_op *op;
} taper_birth;

// Creates a planner. current: points to the executor's record of the operator that runs; the planner reads it when a
// storage is created.
TAPER_MUST_USE taper_status taper_planner_create(const taper_allocator *allocator, taper_heap *heap,
                                                 const struct taper_op *const *current, taper_planner **planner,
                                                 taper_error *error);
void taper_planner_destroy(taper_planner *planner);
// Call taper_planner_begin before a run and taper_planner_end after it. Neither function can fail: if memory for a plan
// is missing, the run continues without one.
void taper_planner_begin(taper_planner *planner, const struct taper_function *function, taper_value *const *inputs,
                         size_t count);
// Ends the planning of a run. If a plan was made from this run, returns the address of the plan's pointer to its
// recordings, which the caller sets. Otherwise returns NULL.
struct taper_recording **taper_planner_end(taper_planner *planner, bool success);
void taper_planner_forget(taper_planner *planner);        // drops all plans
size_t taper_planner_bytes(const taper_planner *planner); // size of the arena in bytes
// Returns the storages of the plan that was used last, or NULL if there is no plan.
const taper_birth *taper_planner_latest(const taper_planner *planner, size_t *count);
uint64_t taper_planner_calls(const taper_planner *planner); // number of allocator calls so far

// ---- results in the host's memory (taper_session_run_into)

enum { TAPER_MOST_LENT = 8 };
typedef struct taper_lease {
    void *data;
    size_t bytes;
    uint64_t layout; // hash of the dtype and sizes that the result must have
} taper_lease;
// Lends memory for the results of the next run. A result is placed in this memory if its storage is known from an
// earlier run of the same plan, and the layouts of all results are the same as in that run. The function copies up to
// TAPER_MOST_LENT leases.
void taper_planner_lend(taper_planner *planner, const taper_lease *leases, size_t count);
// Tells the planner the results of a run, after the run. Later runs of the same plan may place the results whose
// `storage` is not NULL.
typedef struct taper_result {
    const taper_storage *storage; // storage of the result; NULL if the result must not be placed in lent memory
    uint64_t layout;
} taper_result;
void taper_planner_remember_results(taper_planner *planner, const taper_result *results, size_t count);
// Takes the lent memory back. Call this directly after the run, while its result is held. `mine` returns true if only
// the result holds the storage. Any other storage in the memory is copied to a block of its own. Fails if memory for
// this copy is missing.
TAPER_MUST_USE taper_status taper_planner_take_back(taper_planner *planner,
                                                    bool (*mine)(const void *user, const taper_storage *storage),
                                                    const void *user, taper_error *error);

// ---- recordings of a plan (runtime/recording.h)

void taper_recording_destroy(const taper_allocator *allocator, taper_heap *heap, struct taper_recording *recordings);

// Call these functions during a run. The first three are for a run from which a plan is made: they return the storages
// created so far, and the number of a storage. taper_planner_hold ensures that storages up to number `until` do not
// reuse the memory of storage `index`.
const taper_birth *taper_planner_recorded(const taper_planner *planner);
// Returns the number of the storage in this run, or SIZE_MAX if the storage was not created in this run.
size_t taper_planner_birth_of(const taper_planner *planner, const taper_storage *storage);
void taper_planner_hold(taper_planner *planner, size_t index, size_t until);
bool taper_planner_is_recording(const taper_planner *planner); // returns true if a plan is made from this run
size_t taper_planner_births(const taper_planner *planner); // returns the number of storages created in this run so far
// Sets the number of storages created in this run so far.
void taper_planner_skip(taper_planner *planner, size_t births);
// Returns the recordings of the plan that this run replays, or NULL if there are none.
struct taper_recording *taper_planner_recordings(const taper_planner *planner);
// The state of a replay. taper_planner_replays returns false if no plan is replayed, or if this run already differs
// from the plan.
typedef struct taper_replay {
    const taper_birth *births;
    char *arena;
    const uint32_t *live; // numbers of the births (storages of the plan) that are in the arena now
    size_t live_count;
    unsigned run; // value of taper_storage.plan_run for storages created now
} taper_replay;
bool taper_planner_replays(const taper_planner *planner, taper_replay *replay);

#endif
