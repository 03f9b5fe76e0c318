// SPDX-License-Identifier: BSD-2-Clause
// The thread that makes pipelines: see gpu_maker.h. It holds the lock while it reads the lists of requests and of
// pipelines, but not while the driver works.
#include "backends/gpu/gpu_maker.h"

#include <string.h>

typedef struct taper_gpu_wish {
    struct taper_gpu_wish *next;
    taper_gpu_made_pipeline *made; // pipeline to be made; its kernel and constants are set
} wish;

static void drop_first(taper_gpu_state *s)
{
    wish *w = s->wishes;
    s->wishes = w->next;
    if (w->made != NULL) {
        taper_free(s->allocator, w->made, sizeof *w->made);
    }
    taper_free(s->allocator, w, sizeof *w);
}

static bool is_same(const taper_gpu_made_pipeline *p, taper_gpu_kernel kernel, bool texels, const uint32_t *constants)
{
    return p->kernel == kernel && p->texels == texels && memcmp(p->constants, constants, sizeof p->constants) == 0;
}

bool taper_gpu_wish_pipeline(taper_gpu_state *s, taper_gpu_kernel kernel, bool texels, const uint32_t *constants)
{
    for (const taper_gpu_made_pipeline *p = s->pipelines; p != NULL; p = p->next) {
        if (is_same(p, kernel, texels, constants)) {
            return true;
        }
    }
    wish **last = &s->wishes;
    for (; *last != NULL; last = &(*last)->next) {
        if (is_same((*last)->made, kernel, texels, constants)) {
            return false;
        }
    }
    wish *w = taper_alloc_zeroed(s->allocator, sizeof *w);
    taper_gpu_made_pipeline *made = taper_alloc_zeroed(s->allocator, sizeof *made);
    if (w == NULL || made == NULL) { // if memory is missing, the pipeline is made when it is needed
        taper_free(s->allocator, w, sizeof *w);
        taper_free(s->allocator, made, sizeof *made);
        return false;
    }
    made->kernel = kernel;
    made->texels = texels;
    memcpy(made->constants, constants, sizeof made->constants);
    w->made = made;
    *last = w;
    return false;
}

static void work(void *user)
{
    taper_gpu_state *s = user;
    taper_mutex_lock(s->lock);
    while (s->wishes != NULL && !s->stops_making) {
        taper_gpu_made_pipeline *made = s->wishes->made;
        taper_mutex_unlock(s->lock);
        const taper_status status = taper_gpu_pipeline_make(s, made);
        taper_mutex_lock(s->lock);
        if (status == TAPER_OK) {
            made->next = s->pipelines;
            s->pipelines = made;
            s->pipeline_count++;
            s->wishes->made = NULL;
        }
        drop_first(s);
    }
    while (s->wishes != NULL) {
        drop_first(s);
    }
    s->makes = false;
    taper_mutex_unlock(s->lock);
}

bool taper_gpu_make_wishes(taper_gpu_state *s)
{
    if (s->wishes == NULL || s->makes) {
        return true;
    }
    taper_background_join(s->maker); // the thread has ended, so joining does not wait
    s->maker = NULL;
    s->makes = taper_background_start(s->allocator, work, s, &s->maker);
    while (!s->makes && s->wishes != NULL) {
        drop_first(s);
    }
    return s->makes;
}

void taper_gpu_stop_making(taper_gpu_state *s)
{
    taper_mutex_lock(s->lock);
    s->stops_making = true;
    taper_mutex_unlock(s->lock);
    taper_background_join(s->maker);
    s->maker = NULL;
}
