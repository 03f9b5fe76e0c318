// SPDX-License-Identifier: BSD-2-Clause
// The data that recordings share: see gpu_state.h.
#include "backends/gpu/gpu_state.h"

#include <string.h>

taper_status taper_gpu_status(taper_status status, taper_error *error)
{
    return status == TAPER_ERROR_RESOURCE ? taper_fail_memory(error) : status;
}

taper_status taper_gpu_pipeline_make(taper_gpu_state *s, taper_gpu_made_pipeline *made)
{
    taper_gpu_shader shader;
    TAPER_TRY(taper_gpu_shader_load(s->allocator, s->api->shaders, made->kernel, made->texels, &shader));
    taper_mutex_lock(s->make_lock);
    const taper_status status =
        s->api->pipeline_new(s->gpu, &shader, made->constants, TAPER_GPU_CONSTANTS, &made->pipeline);
    taper_mutex_unlock(s->make_lock);
    taper_gpu_shader_free(s->allocator, &shader);
    return status;
}

taper_status taper_gpu_pipeline_get(taper_gpu_state *state, taper_gpu_kernel kernel, bool texels,
                                    const uint32_t *constants, taper_gpu_pipeline **pipeline)
{
    for (taper_gpu_made_pipeline *p = state->pipelines; p != NULL; p = p->next) {
        if (p->kernel == kernel && p->texels == texels && memcmp(p->constants, constants, sizeof p->constants) == 0) {
            *pipeline = p->pipeline;
            return TAPER_OK;
        }
    }
    taper_gpu_made_pipeline *made = taper_alloc_zeroed(state->allocator, sizeof *made);
    if (made == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    made->kernel = kernel;
    made->texels = texels;
    memcpy(made->constants, constants, sizeof made->constants);
    const taper_status status = taper_gpu_pipeline_make(state, made);
    if (status != TAPER_OK) {
        taper_free(state->allocator, made, sizeof *made);
        return status;
    }
    made->next = state->pipelines;
    state->pipelines = made;
    state->pipeline_count++;
    *pipeline = made->pipeline;
    return TAPER_OK;
}

void taper_gpu_state_free(taper_gpu_state *state)
{
    while (state->pipelines != NULL) {
        taper_gpu_made_pipeline *p = state->pipelines;
        state->pipelines = p->next;
        state->api->pipeline_free(state->gpu, p->pipeline);
        taper_free(state->allocator, p, sizeof *p);
    }
    if (state->gpu != NULL) {
        state->api->close(state->gpu);
        state->gpu = NULL;
    }
    taper_mutex_destroy(state->lock);
    taper_mutex_destroy(state->make_lock);
    state->lock = state->make_lock = NULL;
}
