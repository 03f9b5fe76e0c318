// SPDX-License-Identifier: BSD-2-Clause
// What is behind a taper_session, and the interpreter that runs its programs.
#ifndef TAPER_RUNTIME_SESSION_H
#define TAPER_RUNTIME_SESSION_H

#include <taper/taper_inspect.h>

#include "ops/engine/random.h"
#include "platform/platform.h"
#include "runtime/cpu_peak.h"
#include "runtime/model.h"

typedef struct taper_planner taper_planner; // runtime/planner.h
struct taper_recording;

// For the run at hand: runtime/recording.h.
typedef struct taper_recorder {
    const taper_instruction *entry; // the first one of the next recording; NULL: there is none
    bool traces;                    // this run is to become recordings
    struct taper_recording *next;
    struct taper_trace *trace;
    uint64_t calls;    // of the allocator
    uint64_t replayed; // steps so far, in all runs
    uint64_t banded;   // steps of this run that were run in bands (ops/call/bands.h)
} taper_recorder;
void taper_recorder_trim(taper_session *session); // gives back what tracing needed

// What a call site of an operator took, while profiling.
typedef struct taper_profile_site {
    const taper_instruction *instruction;
    const char *kernel;
    const char *why; // a device declined the last call; NULL: it did not, or did not say
    uint64_t calls;
    double seconds, flops, bytes;  // flops, bytes: of the last call
    size_t first_part, part_count; // of a segment that says what it did: its rows among the session's parts
} taper_profile_site;

typedef struct taper_profile_part {
    taper_part last; // seconds: of all calls
    uint64_t calls;
} taper_profile_part;

// taper_run's `part`, for one site.
typedef struct taper_profile_parts {
    struct taper_session *session;
    taper_profile_site *site;
    double seconds; // of all parts in this call
} taper_profile_parts;
void taper_profile_add_part(void *user, size_t index, size_t count, const taper_part *part);
void taper_profile_free(taper_session *session);

struct taper_session {
    taper_model *model;
    taper_heap *heap;
    taper_val root;
    taper_val *constants; // this session's
    void **states;
    struct taper_prepared **prepared; // ops/call/prepared.h, one for a state
    taper_run run;
    taper_rng rng;
    taper_planner *planner;
    taper_recorder recorder;
    atomic_bool cancelled;
    atomic_uint use; // bits of taper_session_enter
    int64_t looks;   // walks over results so far: what containers were seen in
    uint64_t instruction_budget, instructions_left;
    double time_budget, deadline;
    size_t memory_budget;
    uint64_t calls_of_run;
    uint64_t placed_results;     // of the last taper_session_run_into
    taper_profile_site *profile; // by state number; NULL: never profiled
    taper_profile_part *parts;
    taper_cpu_peak peak; // measured when profiling began
    size_t part_count, part_capacity;
    bool profiling;
    taper_observe_function observe; // NULL: nobody looks
    void *observe_user;
};

// Begins a call that uses the session's state. Returns TAPER_ERROR_ARGUMENT if another call of the session is under
// way, in this thread (a callback of the host calls the session that called it) or in another one.
TAPER_MUST_USE taper_status taper_session_enter(taper_session *session, taper_error *error);
// Ends the call, and does what was asked for meanwhile: trims the session, or destroys it.
void taper_session_leave(taper_session *session);
// Whether a call is under way.
bool taper_session_is_busy(const taper_session *session);

// ---- results.c. in_run: the run has not ended, and its time is drawn on.

// Everything in it that is hidden or away becomes what the host may look at.
TAPER_MUST_USE taper_status taper_session_settle(taper_session *session, bool in_run, taper_val value,
                                                 taper_error *error);
// A result for the host, settled; takes over the reference.
TAPER_MUST_USE taper_status taper_session_box(taper_session *session, bool in_run, taper_val result,
                                              taper_value **boxed, taper_error *error);

// ---- the interpreter

// What it needs; a session's, or the loader's own for __setstate__.
typedef struct taper_frame_source {
    const taper_model *model;
    taper_run *run;
    const taper_val *constants;
    void **states;
    struct taper_prepared **prepared; // by state, as states; NULL: nothing is prepared
    struct taper_session *session;    // NULL while loading: run->budget counts then
} taper_frame_source;

// Runs function with args (borrowed). *result gets a reference.
TAPER_MUST_USE taper_status taper_interpret(const taper_frame_source *source, const taper_function *function,
                                            const taper_val *args, size_t arg_count, int depth, taper_val *result);
// interpreter_node.c. The node kinds that are neither operators nor calls. in, out: one value each.
TAPER_MUST_USE taper_status taper_interpret_node(const taper_frame_source *source, const taper_node *node,
                                                 taper_val *in, size_t in_count, taper_val *out, size_t out_count);
// What a call of a method of self runs; NULL: it is one of a class that Taper has itself (ops/lang/torchbind.h).
TAPER_MUST_USE taper_status taper_interpret_callee(const taper_frame_source *source, const taper_node *node,
                                                   taper_val self, const taper_function **callee);
// interpreter_tell.c. Where the node comes from, as the error's detail; and of the instruction that failed, with what
// its arguments were.
void taper_trace_node(const taper_module *module, const taper_node *node, taper_error *error);
void taper_interpret_blame(const taper_frame_source *source, const taper_instruction *in, const taper_val *args);
// Shows the results of a node to who observes the session. They are settled first: the host reads them as PyTorch's.
TAPER_MUST_USE taper_status taper_interpret_show(const taper_frame_source *source, const taper_node *node,
                                                 const taper_val *values, size_t count);

#endif
