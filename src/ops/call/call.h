// SPDX-License-Identifier: BSD-2-Clause
// The calling convention of operators. An operator is a row of a list (op_list.h) and a function
//     static taper_status relu(taper_call *call)
// that reads its arguments with the taper_arg_ functions (they check kind and say which argument is wrong) and leaves
// its results with the taper_ret_ functions. Arguments are those of the schema, in order, defaults filled in; of a
// vararg schema they are what was passed. The message of a failure needs no operator name: the executor puts it in
// front.
//
// One function serves the functional, in-place and .out forms of an operator: taper_ret_new() returns the tensor that
// receives the result, which is a new one, or argument 0 of "add_", or `out` of ".out" (resized), as the schema's alias
// annotations say. A function that reads its inputs while it writes such a result must tolerate that they are the same.
#ifndef TAPER_OPS_CALL_H
#define TAPER_OPS_CALL_H

#include "base/half.h"
#include "ir/op.h"
#include "ir/schema.h"
#include "ir/tensor_def.h"

typedef struct taper_run taper_run;
typedef struct taper_call taper_call;
typedef taper_status (*taper_kernel)(taper_call *call);
// Begins the definition of a kernel, the function that a row of the operator list names. It declares the function too,
// since no header does: a new row then compiles the table of rows and its kernel's file, not every file of kernels.
#define TAPER_KERNEL(name)                                                                                             \
    taper_status name(taper_call *call);                                                                               \
    taper_status name(taper_call *call)

// Returned by a backend's kernel, before it changed anything, to let the next one (the reference) do the call.
#define TAPER_DECLINED ((taper_status)-1)

struct taper_node;

// What a device did in a call: a row of the profile.
typedef struct taper_part {
    const struct taper_node *node; // of the layer
    const char *kernel;            // static
    double seconds, flops, bytes;  // bytes: of all that it reads and writes
    double peak_flops, peak_bytes; // that the device does in a second; 0: not known
} taper_part;

// What an operator may use of the run it is part of. Filled by the executor (and by tests).
struct taper_run {
    taper_heap *heap;
    struct taper_pool *pool; // platform/threads.h
    uint64_t cpu;            // TAPER_ISA_ bits allowed
    taper_error *error;
    struct taper_registry *registry;
    struct taper_packs *packs;         // ops/call/packs.h: packed weights; NULL: none are kept
    struct taper_rng *rng;             // ops/engine/random.h
    struct taper_generator *generator; // ops/call/generator.h: rng is its; NULL: this run's alone
    bool draws;                        // its lock is held
    bool portable;   // the portable loops alone, which others are held against: no kernels of instruction sets
    bool low_memory; // no weights in a form that takes more memory than they do
    bool stands_in;  // the CPU does once what a device will do from now on: no packs are kept for it
    taper_precision precision; // of the packed weights of layers
    void (*log)(void *user, taper_log_level level, const char *text, size_t length);
    void *log_user;
    // Why the run is to end: TAPER_ERROR_CANCELLED, or TAPER_ERROR_RESOURCE when its time is spent, or would be after
    // so many seconds; TAPER_OK: it goes on. Once it is to end it says so until the run has ended. NULL: never.
    taper_status (*stop)(struct taper_run *run, double ahead);
    uint64_t work_left;          // work until taper_run_spend asks
    taper_status ended;          // why taper_run_spend fails, from the first time on; set back by who starts a run
    bool flushes;                // denormal numbers are off: a product is being computed
    double unshared;             // ops/call/parallel.h: nanoseconds since the last work that was
    bool shared;                 // some was
    struct taper_budget *budget; // base/budget.h: what a load's work is charged to; NULL: nothing
    // What a kernel may leave for the profile: its name (static) and the floating-point operations of this call.
    const char *kernel;
    double flops;
    // While a segment is profiled: what part `index` of `count` took in this call, the same ones in every call. NULL:
    // nobody asks.
    void (*part)(void *user, size_t index, size_t count, const taper_part *part);
    void *part_user;
    const struct taper_op *current;        // the operator being run
    struct taper_context *context;         // for operators of the host; NULL: they cannot be called
    const struct taper_compiler *compiler; // of the model, for programs that are made while it runs; NULL: none
    const struct taper_node *failed;       // of a segment's plain nodes: the error says so already; NULL: none
    const char
        *why;    // a backend declined, or lost its device: a text that stays while that is open; NULL: it does not say
    bool replan; // set by a backend: the memory of later runs is to be planned anew
    bool is_limited;   // its time is: who has to wait for something that the CPU can do instead had better not
    bool results_stay; // what a device made and the run returns may be away when it ends
};

struct taper_call {
    taper_run *run;
    const taper_op *op;
    const void *param; // the row's: what tells apart the rows that share a kernel
    const taper_schema *schema;
    taper_val *args; // borrowed
    size_t arg_count;
    taper_val *rets; // filled with owned references; None before
    size_t ret_count;
    void **state;                     // kept between calls of the same instruction; starts NULL. See ops/call/packs.h
    struct taper_prepared **prepared; // ops/call/prepared.h; NULL: nothing is kept
    taper_tensor *shell;              // of a step of a recording: rets[0], whose memory is there already
    const uint32_t *operands;         // of the program, by argument, then by result; NULL: nothing is known of them
    const struct taper_segment *segment; // ops/backend.h: of which this is a call; NULL: of an operator
    const void *plan;                    // a backend's: what its kernel does beside the operator; NULL: nothing
};

// ---- arguments. at: position in the schema.

// A constant that nobody changes: a number, a string, a tensor, a closed list, packed weights.
#define TAPER_OPERAND_FIXED 0x20000000u
// Whether an argument is a constant of the program.
static inline bool taper_arg_is_constant(const taper_call *call, size_t at)
{
    return call->operands != NULL && (call->operands[at] & TAPER_OPERAND_FIXED) != 0;
}
// Whether the program returns result 0 and does nothing else with it: no operator wants it in a layout of ours. False
// for what nobody knows of.
static inline bool taper_ret_leaves(const taper_call *call)
{
    return call->operands != NULL && (call->operands[call->arg_count] & TAPER_OPERAND_FIXED) != 0;
}
// Whether it is the in-place form of an operator: "add_".
static inline bool taper_call_in_place(const taper_call *call)
{
    return call->schema != NULL && call->schema->in_place;
}

inline bool taper_arg_is_none(const taper_call *call, size_t at)
{
    return at >= call->arg_count || call->args[at].tag == TAPER_NONE;
}
// Its name, for messages.
const char *taper_arg_name(const taper_call *call, size_t at);
TAPER_MUST_USE taper_status taper_arg_tensor(const taper_call *call, size_t at, taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_arg_tensor_or_none(const taper_call *call, size_t at,
                                                     taper_tensor **tensor); // NULL: None
TAPER_MUST_USE taper_status taper_arg_bool(const taper_call *call, size_t at, bool *flag);
TAPER_MUST_USE taper_status taper_arg_int(const taper_call *call, size_t at, int64_t *number);
TAPER_MUST_USE taper_status taper_arg_int_or(const taper_call *call, size_t at, int64_t otherwise,
                                             int64_t *number);                                   // None
TAPER_MUST_USE taper_status taper_arg_double(const taper_call *call, size_t at, double *number); // takes ints
TAPER_MUST_USE taper_status taper_arg_double_or(const taper_call *call, size_t at, double otherwise, double *number);
TAPER_MUST_USE taper_status taper_arg_string(const taper_call *call, size_t at, const taper_string **string);
TAPER_MUST_USE taper_status taper_arg_list(const taper_call *call, size_t at, taper_list **list);
TAPER_MUST_USE taper_status taper_arg_dict(const taper_call *call, size_t at, taper_dict **dict);
TAPER_MUST_USE taper_status taper_arg_object(const taper_call *call, size_t at, taper_object **object);
// A dtype argument (int? dtype); otherwise when None.
TAPER_MUST_USE taper_status taper_arg_dtype_or(const taper_call *call, size_t at, taper_dtype otherwise,
                                               taper_dtype *dtype);
// int[]: at most limit items; a single int stands for `want` equal items when want > 0 (int[2] stride=1), as does a
// list of one when want > 1. With want > 0 any other count fails.
TAPER_MUST_USE taper_status taper_arg_ints(const taper_call *call, size_t at, size_t want, size_t limit,
                                           int64_t *numbers, size_t *count);
TAPER_MUST_USE taper_status taper_arg_doubles(const taper_call *call, size_t at, size_t limit, double *numbers,
                                              size_t *count);
// A dimension argument, wrapped into [0, rank) (rank 0 counts as 1).
TAPER_MUST_USE taper_status taper_arg_dim(const taper_call *call, size_t at, size_t rank, size_t *dim);
// item of a Tensor[] (or Tensor?[]) argument; *tensor NULL for None where optional.
TAPER_MUST_USE taper_status taper_arg_tensor_item(const taper_call *call, size_t at, size_t item, bool optional,
                                                  taper_tensor **tensor);

// A Scalar: bool, int, float, complex, or a 0-dim tensor's value.
typedef struct taper_scalar {
    enum { TAPER_SCALAR_BOOL, TAPER_SCALAR_INT, TAPER_SCALAR_DOUBLE, TAPER_SCALAR_COMPLEX } kind;
    int64_t i;    // of bool and int
    double f, im; // always filled (re of complex)
} taper_scalar;
TAPER_MUST_USE taper_status taper_arg_scalar(const taper_call *call, size_t at, taper_scalar *scalar);

// ---- results

// Gives the reference of value over.
static inline void taper_ret(taper_call *call, size_t at, taper_val value)
{
    taper_val_replace(&call->rets[at], value);
}
// The tensor for result `at` with this dtype and these sizes, ready for writing, set as the result: new (strides NULL:
// contiguous), or the argument that the schema says (see above): its sizes must match ("in-place") or it is resized
// ("out"), its dtype is kept: then *tensor may have another dtype than asked, and the caller converts on the way.
TAPER_MUST_USE taper_status taper_ret_new(taper_call *call, size_t at, taper_dtype dtype, size_t rank,
                                          const int64_t *sizes, const int64_t *strides, taper_tensor **tensor);
// A new channels-last result of rank 4 or 5. hidden: PyTorch's result would be contiguous (ir/tensor.h). In the
// in-place and out forms it is as taper_ret_new: look at (*tensor)->strides.
TAPER_MUST_USE taper_status taper_ret_new_nhwc(taper_call *call, size_t at, taper_dtype dtype, size_t rank,
                                               const int64_t *sizes, bool hidden, taper_tensor **tensor);
// Like taper_ret_new for results computed elsewhere: sets value, or copies it into the in-place/out argument. Takes
// over the reference.
TAPER_MUST_USE taper_status taper_ret_tensor(taper_call *call, size_t at, taper_tensor *value);
// The same for a target that is known.
TAPER_MUST_USE taper_status taper_ret_copied(taper_call *call, size_t at, taper_tensor *target, taper_tensor *value);
// The argument that receives result `at` (in-place or out), NULL for the functional form. A TAPER_OP_OUT_COPY row has
// the argument, which may decide the dtype, but no target.
taper_tensor *taper_ret_argument(const taper_call *call, size_t at);
taper_tensor *taper_ret_target(const taper_call *call, size_t at);
// PyTorch's resize of an out tensor that has other sizes, contiguous (or with the wanted strides).
TAPER_MUST_USE taper_status taper_out_resize(taper_call *call, taper_tensor *target, size_t rank, const int64_t *sizes,
                                             const int64_t *strides);
// Fails when several elements of a tensor that the call writes to share memory, unless its row allows that, or where
// the row says that none of it, or not a part, may be another argument's.
TAPER_MUST_USE taper_status taper_ret_check_overlap(const taper_call *call, const taper_tensor *tensor);
// Fails as PyTorch does when some elements of two tensors share memory; may_be_whole: unless all of both do, each with
// the one in its place.
TAPER_MUST_USE taper_status taper_check_sharing(const taper_tensor *to, const taper_tensor *from, bool may_be_whole,
                                                taper_error *error);
TAPER_MUST_USE taper_status taper_ret_string(taper_call *call, size_t at, const char *text, size_t length);

// A run outside a session, on this heap: its work is charged to the heap's budget, where it has one. error may be NULL.
taper_run taper_run_on(taper_heap *heap, struct taper_registry *registry, taper_error *error);

// ---- work

// Every loop whose length the arguments decide says how much it is about to do: work is about the nanoseconds that the
// portable code takes (an element read or written: 1; a division or a search step: 5; a transcendental function: 20).
// It costs a subtraction; every few milliseconds of work the host is asked, and while loading the budget is charged.
// Call it before each piece of at most TAPER_WORK_PIECE, in the thread that runs the operator, and leave when it fails.
// Having failed once it fails until the operator has ended, and taper_call_kernel asks at its end: a loop that cannot
// return a status may just leave its work undone.
enum { TAPER_WORK_PIECE = 1 << 24, TAPER_WORK_BETWEEN = 1 << 22 };
TAPER_MUST_USE taper_status taper_run_spend(taper_run *run, uint64_t work);
// The same for such loops: false when they are to leave.
bool taper_run_goes_on(taper_run *run, uint64_t work);
// The same in the condition of a loop over single elements that take long enough not to be worth a loop of pieces.
inline bool taper_run_step(taper_run *run, int64_t i, uint64_t work)
{
    enum { EACH = 256 };
    return i % EACH != 0 || taper_run_goes_on(run, EACH * work);
}
// Before work that cannot be interrupted: fails also when the time that is left is too short for it.
TAPER_MUST_USE taper_status taper_run_commit(taper_run *run, double work);

// What a call that ended with status is to return: the status, or why the run is to end.
TAPER_MUST_USE taper_status taper_run_outcome(taper_run *run, taper_status status);

// What ir/tensor.h has for tensors, in pieces that are charged to the run.
TAPER_MUST_USE taper_status taper_run_copy(taper_run *run, taper_tensor *to, const taper_tensor *from);
TAPER_MUST_USE taper_status taper_run_contiguous(taper_run *run, taper_tensor *tensor, taper_tensor **result);
TAPER_MUST_USE taper_status taper_run_settle(taper_run *run, taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_run_fetch_items(taper_run *run, const taper_list *list);
TAPER_MUST_USE taper_status taper_run_settle_items(taper_run *run, taper_container *container);
// A value that an operator is to have which knows nothing of other layouts and devices: a tensor, or those in a
// container.
static inline taper_status taper_settle(taper_run *run, taper_val value)
{
    if (value.tag == TAPER_TENSOR) {
        return value.as.tensor->hidden_nhwc || taper_tensor_is_away(value.as.tensor)
                   ? taper_run_settle(run, value.as.tensor)
                   : TAPER_OK;
    }
    return value.tag >= TAPER_LIST && value.tag <= TAPER_DICT
               ? taper_run_settle_items(run, (taper_container *)value.as.obj)
               : TAPER_OK;
}
TAPER_MUST_USE taper_status taper_run_zeros(taper_run *run, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                            taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_run_memset(taper_run *run, void *to, int byte, size_t size);

// Appends names and values of a call's arguments, for the detail of an error: "self: float32[2, 3], dim: 7".
void taper_call_describe(const taper_schema *schema, const taper_val *args, size_t arg_count, taper_text *text);
// Says in the error which operator failed with what, unless the model raised it.
void taper_call_blame(const taper_schema *schema, const taper_val *args, size_t arg_count, taper_error *error);

// Runs the call's kernel, or a backend's, and does what the row's flags want of the results. Every call of a row comes
// through here.
TAPER_MUST_USE taper_status taper_call_kernel(taper_call *call, taper_kernel kernel);

// Runs another operator by its row, with the same run: for operators made of others. args are borrowed.
TAPER_MUST_USE taper_status taper_call_op(taper_run *run, const taper_op *op, taper_val *args, size_t arg_count,
                                          taper_val *rets, size_t ret_count);

// Of a call with a quantized tensor among its arguments: the kernel that runs it, as its row says.
// Fails where PyTorch has none.
TAPER_MUST_USE taper_status taper_quantized_kernel(const taper_call *call, taper_kernel *kernel);
// Whether the row, of PyTorch's own namespace, has such a kernel.
bool taper_row_takes_quantized(const taper_op *op);
// True when one of the call's arguments is a quantized tensor, or a list with one.
bool taper_call_has_quantized(const taper_call *call);

const char *taper_pytorch_device_name(int kind); // "cpu"; NULL when unknown

#endif
