// SPDX-License-Identifier: BSD-2-Clause
// The calling convention of operators. An operator is a row of a list (op_list.h) and a function
//     static taper_status relu(taper_call *call)
// that reads its arguments with the taper_arg_ functions and sets its results with the taper_ret_ functions. The
// taper_arg_ functions check the kind and say which argument is wrong. A call has the arguments of the schema, in
// order, with defaults filled in. For a vararg schema it has all arguments that the program passes. A failure's message
// needs no operator name, because the executor puts the name before it.
//
// One function implements the functional, in-place and .out variants of an operator. taper_ret_new() returns the tensor
// that receives the result. The alias annotations of the schema say which one: a new tensor, argument 0 of "add_", or
// `out` of ".out" (resized). A function that reads its inputs while it writes such a result must allow the result to be
// one of these inputs.
#ifndef TAPER_OPS_CALL_H
#define TAPER_OPS_CALL_H

#include "base/half.h"
#include "ir/op.h"
#include "ir/schema.h"
#include "ir/tensor_def.h"

typedef struct taper_run taper_run;
typedef struct taper_call taper_call;
typedef taper_status (*taper_kernel)(taper_call *call);
// Begins the definition of a kernel, the function that a row of the operator list names. The macro also declares the
// function, because no header does. A new row of the list then recompiles the table of rows and the kernel's file, not
// every file of kernels.
#define TAPER_KERNEL(name)                                                                                             \
    taper_status name(taper_call *call);                                                                               \
    taper_status name(taper_call *call)

// The status of a backend's kernel that has changed nothing and leaves the call to the next kernel (the reference).
#define TAPER_DECLINED ((taper_status)-1)

struct taper_node;

// One layer that a device ran in a segment's call: one row of the profile.
typedef struct taper_part {
    const struct taper_node *node; // node of the layer
    const char *kernel;            // name of the kernel, a static text
    double seconds, flops, bytes;  // seconds; floating-point operations; bytes read and written
    double peak_flops, peak_bytes; // peak rates of the device per second: operations, bytes; 0 if unknown
} taper_part;

// The state of a run that its operators may use. The executor, or a test, fills the struct.
struct taper_run {
    taper_heap *heap;
    struct taper_pool *pool; // threads that share the work (platform/threads.h)
    uint64_t cpu;            // TAPER_ISA_ bits of the instruction sets that kernels may use
    taper_error *error;
    struct taper_registry *registry;
    struct taper_packs *packs;         // packed weights, ops/call/packs.h; NULL if none are kept
    struct taper_rng *rng;             // random numbers of the run (ops/engine/random.h)
    struct taper_generator *generator; // owner of rng, ops/call/generator.h; NULL if rng belongs to this run only
    bool draws;                        // true while this run holds the generator's lock
    bool portable;   // true if only the portable loops may run, which are the reference for other kernels
    bool low_memory; // true to avoid packed forms that are larger than the weights
    bool
        stands_in; // true if only the first call runs on the CPU and later calls run on a device, so packs are not kept
    taper_precision precision; // precision of packed weights of layers
    void (*log)(void *user, taper_log_level level, const char *text, size_t length);
    void *log_user;
    // Returns the reason to end the run: TAPER_ERROR_CANCELLED, or TAPER_ERROR_RESOURCE if the time limit has passed or
    // would pass within `ahead` seconds. Returns TAPER_OK to continue. After it has returned a reason, it never returns
    // TAPER_OK again in this run. NULL if nothing can end the run.
    taper_status (*stop)(struct taper_run *run, double ahead);
    uint64_t work_left; // work before the next call of `stop`, in nanoseconds
    // Reason why taper_run_spend fails from now on, or TAPER_OK; the code that starts a run resets it.
    taper_status ended;
    bool flushes;                // true during a product of matrices, while denormal numbers are flushed to zero
    double unshared;             // work, in nanoseconds, since threads last shared work (ops/call/parallel.h)
    bool shared;                 // true if some work of the run was shared among threads
    struct taper_budget *budget; // budget that is charged for the work of a load (base/budget.h), or NULL
    // A kernel may set these for the profile: its name (a static text) and the floating-point operations of this call.
    const char *kernel;
    double flops;
    // Reports layer `index` of `count` of a segment's call to the profile. Every call of the segment has the same
    // layers. NULL unless a segment is profiled.
    void (*part)(void *user, size_t index, size_t count, const taper_part *part);
    void *part_user;
    const struct taper_op *current; // operator that is running
    struct taper_context *context;  // context that the host's own operators need; NULL if they cannot be called
    // Compiler of the model, for programs made during a run; NULL if there is none.
    const struct taper_compiler *compiler;
    // Operator of a segment that failed on the CPU and that the error already names, or NULL.
    const struct taper_node *failed;
    const char *why;   // reason why a backend declined or lost its device, valid while the device is open; or NULL
    bool replan;       // set by a backend to plan the memory of later runs again
    bool is_limited;   // true if the run has a time limit, so a backend should not wait for work that the CPU can do
    bool results_stay; // true if results may remain on the device when the run ends
    struct taper_tape *tape; // records the calls of the run for gradients (ops/gradient/tape.h), or NULL
    // Chooses the fast kernel for an operator that another operator calls. The function returns NULL if there is no
    // fast kernel. The pointer is NULL if only the operators' own kernels may run.
    taper_kernel (*choose)(const struct taper_context *context, const struct taper_op *op);
    const struct taper_context *choose_context;
};

struct taper_call {
    taper_run *run;
    const taper_op *op;
    const void
        *param; // parameter of the operator's row in the operator list; tells operators that share a kernel apart
    const taper_schema *schema;
    taper_val *args; // arguments of the call, borrowed
    size_t arg_count;
    taper_val *rets; // results as owned references; None until the kernel sets them
    size_t ret_count;
    void **state;                     // data kept between calls of one instruction, NULL at first; see ops/call/packs.h
    struct taper_prepared **prepared; // prepared call of the instruction (ops/call/prepared.h); NULL if nothing is kept
    taper_tensor *shell;              // result 0 if the call is a step of a recording, which has allocated the result's
                                      // memory; otherwise NULL
    const uint32_t *operands;         // operands of the instruction: arguments, then results; NULL if unknown
    const struct taper_segment *segment; // segment that the call runs (ops/backend.h), or NULL for an operator
    const void *plan; // a backend's description of what its kernel does in addition to the operator, or NULL
};

// ---- arguments. at: position in the schema

// The bit of an operand that is a constant which no code changes: a number, a string, a tensor, a list, packed weights.
#define TAPER_OPERAND_FIXED 0x20000000u
// The bit of an operand whose register is emptied after the instruction, because no later instruction uses its value.
#define TAPER_OPERAND_LAST 0x40000000u
// Returns true if the argument is a constant of the program.
static inline bool taper_arg_is_constant(const taper_call *call, size_t at)
{
    return call->operands != NULL && (call->operands[at] & TAPER_OPERAND_FIXED) != 0;
}
// Returns true if the program only returns result 0, so that no operator reads it and benefits from a layout other than
// PyTorch's. Returns false if this is unknown.
static inline bool taper_ret_leaves(const taper_call *call)
{
    return call->operands != NULL && (call->operands[call->arg_count] & TAPER_OPERAND_FIXED) != 0;
}
// Returns true for the in-place form of an operator, for example add_.
static inline bool taper_call_in_place(const taper_call *call)
{
    return call->schema != NULL && call->schema->in_place;
}

inline bool taper_arg_is_none(const taper_call *call, size_t at)
{
    return at >= call->arg_count || call->args[at].tag == TAPER_NONE;
}
// Returns the argument's name, for messages.
const char *taper_arg_name(const taper_call *call, size_t at);
TAPER_MUST_USE taper_status taper_arg_tensor(const taper_call *call, size_t at, taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_arg_tensor_or_none(const taper_call *call, size_t at,
                                                     taper_tensor **tensor); // *tensor is NULL for None
TAPER_MUST_USE taper_status taper_arg_bool(const taper_call *call, size_t at, bool *flag);
TAPER_MUST_USE taper_status taper_arg_int(const taper_call *call, size_t at, int64_t *number);
TAPER_MUST_USE taper_status taper_arg_int_or(const taper_call *call, size_t at, int64_t otherwise,
                                             int64_t *number); // *number is `otherwise` for None
TAPER_MUST_USE taper_status taper_arg_double(const taper_call *call, size_t at, double *number); // also accepts an int
TAPER_MUST_USE taper_status taper_arg_double_or(const taper_call *call, size_t at, double otherwise, double *number);
TAPER_MUST_USE taper_status taper_arg_string(const taper_call *call, size_t at, const taper_string **string);
TAPER_MUST_USE taper_status taper_arg_list(const taper_call *call, size_t at, taper_list **list);
TAPER_MUST_USE taper_status taper_arg_dict(const taper_call *call, size_t at, taper_dict **dict);
TAPER_MUST_USE taper_status taper_arg_object(const taper_call *call, size_t at, taper_object **object);
// Reads a dtype argument (int? dtype), or `otherwise` for None.
TAPER_MUST_USE taper_status taper_arg_dtype_or(const taper_call *call, size_t at, taper_dtype otherwise,
                                               taper_dtype *dtype);
// Reads int[] with at most `limit` items. With want > 0, a single int stands for `want` equal items (int[2] stride=1),
// and any other count fails. With want > 1, a list of one item also stands for `want` equal items.
TAPER_MUST_USE taper_status taper_arg_ints(const taper_call *call, size_t at, size_t want, size_t limit,
                                           int64_t *numbers, size_t *count);
TAPER_MUST_USE taper_status taper_arg_doubles(const taper_call *call, size_t at, size_t limit, double *numbers,
                                              size_t *count);
// Reads a dimension and wraps it into [0, rank). A rank of 0 counts as 1.
TAPER_MUST_USE taper_status taper_arg_dim(const taper_call *call, size_t at, size_t rank, size_t *dim);
// Reads an item of a Tensor[] (or Tensor?[]) argument. *tensor is NULL for None, which only `optional` allows.
TAPER_MUST_USE taper_status taper_arg_tensor_item(const taper_call *call, size_t at, size_t item, bool optional,
                                                  taper_tensor **tensor);

// A Scalar argument: bool, int, float, complex, or the value of a 0-dim tensor.
typedef struct taper_scalar {
    enum { TAPER_SCALAR_BOOL, TAPER_SCALAR_INT, TAPER_SCALAR_DOUBLE, TAPER_SCALAR_COMPLEX } kind;
    int64_t i;    // set for bool and int
    double f, im; // always set; f is the real part of a complex number
} taper_scalar;
TAPER_MUST_USE taper_status taper_arg_scalar(const taper_call *call, size_t at, taper_scalar *scalar);

// ---- results

// Sets result `at` and takes over the reference of `value`.
static inline void taper_ret(taper_call *call, size_t at, taper_val value)
{
    taper_val_replace(&call->rets[at], value);
}
// Returns the tensor for result `at`, ready for writing, and sets it as the result. For the functional variant it is a
// new tensor with this dtype and these sizes; strides may be NULL for a contiguous tensor. For the in-place variant it
// is the argument, whose sizes must match. For the .out variant it is the argument, resized. An argument keeps its
// dtype, so *tensor may have another dtype than the requested one, and the caller must convert.
TAPER_MUST_USE taper_status taper_ret_new(taper_call *call, size_t at, taper_dtype dtype, size_t rank,
                                          const int64_t *sizes, const int64_t *strides, taper_tensor **tensor);
// Does what taper_ret_new does for the functional variant, in the memory of argument `from` if the call is the last
// that uses this memory: *tensor is then a new tensor that shares the argument's storage. Otherwise *tensor is NULL,
// and nothing has changed. The memory of a small argument is not reused, because a call with small arguments may be
// prepared for later runs. The caller reads each element of the argument before it writes the result's element at the
// same place.
TAPER_MUST_USE taper_status taper_ret_over(taper_call *call, size_t at, size_t from, taper_dtype dtype, size_t rank,
                                           const int64_t *sizes, const int64_t *strides, taper_tensor **tensor);
// Returns a new channels-last result of rank 4 or 5. hidden: PyTorch's result would be contiguous (ir/tensor_def.h).
// The in-place and .out variants behave as in taper_ret_new, so the caller must read (*tensor)->strides.
TAPER_MUST_USE taper_status taper_ret_new_nhwc(taper_call *call, size_t at, taper_dtype dtype, size_t rank,
                                               const int64_t *sizes, bool hidden, taper_tensor **tensor);
// Sets a result that was computed elsewhere, or copies it into the argument of the in-place or .out variant. Takes over
// the reference.
TAPER_MUST_USE taper_status taper_ret_tensor(taper_call *call, size_t at, taper_tensor *value);
// Does what taper_ret_tensor does, for a caller that knows `target`: the argument that receives the result, or NULL.
TAPER_MUST_USE taper_status taper_ret_copied(taper_call *call, size_t at, taper_tensor *target, taper_tensor *value);
// These functions return the argument that receives result `at` (in-place or .out), or NULL for the functional variant.
// They differ for an operator with TAPER_OP_OUT_COPY, whose result is computed first and then copied into `out`:
// taper_ret_argument returns `out`, because its dtype may decide the result's dtype; taper_ret_target returns NULL.
taper_tensor *taper_ret_argument(const taper_call *call, size_t at);
taper_tensor *taper_ret_target(const taper_call *call, size_t at);
// Resizes an out tensor to these sizes, as PyTorch does, if its sizes are different. The new strides are the given
// ones, or contiguous if strides is NULL.
TAPER_MUST_USE taper_status taper_out_resize(taper_call *call, taper_tensor *target, size_t rank, const int64_t *sizes,
                                             const int64_t *strides);
// Fails if elements of the tensor share memory because a dimension is expanded.
TAPER_MUST_USE taper_status taper_check_expanded(const taper_tensor *tensor, taper_error *error);
// Fails if elements of a tensor that the call writes share memory, unless the operator's row in the operator list
// allows it. Also fails if the tensor shares all or a part of its memory with another argument although that row
// forbids this.
TAPER_MUST_USE taper_status taper_ret_check_overlap(const taper_call *call, const taper_tensor *tensor);
// Fails as PyTorch does if elements of two tensors share memory. may_be_whole permits this sharing if every element
// shares its memory with the element at the same position of the other tensor.
TAPER_MUST_USE taper_status taper_check_sharing(const taper_tensor *to, const taper_tensor *from, bool may_be_whole,
                                                taper_error *error);
TAPER_MUST_USE taper_status taper_ret_string(taper_call *call, size_t at, const char *text, size_t length);

// Returns a run outside of a session, on this heap. Its work is charged to the heap's budget, if there is one. error
// may be NULL.
taper_run taper_run_on(taper_heap *heap, struct taper_registry *registry, taper_error *error);

// ---- reports of work

// Every loop whose length depends on the arguments reports its work to taper_run_spend before it starts. The unit is
// about a nanosecond of the portable code: 1 for an element read or written, 5 for a division or a search step, 20 for
// a transcendental function. A call of taper_run_spend costs a subtraction. Every few milliseconds of work it calls the
// host, and during a load it charges the budget. Call taper_run_spend before each piece of at most TAPER_WORK_PIECE, in
// the thread that runs the operator, and return if the call fails. After a failure, each further call fails until the
// operator ends. taper_call_kernel checks for a failure at its end, so a loop that cannot return a status may just
// stop.
enum { TAPER_WORK_PIECE = 1 << 24, TAPER_WORK_BETWEEN = 1 << 22 };
TAPER_MUST_USE taper_status taper_run_spend(taper_run *run, uint64_t work);
// Does what taper_run_spend does, for a loop that cannot return a status. Returns false if the loop must stop.
bool taper_run_goes_on(taper_run *run, uint64_t work);
// Charges the run for 256 elements at every 256th element i, by taper_run_goes_on. Returns false if the loop must stop.
// Use it as the condition of a loop over slow elements, for which a loop of pieces is not worth it.
inline bool taper_run_step(taper_run *run, int64_t i, uint64_t work)
{
    enum { EACH = 256 };
    return i % EACH != 0 || taper_run_goes_on(run, EACH * work);
}
// Call this before work that cannot be interrupted. Fails if the run must end, or if `work` nanoseconds are more than
// the remaining time.
TAPER_MUST_USE taper_status taper_run_commit(taper_run *run, double work);

// Returns the result of a call that ended with `status`: that status, or the reason to end the run.
TAPER_MUST_USE taper_status taper_run_outcome(taper_run *run, taper_status status);

// These functions do the work of the functions of ir/tensor.h with similar names, in pieces that are charged to the
// run.
TAPER_MUST_USE taper_status taper_run_copy(taper_run *run, taper_tensor *to, const taper_tensor *from);
TAPER_MUST_USE taper_status taper_run_contiguous(taper_run *run, taper_tensor *tensor, taper_tensor **result);
TAPER_MUST_USE taper_status taper_run_settle(taper_run *run, taper_tensor *tensor);
TAPER_MUST_USE taper_status taper_run_fetch_items(taper_run *run, const taper_list *list);
TAPER_MUST_USE taper_status taper_run_settle_items(taper_run *run, taper_container *container);
// Moves a tensor, or the tensors in a container, to the host's memory and PyTorch's layout, for an operator that
// supports no other memory or layout.
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

// Appends names and values of the arguments, for the detail of an error: "self: float32[2, 3], dim: 7".
void taper_call_describe(const taper_schema *schema, const taper_val *args, size_t arg_count, taper_text *text);
// Adds to the error which operator failed with which arguments, unless the model raised the error.
void taper_call_blame(const taper_schema *schema, const taper_val *args, size_t arg_count, taper_error *error);

// Runs the operator's kernel, or a kernel of a backend, and treats the results as the flags of the operator's row say.
// Every call of an operator uses this function.
TAPER_MUST_USE taper_status taper_call_kernel(taper_call *call, taper_kernel kernel);

// Runs another operator in the same run, for operators that consist of other operators. args are borrowed.
TAPER_MUST_USE taper_status taper_call_op(taper_run *run, const taper_op *op, taper_val *args, size_t arg_count,
                                          taper_val *rets, size_t ret_count);

// Returns the operator's kernel for a call with a quantized tensor among its arguments. Fails if PyTorch has no such
// kernel.
TAPER_MUST_USE taper_status taper_quantized_kernel(const taper_call *call, taper_kernel *kernel);
// Returns true if the operator is in PyTorch's own namespace (aten) and has a kernel for quantized tensors.
bool taper_row_takes_quantized(const taper_op *op);
// Returns true if an argument is a quantized tensor or a list that contains one.
bool taper_call_has_quantized(const taper_call *call);

const char *taper_pytorch_device_name(int kind); // PyTorch's name of the kind, such as "cpu"; NULL if unknown

#endif
