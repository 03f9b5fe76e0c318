// SPDX-License-Identifier: BSD-2-Clause
// Implements taper_model_open of taper_compile.h. The function is in a file of its own, because a program that links
// this object also links the compiler.
#include <taper/taper_compile.h>

#include "base/arguments.h"

taper_status taper_model_open(taper_context *context, const char *path, const taper_load_options *options,
                              taper_model **model, taper_error *error)
{
    taper_load_options full = {.struct_size = sizeof full, .flags = TAPER_LOAD_EVALUATION};
    TAPER_NEED_OUT(model, error);
    if (options != NULL) {
        TAPER_TRY(taper_struct_read(options, "taper_load_options", &full, sizeof full, error));
        full.struct_size = sizeof full;
    }
    full.compiler = taper_compiler();
    return taper_model_load(context, path, &full, model, error);
}
