/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Single operators: functions that call operators of the library outside a model, and that add operators for models to
 * call. All of them are experimental. `scripts/supported_ops.py` lists the operators, which do what PyTorch's operators
 * of the same names do. The conventions of taper.h hold here.
 */
#ifndef TAPER_TAPER_OPERATOR_H
#define TAPER_TAPER_OPERATOR_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calling operators ---- */

/* A handle to an operator. One thread at a time may use a handle; several handles may refer to one operator. A handle
 * holds a reference to its context. During a call a callback of the program must not release the handle. If the
 * callback makes another call with the handle, that call fails with TAPER_ERROR_ARGUMENT. */
typedef struct taper_operator taper_operator;

/* Finds an operator by its name: "aten::add.Tensor", or "aten::relu" if it has no overload name. name may also be a
 * whole schema, "aten::relu(Tensor self) -> Tensor". The function fails with TAPER_ERROR_ARGUMENT if the schema differs
 * from the library's schema in more than blanks. It fails with TAPER_ERROR_UNSUPPORTED if this build does not have the
 * operator; the detail of the error lists the overloads of that name. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_find(taper_context *context, const char *name,
                                                                             taper_operator **op, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_operator_release(taper_operator *op);
/* Returns the schema, "aten::relu(Tensor self) -> Tensor". The text is valid as long as the handle. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_operator_schema(const taper_operator *op);
/* Returns the schema of operator `index` of the library, or NULL after the last one. The text is "" for an operator
 * that only models can call. Operators that the program registered are not listed. The text is valid as long as the
 * context.
 */
TAPER_API TAPER_EXPERIMENTAL const char *taper_operator_listed(taper_context *context, size_t index);
/* Returns the number of results of a call. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_operator_result_count(const taper_operator *op);
/* Seeds the random numbers of the handle, as torch.manual_seed does. Each handle has its own random numbers. */
TAPER_API TAPER_EXPERIMENTAL void taper_operator_seed(taper_operator *op, uint64_t seed);

/* A random number generator that handles and sessions can share, as all operators of PyTorch share its default
 * generator. With the same seed and the same order of calls it gives the same numbers as PyTorch's. Any thread may use
 * it; one operator at a time draws from it. A handle or session holds a reference to its generator. */
typedef struct taper_generator taper_generator;
/* Creates a generator with a seed. A generator holds a reference to its context. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_generator_create(taper_context *context, uint64_t seed,
                                                                                taper_generator **generator,
                                                                                taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_generator_release(taper_generator *generator);
/* Seeds the generator, as torch.manual_seed does. */
TAPER_API TAPER_EXPERIMENTAL void taper_generator_seed(taper_generator *generator, uint64_t seed);
/* The bytes of a generator's state, in the layout of torch.get_rng_state. */
#define TAPER_GENERATOR_STATE_SIZE 5056
/* Writes the state of the generator to `state`, which has TAPER_GENERATOR_STATE_SIZE bytes. */
TAPER_API TAPER_EXPERIMENTAL void taper_generator_get_state(taper_generator *generator, void *state);
/* Continues with a state that taper_generator_get_state or torch.get_rng_state wrote. The function fails with
 * TAPER_ERROR_ARGUMENT if the bytes are no state; the generator then keeps its state. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_generator_set_state(taper_generator *generator,
                                                                                   const void *state, size_t size,
                                                                                   taper_error *error);
/* Makes a handle use the generator's random numbers from its next call on. If generator is NULL, the handle uses its
 * own random numbers again. Do not call this function during a call of the handle. */
TAPER_API TAPER_EXPERIMENTAL void taper_operator_draw_from(taper_operator *op, taper_generator *generator);
/* Makes a session use the generator's random numbers from its next run on. If generator is NULL, the session uses its
 * own random numbers again. During a run of the session the function does nothing. */
TAPER_API TAPER_EXPERIMENTAL void taper_session_draw_from(taper_session *session, taper_generator *generator);

/* Returns how many references exist to a tensor or another object: references to `value`, and references that lists,
 * models and other values hold. For a number it returns the references to `value`. Returns 0 if value is NULL. Other
 * threads may change the count at any time. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_value_use_count(const taper_value *value);

/* Calls an operator.
 *
 * args are in the order of the schema, keyword arguments included. Missing arguments at the end get their defaults, and
 * NULL is None. An int is accepted for a float, and one int for an int[2]. Every other argument must have the type in
 * the schema. Otherwise the call fails with TAPER_ERROR_ARGUMENT, and the message names the argument.
 *
 * result_count must equal taper_operator_result_count(op). The function writes that many new references to results; on
 * failure it writes NULLs. Results may be views of arguments, as in PyTorch. A tensor that the operator writes to is
 * changed in place. If that tensor is read-only, the operator writes to a copy, which is the result.
 *
 * The call cannot be cancelled. When results are released, the context keeps their memory for later results. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_call(taper_operator *op,
                                                                             taper_value *const *args, size_t count,
                                                                             taper_value **results, size_t result_count,
                                                                             taper_error *error);

/* Makes later calls of the handle record for gradients (taper_gradient.h) if on is 1, as torch.set_grad_enabled does. A
 * handle records nothing at first. A recording handle of aten::grad computes gradients of what other handles and
 * sessions recorded. The function fails with TAPER_ERROR_UNSUPPORTED in a build without gradients. Do not call this
 * function during a call of the handle. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_record(taper_operator *op, int on,
                                                                               taper_error *error);

/* Makes a value of type int[] from `count` numbers, which are copied. *value is a new reference. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_list_int(taper_context *context,
                                                                              const int64_t *numbers, size_t count,
                                                                              taper_value **value, taper_error *error);

/* ---- adding operators ---- */

/* Computes an operator that the program added.
 *
 * args holds `count` values, one for each argument of the schema. Each has the type in the schema; missing arguments
 * have their defaults. The function borrows the values: retain one to keep it. It may write only to tensors that the
 * schema marks as written, (a!).
 *
 * results has result_count elements, one for each result, which are NULL at first. The function sets each to a new
 * reference and returns TAPER_OK, or it fails. The library releases references that a failed function left in results.
 * Create the results with `context`; the library does not check it.
 *
 * error may be NULL. Pass it to functions that this function calls, and to taper_error_set. If this function returns an
 * error, the run fails with the same status.
 *
 * The library calls the function in the thread of the run, and in several threads at once if several sessions run. The
 * function must not use the session that runs it: such calls fail with TAPER_ERROR_ARGUMENT. */
typedef taper_status (*taper_operator_function)(void *user, taper_context *context, taper_value *const *args,
                                                size_t count, taper_value **results, size_t result_count,
                                                taper_error *error);

/* Adds an operator for all contexts of the process. It cannot be removed, so `function` and `user` must stay valid
 * until the process ends. Call taper_operator_register before a model that uses the operator is loaded. Any thread may
 * call it. `user` is passed to `function`. Files .pt and .ptl call the operator by its name, as they call operators of
 * torch.library, and taper_operator_find finds it.
 *
 * schema is copied. Several operators of one name have overload names. Arguments that are written to are marked (a!):
 *   my_ops::warp(Tensor image, Tensor flow, float scale=1.0) -> Tensor
 *   my_ops::warp.int(Tensor image, int steps) -> Tensor
 *   my_ops::scale_(Tensor(a!) self) -> Tensor(a!)
 * Types are numbers, str, Device, Tensor, and lists, tuples, Dict( , ) and optionals (?) of these.
 *
 * The function fails with TAPER_ERROR_ARGUMENT if the schema is wrong or Taper has operators of that name. It fails in
 * the same way if the program added an operator of the same name and overload name before.
 *
 * The optimizer never removes, moves or folds a call of the operator. It assumes that a result may share memory with
 * any value. A run fails if a result is missing or has another type than the schema says. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_register(const char *schema,
                                                                                 taper_operator_function function,
                                                                                 void *user, taper_error *error);

/* Calls task(argument, i) once for every i in [0, count), in any order, in the calling thread and in threads of the
 * context. Returns when all these calls have returned. The calling thread makes all calls that no thread of the context
 * makes, for example if these threads are busy or if context is NULL. A task may run models and may call this function.
 * Any thread may call it. */
TAPER_API TAPER_EXPERIMENTAL void taper_context_run_tasks(taper_context *context,
                                                          void (*task)(void *argument, size_t index), void *argument,
                                                          size_t count);

/* Sets the status and the message of error, and returns status. It is for use in a taper_operator_function. message is
 * one line, which is copied. If error is NULL, the function only returns status. */
TAPER_API TAPER_EXPERIMENTAL taper_status taper_error_set(taper_error *error, taper_status status, const char *message);

#ifdef __cplusplus
}
#endif
#endif
