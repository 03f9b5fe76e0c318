/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Gradients that the program asks for after runs, as torch.autograd.grad computes them. All functions are experimental.
 * Models whose methods compute gradients themselves need none of them. The conventions of taper.h hold here.
 *
 *     load the model with TAPER_LOAD_GRADIENTS, and create a session
 *     taper_value_require_gradient(positions, 1, error)
 *     taper_session_run(session, NULL, &positions, 1, &energy, error)
 *     taper_session_gradient(session, &energy, 1, &positions, 1, NULL, &gradient, error)
 *
 * A run records how its results follow from tensors that require a gradient. Results hold what was recorded for them,
 * which includes intermediate tensors, so release a result that is no longer needed. Gradients of results of several
 * runs, sessions and operators may be asked for together.
 *
 * A tensor that requires a gradient may be the input of several sessions in several threads at once. A build without
 * gradients (CMake: TAPER_WITH_GRADIENTS=OFF) has these functions; they fail with TAPER_ERROR_UNSUPPORTED.
 */
#ifndef TAPER_TAPER_GRADIENT_H
#define TAPER_TAPER_GRADIENT_H

#include <taper/taper.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Says that a gradient for the tensor will be asked for (wanted is 1), or that no gradient will be asked for (0), as
 * requires_grad_ does. A result of a recorded run requires a gradient if it depends on a tensor that does.
 * taper_tensor_info.requires_grad shows this. The function fails with TAPER_ERROR_ARGUMENT if the tensor has no
 * floating point or complex numbers, and if wanted is 0 for a result that was recorded. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_value_require_gradient(taper_value *value, int wanted,
                                                                                      taper_error *error);

/* Makes later runs of a session record (on is 1) or not (0), as torch.set_grad_enabled does. A session of a model that
 * was loaded with TAPER_LOAD_GRADIENTS records at first. The function fails with TAPER_ERROR_ARGUMENT if on is 1 for
 * any other model. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_session_record(taper_session *session, int on,
                                                                              taper_error *error);

/* Says how gradients are computed. If options is NULL, every member is NULL or 0. */
typedef struct taper_gradient_options {
    size_t struct_size; /* sizeof(taper_gradient_options) */
    /* For each output: a tensor of the output's sizes, with which its gradient begins, or NULL. NULL stands for the
     * number 1, for an output of one element. The whole array may be NULL. The name in PyTorch is grad_outputs. */
    taper_value *const *output_gradients;
    int keep_graph;   /* 1: keep what was recorded, so that gradients of these outputs can be asked for again */
    int create_graph; /* 1: record the computation too, for gradients of the gradients; keeps what was recorded */
    int allow_unused; /* 1: an input on which no output depends gets NULL; 0: such an input is an error */
} taper_gradient_options;

/* Computes the gradients of the sum of the outputs with respect to the inputs: gradients[i] is a new reference to a
 * tensor of the sizes of inputs[i]. On failure all of them are NULL. Inputs may be tensors that the program gave to
 * runs, and results that were recorded. The session computes the gradients, so no other thread may use it meanwhile.
 * The function fails with TAPER_ERROR_ARGUMENT and PyTorch's message if an output does not require a gradient, if an
 * input is unused, if a value that the computation needs was overwritten, and if what was recorded was freed by an
 * earlier call. */
TAPER_API TAPER_EXPERIMENTAL TAPER_MUST_USE taper_status taper_session_gradient(
    taper_session *session, taper_value *const *outputs, size_t output_count, taper_value *const *inputs,
    size_t input_count, const taper_gradient_options *options, taper_value **gradients, taper_error *error);

#ifdef __cplusplus
}
#endif

#endif
