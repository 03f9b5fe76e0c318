// SPDX-License-Identifier: BSD-2-Clause
// The struct of taper_session, and the interpreter that runs its programs.
#ifndef TAPER_RUNTIME_SESSION_H
#define TAPER_RUNTIME_SESSION_H

#include <taper/taper_inspect.h>

#include "ops/engine/random.h"
#include "platform/platform.h"
#include "runtime/cpu_peak.h"
#include "runtime/model.h"

typedef struct taper_planner taper_planner; // runtime/planner.h
struct taper_recording;

// The recordings in the current run: runtime/recording.h.
typedef struct taper_recorder {
    const taper_instruction *entry; // first instruction of the next recording; NULL if there is none
    bool traces;                    // true if this run will become recordings
    struct taper_recording *next;
    struct taper_trace *trace;
    uint64_t calls;    // number of allocator calls
    uint64_t replayed; // number of replayed steps in all runs
    uint64_t banded;   // steps of this run that ran in bands (ops/call/bands.h)
} taper_recorder;
void taper_recorder_trim(taper_session *session); // frees the memory of the trace

// The cost of one operator's call site, while profiling.
typedef struct taper_profile_site {
    const taper_instruction *instruction;
    const char *kernel;
    const char *why; // why a device declined the last call; NULL if it did not, or did not say
    uint64_t calls;
    double seconds, flops, bytes;  // flops, bytes: of the last call
    size_t first_part, part_count; // rows among the session's parts, for a segment that reports parts
} taper_profile_site;

typedef struct taper_profile_part {
    taper_part last; // its seconds are the sum over all calls
    uint64_t calls;
} taper_profile_part;

// The user data of taper_run's `part`, for one site.
typedef struct taper_profile_parts {
    struct taper_session *session;
    taper_profile_site *site;
    double seconds; // seconds of all parts in this call
} taper_profile_parts;
void taper_profile_add_part(void *user, size_t index, size_t count, const taper_part *part);
void taper_profile_free(taper_session *session);

struct taper_session {
    taper_model *model;
    taper_heap *heap;
    taper_val root;
    taper_val *constants; // copies of this session
    void **states;
    struct taper_prepared **prepared; // ops/call/prepared.h, one for each state
    taper_run run;
    taper_rng rng;
    taper_planner *planner;
    taper_recorder recorder;
    atomic_bool cancelled;
    atomic_uint use; // bits IN_USE, TRIM and DESTROY of session.c
    int64_t looks;   // number of walks over results so far, written to containers that a walk has seen
    uint64_t instruction_budget, instructions_left;
    double time_budget, deadline;
    size_t memory_budget;
    uint64_t calls_of_run;
    uint64_t placed_results;     // results of the last taper_session_run_into that were placed
    taper_profile_site *profile; // by number of state; NULL if never profiled
    taper_profile_part *parts;
    taper_cpu_peak peak; // measured at the start of profiling
    size_t part_count, part_capacity;
    bool profiling;
    taper_observe_function observe; // NULL without an observer
    void *observe_user;
};

// Begins a call that uses the session's state. Returns TAPER_ERROR_ARGUMENT during another call of the session, in this
// thread (a callback of the host calls the session that called it) or in another one.
TAPER_MUST_USE taper_status taper_session_enter(taper_session *session, taper_error *error);
// Ends the call and does what was requested during it: trims or destroys the session.
void taper_session_leave(taper_session *session);
// Returns true during a call.
bool taper_session_is_busy(const taper_session *session);

// ---- results.c. in_run: the run continues and pays for the work

// Gives all hidden or absent tensors in the value a form that the host may read. Results that may stay on a device are
// left there in a run.
TAPER_MUST_USE taper_status taper_session_settle(taper_session *session, bool in_run, taper_val value,
                                                 taper_error *error);
// Returns a settled result for the host. Takes over the reference, also on failure.
TAPER_MUST_USE taper_status taper_session_box(taper_session *session, bool in_run, taper_val result,
                                              taper_value **boxed, taper_error *error);

// ---- the interpreter

// The data of the interpreter: a session's, or the loader's own for __setstate__.
typedef struct taper_frame_source {
    const taper_model *model;
    taper_run *run;
    const taper_val *constants;
    void **states;
    struct taper_prepared **prepared; // by number of state; NULL if nothing is prepared
    struct taper_session *session;    // NULL during a load, in which run->budget counts
} taper_frame_source;

// Runs a function. args are borrowed. *result gets a reference.
TAPER_MUST_USE taper_status taper_interpret(const taper_frame_source *source, const taper_function *function,
                                            const taper_val *args, size_t arg_count, int depth, taper_val *result);
// Runs the node kinds that are neither operators nor calls (interpreter_node.c). in, out: one value each.
TAPER_MUST_USE taper_status taper_interpret_node(const taper_frame_source *source, const taper_node *node,
                                                 taper_val *in, size_t in_count, taper_val *out, size_t out_count);
// Returns the function that a call of a method of self runs, or NULL for a class that Taper implements
// (ops/lang/torchbind.h).
TAPER_MUST_USE taper_status taper_interpret_callee(const taper_frame_source *source, const taper_node *node,
                                                   taper_val self, const taper_function **callee);
// These add to the error where a node comes from, and for an instruction that failed also its arguments
// (interpreter_tell.c).
void taper_trace_node(const taper_module *module, const taper_node *node, taper_error *error);
void taper_interpret_blame(const taper_frame_source *source, const taper_instruction *in, const taper_val *args);
// Shows the results of a node to the observer of the session. They are settled first, because the host reads them in
// PyTorch's layout.
TAPER_MUST_USE taper_status taper_interpret_show(const taper_frame_source *source, const taper_node *node,
                                                 const taper_val *values, size_t count);

#endif
