// SPDX-License-Identifier: BSD-2-Clause
// The struct of taper_session, and the interpreter that runs its programs.
#ifndef TAPER_RUNTIME_SESSION_H
#define TAPER_RUNTIME_SESSION_H

#include <taper/taper_inspect.h>

#include "ops/engine/random.h"
#include "platform/platform.h"
#include "runtime/cpu_peak.h"
#include "runtime/model.h"

typedef struct taper_planner taper_planner; // defined in runtime/planner.h
struct taper_recording;

// The state of recordings in the current run (runtime/recording.h).
typedef struct taper_recorder {
    const taper_instruction *entry; // first instruction of the next recording; NULL if there is none
    bool traces;                    // true if recordings will be made from this run
    struct taper_recording *next;
    struct taper_trace *trace;
    uint64_t calls;    // number of allocations for recordings, in all runs
    uint64_t replayed; // number of steps that were replayed, in all runs
    uint64_t banded;   // number of steps of this run that ran in bands (ops/call/bands.h)
} taper_recorder;
void taper_recorder_trim(taper_session *session); // frees the memory of the trace

// Costs of one call of an operator in a program, measured while profiling.
typedef struct taper_profile_site {
    const taper_instruction *instruction;
    const char *kernel;
    // Reason why a device declined the last call; NULL if the device did not decline, or gave no reason.
    const char *why;
    uint64_t calls;
    double seconds, flops, bytes;  // seconds: sum over all calls; flops, bytes: of the last call
    size_t first_part, part_count; // for a segment that reports parts: range of items in the session's array of parts
} taper_profile_site;

typedef struct taper_profile_part {
    taper_part last; // last report of the part, in which seconds are the sum over all calls
    uint64_t calls;
} taper_profile_part;

// User data of the callback taper_run.part while one call is measured.
typedef struct taper_profile_parts {
    struct taper_session *session;
    taper_profile_site *site;
    double seconds; // sum of the seconds of all parts in this call
} taper_profile_parts;
void taper_profile_add_part(void *user, size_t index, size_t count, const taper_part *part);
void taper_profile_free(taper_session *session);

struct taper_session {
    taper_model *model;
    taper_heap *heap;
    taper_val root;
    taper_val *constants; // the session's own copies of the model's constants
    void **states;
    struct taper_prepared **prepared; // prepared state of each operator (ops/call/prepared.h)
    taper_run run;
    taper_rng rng;
    taper_planner *planner;
    taper_recorder recorder;
    struct taper_tape *tape; // records runs for gradients; NULL if no method of the model asks for gradients
    atomic_bool cancelled;
    atomic_uint use; // the bits IN_USE, TRIM and DESTROY of session.c
    // Number of searches through results so far; a search writes its number to the containers that it has visited.
    int64_t looks;
    uint64_t instruction_budget, instructions_left;
    double time_budget, deadline;
    size_t memory_budget;
    uint64_t calls_of_run;
    uint64_t placed_results; // number of results that the last taper_session_run_into placed in the host's memory
    // Measured costs, indexed by the operator's state; NULL if the session was never profiled.
    taper_profile_site *profile;
    taper_profile_part *parts;
    taper_cpu_peak peak; // peak rates, measured when profiling starts
    size_t part_count, part_capacity;
    bool profiling;
    taper_observe_function observe; // function that observes results; NULL without an observer
    void *observe_user;
};

// Begins a call that uses the session's state. Returns TAPER_ERROR_ARGUMENT if another call of the session is active,
// in another thread or in this one. The latter happens if a callback of the host calls the session that called it.
TAPER_MUST_USE taper_status taper_session_enter(taper_session *session, taper_error *error);
// Ends the call. If trimming or destroying the session was requested meanwhile, does that now.
void taper_session_leave(taper_session *session);
// Returns true while a call of the session is active.
bool taper_session_is_busy(const taper_session *session);

// Finds the attribute with this path below the root object; "" is the root. *found is borrowed.
TAPER_MUST_USE taper_status taper_session_at(const taper_session *session, const char *path, taper_val *found,
                                             taper_error *error);

// ---- run.c

// taper_session_start_work begins work that the session's budgets limit. taper_session_end_work ends it; `status` is
// the status of the work.
void taper_session_start_work(taper_session *session, taper_error *error);
void taper_session_end_work(taper_session *session, taper_status status);

// ---- results.c. in_run: a run is active, whose budget limits this work

// Gives tensors in the value the form that the host may read: tensors with hidden_nhwc become contiguous, and tensors
// on a device are copied to the host. During a run, results that may stay on a device are left there.
TAPER_MUST_USE taper_status taper_session_settle(taper_session *session, bool in_run, taper_val value,
                                                 taper_error *error);
// Makes a handle for a result, whose tensors the host can read. Takes over the reference to `result`, also on failure.
TAPER_MUST_USE taper_status taper_session_box(taper_session *session, bool in_run, taper_val result,
                                              taper_value **boxed, taper_error *error);

// ---- session_tape.c

#ifdef TAPER_WITH_GRADIENTS
// Creates the tape if the session's model asks for gradients.
TAPER_MUST_USE taper_status taper_session_tape_create(taper_session *session, taper_error *error);
void taper_session_tape_end(const taper_session *session); // called at the end of each run
void taper_session_tape_free(taper_session *session);
#else
static inline taper_status taper_session_tape_create(taper_session *session, taper_error *error)
{
    (void)session;
    (void)error;
    return TAPER_OK;
}
static inline void taper_session_tape_end(const taper_session *session)
{
    (void)session;
}
static inline void taper_session_tape_free(taper_session *session)
{
    (void)session;
}
#endif

// ---- the interpreter

// The data that the interpreter works on. It belongs to a session, or to the loader while it runs __setstate__.
typedef struct taper_frame_source {
    const taper_model *model;
    taper_run *run;
    const taper_val *constants;
    void **states;
    struct taper_prepared **prepared; // prepared state of each operator; NULL if no operator may be prepared
    struct taper_session *session;    // NULL during a load, in which run->budget limits the work
} taper_frame_source;

// Runs a function. `args` are borrowed. *result receives a reference.
TAPER_MUST_USE taper_status taper_interpret(const taper_frame_source *source, const taper_function *function,
                                            const taper_val *args, size_t arg_count, int depth, taper_val *result);
// Runs a node that is neither an operator nor a call (interpreter_node.c). `in` and `out` have one value for each input
// and output.
TAPER_MUST_USE taper_status taper_interpret_node(const taper_frame_source *source, const taper_node *node,
                                                 taper_val *in, size_t in_count, taper_val *out, size_t out_count);
// Finds the function that a method call on self runs. *function is NULL if Taper itself implements the class
// (ops/lang/torchbind.h).
TAPER_MUST_USE taper_status taper_interpret_callee(const taper_frame_source *source, const taper_node *node,
                                                   taper_val self, const taper_function **callee);
// These functions add to an error the origin of a node in the model, and for an instruction that failed also its
// arguments (interpreter_tell.c).
void taper_trace_node(const taper_module *module, const taper_node *node, taper_error *error);
void taper_interpret_blame(const taper_frame_source *source, const taper_instruction *in, const taper_val *args);
// Shows the results of a node to the observer of the session. Tensors are first settled (taper_tensor_settle), because
// the host reads them in PyTorch's layout.
TAPER_MUST_USE taper_status taper_interpret_show(const taper_frame_source *source, const taper_node *node,
                                                 const taper_val *values, size_t count);

#endif
