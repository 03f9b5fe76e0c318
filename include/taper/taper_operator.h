/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Operators one by one: calling those of the library outside a model, and adding operators that models call. All of
 * it is experimental.
 * docs/supported-ops.md lists the operators; they are PyTorch's, and do what PyTorch's do.
 */
#ifndef TAPER_TAPER_OPERATOR_H
#define TAPER_TAPER_OPERATOR_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- calling operators ---- */

/* An operator, found once, to be called any number of times. Used by one thread at a time; several handles of one
 * operator are fine. A callback of the host within a call must not release the handle, and a call that it makes with
 * the handle is TAPER_ERROR_ARGUMENT. It keeps its context. */
typedef struct taper_operator taper_operator;

/* name: "aten::add.Tensor", or "aten::relu" where there is no overload name; or a whole schema, "aten::relu(Tensor
 * self) -> Tensor", which must then be the library's own but for blanks. TAPER_ERROR_UNSUPPORTED: there is no such
 * operator in this build; the error's detail lists the overloads of that name. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_find(taper_context *context, const char *name,
                                                                             taper_operator **op, taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_operator_release(taper_operator *op);
/* "aten::relu(Tensor self) -> Tensor". Borrowed from the handle. */
TAPER_API TAPER_EXPERIMENTAL const char *taper_operator_schema(const taper_operator *op);
/* How many results a call has. */
TAPER_API TAPER_EXPERIMENTAL size_t taper_operator_result_count(const taper_operator *op);
/* What random operators draw from begins anew, as torch.manual_seed has it. Each handle has a source of its own. */
TAPER_API TAPER_EXPERIMENTAL void taper_operator_seed(taper_operator *op, uint64_t seed);

/* A source of random numbers that handles and sessions draw from in turn, as all of PyTorch draws from its default
 * generator: the same seed and the same order of calls give PyTorch's numbers. Any thread; one operator draws at a
 * time. Counted: who draws from it keeps it. */
typedef struct taper_generator taper_generator;
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_generator_create(taper_context *context, uint64_t seed,
                                                                                taper_generator **generator,
                                                                                taper_error *error);
TAPER_API TAPER_EXPERIMENTAL void taper_generator_release(taper_generator *generator);
TAPER_API TAPER_EXPERIMENTAL void taper_generator_seed(taper_generator *generator, uint64_t seed);
/* From its next call, or run, on. An operator must not be in a call; within a run of the session nothing happens.
 * generator NULL: its own source again. */
TAPER_API TAPER_EXPERIMENTAL void taper_operator_draw_from(taper_operator *op, taper_generator *generator);
TAPER_API TAPER_EXPERIMENTAL void taper_session_draw_from(taper_session *session, taper_generator *generator);

/* Arguments in the order of the schema, those for keywords too; missing ones at its end take their defaults; NULL is
 * None. A float may be given as an int, an int[2] as an int; all else has the schema's type, or the call ends in
 * TAPER_ERROR_ARGUMENT, which names the argument. results: room for result_count new references, as many as the
 * operator has. Tensors that it writes to are written in place, but for those that were given as read-only: then a copy
 * is the result. Results may be views of arguments, as in PyTorch. Nothing ends a call early. Memory that results had
 * is kept by the context for the next ones. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_call(taper_operator *op,
                                                                             taper_value *const *args, size_t count,
                                                                             taper_value **results, size_t result_count,
                                                                             taper_error *error);

/* An argument of type int[], made at once. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_list_int(taper_context *context,
                                                                              const int64_t *numbers, size_t count,
                                                                              taper_value **value, taper_error *error);

/* ---- adding operators ---- */

/* Does an operator's work. args are borrowed, as many as the schema has, of its types, defaults filled in: to be
 * retained where they are kept. results has a place for each result, NULL: it gives a new reference to each, or fails,
 * and what it left there is released. A tensor that the schema marks as written, (a!), is writable; no other argument
 * may be written to. context: to make values with; another context's will not do. It is called in the thread of the
 * run, and in several at once where models run in several; calls of the session that called it end in
 * TAPER_ERROR_ARGUMENT (see taper_session_create). error, which may be NULL: for functions it calls, and
 * taper_error_set. What it returns, TAPER_OK or why it failed, is the run's. */
typedef taper_status (*taper_operator_function)(void *user, taper_context *context, taper_value *const *args,
                                                size_t count, taper_value **results, size_t result_count,
                                                taper_error *error);

/* Adds an operator for all contexts of the process, for good. To be done before a model that calls it is loaded; .pt
 * and .ptl files call it by its name, as PyTorch does with those of torch.library, and taper_operator_find finds it.
 * schema: "my_ops::warp(Tensor image, Tensor flow, float scale=1.0) -> Tensor", copied; with an overload name,
 * "my_ops::warp.flow(…", there may be several of one name. Arguments that it writes to are marked: "scale_(Tensor(a!)
 * self) -> Tensor(a!)". Of numbers, str, Device, Tensor, and lists, tuples, Dict( , ) and optionals (?) of these.
 * TAPER_ERROR_ARGUMENT: it is no such schema, the name is one of Taper's own operators, or was registered before. A
 * call of it is never left out, moved or folded when a model is optimized, and its results may be views of anything.
 * A result that is missing or not of its type ends the run in an error. Any thread; user is passed on as it is. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_operator_register(const char *schema,
                                                                                 taper_operator_function function,
                                                                                 void *user, taper_error *error);

/* For such functions: what went wrong, copied, one line. Returns status. */
TAPER_API TAPER_EXPERIMENTAL taper_status taper_error_set(taper_error *error, taper_status status, const char *message);

#ifdef __cplusplus
}
#endif
#endif
