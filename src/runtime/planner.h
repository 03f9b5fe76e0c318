// SPDX-License-Identifier: BSD-2-Clause
// The memory planner. The first run of a method with given inputs records which storages are born and die, in order;
// from that every storage gets a place in the session's arena, so that storages alive together do not overlap. The
// plans share that arena, which is as large as the largest of them. Later runs replay: each birth is checked against
// the plan, and against what still lives in the arena; from the first that differs, births of that run go to the heap.
// Storages that outlive the run (results, attributes) are never planned.
#ifndef TAPER_RUNTIME_PLANNER_H
#define TAPER_RUNTIME_PLANNER_H

#include "ir/tensor_def.h"

typedef struct taper_planner taper_planner;
struct taper_function;
struct taper_recording;

// One storage of a plan.
typedef struct taper_birth {
    size_t bytes, offset;
    uint32_t born, died; // events; died UINT32_MAX: it outlives the run
    uint32_t held;       // its place is not given away before
    const struct taper_op *op;
} taper_birth;

// current: where the operator being run is noted; looked at when a storage is born.
TAPER_MUST_USE taper_status taper_planner_create(const taper_allocator *allocator, taper_heap *heap,
                                                 const struct taper_op *const *current, taper_planner **planner,
                                                 taper_error *error);
void taper_planner_destroy(taper_planner *planner);
// A run starts and ends. Nothing here can fail: without memory for a plan the run goes on without one.
void taper_planner_begin(taper_planner *planner, const struct taper_function *function, taper_value *const *inputs,
                         size_t count);
// Where the recordings belong that go with the plan made of this run; NULL: none was made.
struct taper_recording **taper_planner_end(taper_planner *planner, bool success);
void taper_planner_forget(taper_planner *planner);                                    // drops all plans
size_t taper_planner_bytes(const taper_planner *planner);                             // of the arena
const taper_birth *taper_planner_latest(const taper_planner *planner, size_t *count); // the plan used last; NULL: none
uint64_t taper_planner_calls(const taper_planner *planner);                           // allocator calls so far

// ---- results in the host's memory (taper_session_run_into)

enum { TAPER_MOST_LENT = 8 };
typedef struct taper_lease {
    void *data;
    size_t bytes;
    uint64_t layout; // a hash of dtype and sizes
} taper_lease;
// The next run may place results there: those that the plan of an earlier run has remembered, if all layouts are those
// of that run. Copies the leases, up to TAPER_MOST_LENT.
void taper_planner_lend(taper_planner *planner, const taper_lease *leases, size_t count);
// After a run, its results. Later runs of the same plan may place those that have a storage here.
typedef struct taper_result {
    const taper_storage *storage; // NULL: it is not to be placed
    uint64_t layout;
} taper_result;
void taper_planner_remember_results(taper_planner *planner, const taper_result *results, size_t count);
// Right after the run, while its result is held: takes the memory back. `mine` says whether nobody but the result holds
// a storage that lies there; another one gets a block of its own. Fails if there is no memory for it.
TAPER_MUST_USE taper_status taper_planner_take_back(taper_planner *planner,
                                                    bool (*mine)(const void *user, const taper_storage *storage),
                                                    const void *user, taper_error *error);

// ---- recordings (runtime/recording.h), which go with a plan

void taper_recording_destroy(const taper_allocator *allocator, taper_heap *heap, struct taper_recording *recordings);

// In a run.
// Of the run that a plan is made of: births so far, and that one's place is not to be another's that is born until
// then.
const taper_birth *taper_planner_recorded(const taper_planner *planner);
size_t taper_planner_birth_of(const taper_planner *planner, const taper_storage *storage); // SIZE_MAX: of none
void taper_planner_hold(taper_planner *planner, size_t index, size_t until);
bool taper_planner_is_recording(const taper_planner *planner);  // a plan is made of this run
size_t taper_planner_births(const taper_planner *planner);      // of this run so far
void taper_planner_skip(taper_planner *planner, size_t births); // as if so many had been
// Of the plan that this run replays; NULL: none.
struct taper_recording *taper_planner_recordings(const taper_planner *planner);
// How a replay stands. False: there is none, or something differed.
typedef struct taper_replay {
    const taper_birth *births;
    char *arena;
    const uint32_t *live; // births that lie in the arena now
    size_t live_count;
    unsigned run; // taper_storage.plan_run of what is born now
} taper_replay;
bool taper_planner_replays(const taper_planner *planner, taper_replay *replay);

#endif
