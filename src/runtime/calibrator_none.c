// SPDX-License-Identifier: BSD-2-Clause
// Replaces calibrator.c in builds without drafts (TAPER_WITH_DRAFTS is off). Creating a calibrator fails with an error
// that says that this build has no drafts. The other functions therefore never get a calibrator.
#include <taper/taper_compile.h>

#include "base/arguments.h"

static TAPER_COLD taper_status no_calibrator(taper_error *error)
{
    TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED,
               "this build of Taper runs models and does not quantize them: do it on a computer (`taper quantize`), or "
               "build with -DTAPER_WITH_DRAFTS=ON");
}

taper_status taper_calibrator_load(taper_context *context, const char *path, const taper_load_options *load,
                                   const taper_quantize_options *options, taper_calibrator **calibrator,
                                   taper_error *error)
{
    (void)context, (void)path, (void)load, (void)options;
    TAPER_NEED_OUT(calibrator, error);
    return no_calibrator(error);
}

taper_status taper_calibrator_load_memory(taper_context *context, const void *bytes, size_t size,
                                          const taper_load_options *load, const taper_quantize_options *options,
                                          taper_calibrator **calibrator, taper_error *error)
{
    (void)context, (void)bytes, (void)size, (void)load, (void)options;
    TAPER_NEED_OUT(calibrator, error);
    return no_calibrator(error);
}

void taper_calibrator_release(taper_calibrator *calibrator)
{
    (void)calibrator;
}

taper_model *taper_calibrator_model(const taper_calibrator *calibrator)
{
    (void)calibrator;
    return NULL;
}

taper_status taper_calibrator_run(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                  taper_error *error)
{
    (void)calibrator, (void)inputs, (void)count;
    return no_calibrator(error);
}

taper_status taper_calibrator_finish(taper_calibrator *calibrator, taper_draft **draft, taper_error *error)
{
    (void)calibrator;
    TAPER_NEED_OUT(draft, error);
    return no_calibrator(error);
}

taper_status taper_calibrator_compare(taper_calibrator *calibrator, taper_value *const *inputs, size_t count,
                                      taper_error *error)
{
    (void)calibrator, (void)inputs, (void)count;
    return no_calibrator(error);
}

size_t taper_calibrator_layer_count(const taper_calibrator *calibrator)
{
    (void)calibrator;
    return 0;
}

taper_status taper_calibrator_layer(const taper_calibrator *calibrator, size_t index, taper_quantized_layer *layer,
                                    taper_error *error)
{
    (void)calibrator, (void)index, (void)layer;
    return no_calibrator(error);
}

double taper_calibrator_sqnr(const taper_calibrator *calibrator)
{
    (void)calibrator;
    return 0;
}

int taper_calibrator_input(const taper_calibrator *calibrator, size_t index, double *scale, int64_t *zero_point)
{
    (void)calibrator, (void)index, (void)scale, (void)zero_point;
    return 0;
}
