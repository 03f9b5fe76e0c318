// SPDX-License-Identifier: BSD-2-Clause
// Replaces draft.c in builds without drafts (TAPER_WITH_DRAFTS is off). Loading a draft fails with an error that says
// that this build has no drafts. The other functions therefore never get a draft.
#include <taper/taper_compile.h>

#include "base/arguments.h"

static TAPER_COLD taper_status no_drafts(taper_error *error)
{
    TAPER_FAIL(
        error, TAPER_ERROR_UNSUPPORTED,
        "this build of Taper runs models and does not write them: prepare them on a computer (`taper optimize`), "
        "or build with -DTAPER_WITH_DRAFTS=ON");
}

taper_status taper_draft_load(taper_context *context, const char *path, const taper_load_options *options,
                              taper_draft **draft, taper_error *error)
{
    (void)context, (void)path, (void)options;
    TAPER_NEED_OUT(draft, error);
    return no_drafts(error);
}

taper_status taper_draft_load_memory(taper_context *context, const void *bytes, size_t size,
                                     const taper_load_options *options, taper_draft **draft, taper_error *error)
{
    (void)context, (void)bytes, (void)size, (void)options;
    TAPER_NEED_OUT(draft, error);
    return no_drafts(error);
}

void taper_draft_release(taper_draft *draft)
{
    (void)draft;
}

taper_status taper_draft_optimize(taper_draft *draft, const taper_optimize_options *options, taper_error *error)
{
    (void)draft, (void)options;
    return no_drafts(error);
}

taper_status taper_draft_unbundle(taper_draft *draft, taper_error *error)
{
    (void)draft;
    return no_drafts(error);
}

taper_status taper_draft_bundle(taper_draft *draft, const char *method, taper_value *const *inputs, size_t count,
                                taper_error *error)
{
    (void)draft, (void)method, (void)inputs, (void)count;
    return no_drafts(error);
}

const taper_model *taper_draft_model(const taper_draft *draft)
{
    (void)draft;
    return NULL;
}

taper_status taper_draft_save(taper_draft *draft, const taper_save_options *options, taper_save_function write,
                              void *user, taper_error *error)
{
    (void)draft, (void)options, (void)write, (void)user;
    return no_drafts(error);
}

taper_status taper_draft_save_memory(taper_draft *draft, const taper_save_options *options, void **bytes, size_t *size,
                                     taper_error *error)
{
    (void)draft, (void)options;
    TAPER_NEED_OUT(bytes, error);
    TAPER_NEED(size, error);
    *size = 0;
    return no_drafts(error);
}

void taper_saved_free(taper_draft *draft, void *bytes, size_t size)
{
    (void)draft, (void)bytes, (void)size;
}

size_t taper_draft_node_count(const taper_draft *draft)
{
    (void)draft;
    return 0;
}

taper_status taper_draft_operators(taper_draft *draft, size_t *count, taper_error *error)
{
    (void)draft;
    TAPER_NEED(count, error);
    *count = 0;
    return no_drafts(error);
}

const char *taper_draft_operator_name(taper_draft *draft, size_t index)
{
    (void)draft, (void)index;
    return NULL;
}

size_t taper_draft_operator_calls(const taper_draft *draft, size_t index)
{
    (void)draft, (void)index;
    return 0;
}

taper_status taper_draft_print(taper_draft *draft, const char *method, taper_save_function write, void *user,
                               taper_error *error)
{
    (void)draft, (void)method, (void)write, (void)user;
    return no_drafts(error);
}

taper_status taper_draft_finish(taper_draft *draft, taper_model **model, taper_error *error)
{
    (void)draft;
    TAPER_NEED_OUT(model, error);
    return no_drafts(error);
}
