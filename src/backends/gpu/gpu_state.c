// SPDX-License-Identifier: BSD-2-Clause
// What recordings share: see gpu_state.h.
#include "backends/gpu/gpu_state.h"

#include <string.h>

taper_status taper_gpu_status(taper_status status, taper_error *error)
{
    return status == TAPER_ERROR_RESOURCE ? taper_fail_memory(error) : status;
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
    taper_gpu_shader shader;
    taper_status status = taper_gpu_shader_load(state->allocator, state->api->shaders, kernel, texels, &shader);
    if (status == TAPER_OK) {
        status = state->api->pipeline_new(state->gpu, &shader, constants, TAPER_GPU_CONSTANTS, &made->pipeline);
        taper_gpu_shader_free(state->allocator, &shader);
    }
    if (status != TAPER_OK) {
        taper_free(state->allocator, made, sizeof *made);
        return status;
    }
    made->kernel = kernel;
    made->texels = texels;
    memcpy(made->constants, constants, sizeof made->constants);
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
    if (state->lock != NULL) {
        taper_mutex_destroy(state->lock);
        state->lock = NULL;
    }
}
