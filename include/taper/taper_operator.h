/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Single operators: calls operators of the library outside a model, and adds operators that models call. All of it is
 * experimental. docs/supported-ops.md lists the operators; they are PyTorch's and do what PyTorch's do. The conventions
 * of taper.h hold here.
 */
#ifndef TAPER_TAPER_OPERATOR_H
#define TAPER_TAPER_OPERATOR_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calling operators ---- */

/* An operator that was found, to be called any number of times by one thread at a time; one operator may have several
 * handles. A handle keeps its context. A callback of the host within a call must not release the handle; a call that
 * the callback makes with it is TAPER_ERROR_ARGUMENT. */
typedef struct taper_operator taper_operator;

/* Finds an operator by its name: "aten::add.Tensor", or "aten::relu" if it has no overload name. name may also be a
 * whole schema, "aten::relu(Tensor self) -> Tensor", which must be the library's own except for blanks. An operator
 * that this build does not have is TAPER_ERROR_UNSUPPORTED; the detail of the error lists the overloads of that name.
 */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_find(taper_context *context, const char *name,
                                                                             taper_operator **op, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_operator_release(taper_operator *op);
/* Returns the schema, "aten::relu(Tensor self) -> Tensor". It belongs to the handle. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_operator_schema(const taper_operator *op);
/* Returns the number of results of a call. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_operator_result_count(const taper_operator *op);
/* Seeds the random numbers of the handle, as torch.manual_seed does. Each handle has random numbers of its own. */
TAPER_API TAPER_EXPERIMENTAL void taper_operator_seed(taper_operator *op, uint64_t seed);

/* A source of random numbers that handles and sessions share, as all of PyTorch shares its default generator: the same
 * seed and the same order of calls give PyTorch's numbers. Any thread may use it; one operator at a time draws from it.
 * Handles and sessions keep the generator that they draw from. */
typedef struct taper_generator taper_generator;
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_generator_create(taper_context *context, uint64_t seed,
                                                                                taper_generator **generator,
                                                                                taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_generator_release(taper_generator *generator);
TAPER_API TAPER_EXPERIMENTAL void taper_generator_seed(taper_generator *generator, uint64_t seed);
/* Makes a handle draw from the generator from its next call on; NULL: from its own source again. The operator must not
 * be in a call. */
TAPER_API TAPER_EXPERIMENTAL void taper_operator_draw_from(taper_operator *op, taper_generator *generator);
/* Makes a session draw from the generator from its next run on; NULL: from its own source again. Within a run of the
 * session it does nothing. */
TAPER_API TAPER_EXPERIMENTAL void taper_session_draw_from(taper_session *session, taper_generator *generator);

/* Calls an operator. args are in the order of the schema, keyword arguments included; missing arguments at the end take
 * their default values, and NULL is None. A float may be given as an int and an int[2] as an int; every other argument
 * has the type of the schema, or the call is TAPER_ERROR_ARGUMENT and the message names the argument.
 * results has room for result_count new references, which must be the number of the operator's results. A tensor that
 * the operator writes to is written in place; if it is read-only, the result is a copy. Results may be views of
 * arguments, as in PyTorch. The call cannot be cancelled. The context keeps the memory of results for later ones. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_call(taper_operator *op,
                                                                             taper_value *const *args, size_t count,
                                                                             taper_value **results, size_t result_count,
                                                                             taper_error *error);

/* Makes an argument of type int[]. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_list_int(taper_context *context,
                                                                              const int64_t *numbers, size_t count,
                                                                              taper_value **value, taper_error *error);

/* ---- adding operators ---- */

/* Does the work of an operator.
 * args are as many as the schema has, of its types, with default values filled in. They are borrowed: retain those that
 * you keep. Only a tensor that the schema marks as written, (a!), may be written to.
 * results has a place for each result, which is NULL at first. The function puts a new reference into each place, or
 * fails; what it left there on failure is released. Make values with `context`: values of another context are refused.
 * error may be NULL; it is for functions that this one calls and for taper_error_set.
 * The function is called in the thread of the run, and in several threads at once if models run in several. Calls of
 * the session that called it are TAPER_ERROR_ARGUMENT (see taper_session_create). The status that it returns is that of
 * the run. */
typedef taper_status (*taper_operator_function)(void *user, taper_context *context, taper_value *const *args,
                                                size_t count, taper_value **results, size_t result_count,
                                                taper_error *error);

/* Adds an operator for all contexts of the process, for good. Call it before a model that uses the operator is loaded.
 * Files .pt and .ptl call it by its name, as they call operators of torch.library, and taper_operator_find finds it.
 * schema is copied: "my_ops::warp(Tensor image, Tensor flow, float scale=1.0) -> Tensor". Several operators of one name
 * have overload names: "my_ops::warp.flow(…". Arguments that are written to are marked: "scale_(Tensor(a!) self) ->
 * Tensor(a!)". Types are numbers, str, Device, Tensor, and lists, tuples, Dict( , ) and optionals (?) of these.
 * TAPER_ERROR_ARGUMENT: the schema is wrong, or the name is that of an operator of Taper or was added before.
 * The optimizer never leaves out, moves or folds a call of the operator and assumes that its results may be views of
 * anything. A result that is missing or of another type ends the run with an error. Any thread may call this function;
 * user is passed to `function`. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_register(const char *schema,
                                                                                 taper_operator_function function,
                                                                                 void *user, taper_error *error);

/* Sets status and message of an error, for functions that are added. The message is copied; one line. Returns status.
 */
TAPER_API TAPER_EXPERIMENTAL taper_status taper_error_set(taper_error *error, taper_status status, const char *message);

#ifdef __cplusplus
}
#endif
#endif
