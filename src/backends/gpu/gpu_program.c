// SPDX-License-Identifier: BSD-2-Clause
// Builds programs: see gpu_program.h.
#include "backends/gpu/gpu_program.h"

#include <string.h>

#include "base/hash.h"

void taper_gpu_program_free(taper_gpu_program *p)
{
    taper_free(p->allocator, p->memories, p->memory_capacity * sizeof *p->memories);
    taper_free(p->allocator, p->works, p->work_capacity * sizeof *p->works);
    taper_free(p->allocator, p->numbers, p->number_capacity * sizeof *p->numbers);
    p->memories = NULL;
    p->works = NULL;
    p->numbers = NULL;
    p->number_count = p->number_capacity = 0;
    p->memory_count = p->memory_capacity = p->work_count = p->work_capacity = 0;
}

taper_status taper_gpu_add_memory(taper_gpu_program *p, taper_gpu_place place, uint64_t bytes, uint32_t *number)
{
    TAPER_TRY(TAPER_GROW(p->allocator, p->memories, p->memory_capacity, p->memory_count + 1, p->error));
    *number = (uint32_t)p->memory_count;
    p->memories[p->memory_count++] = (taper_gpu_memory){.place = place, .bytes = bytes, .first = TAPER_GPU_NONE};
    return TAPER_OK;
}

taper_status taper_gpu_add_work(taper_gpu_program *p, taper_gpu_work **work)
{
    TAPER_TRY(TAPER_GROW(p->allocator, p->works, p->work_capacity, p->work_count + 1, p->error));
    *work = &p->works[p->work_count++];
    memset(*work, 0, sizeof **work);
    for (size_t i = 0; i < TAPER_GPU_BINDINGS; i++) {
        (*work)->buffers[i] = TAPER_GPU_NONE;
    }
    return TAPER_OK;
}

uint64_t taper_gpu_program_hash(const taper_gpu_state *s, const taper_gpu_program *p)
{
    uint64_t hash = s->shaders_hash;
    const uint64_t numbers[] = {s->gpu->vendor, s->gpu->device, s->gpu->driver,           s->reads_texels,
                                s->alias,       s->wide,        p->bytes[TAPER_GPU_ARENA]};
    hash = taper_hash(hash, numbers, sizeof numbers);
    hash = taper_hash(hash, s->gpu->name, strlen(s->gpu->name));
    for (size_t i = 0; i < p->work_count; i++) {
        const taper_gpu_work *w = &p->works[i];
        const uint32_t kernel = w->kernel;
        hash = taper_hash(hash, &kernel, sizeof kernel);
        hash = taper_hash(hash, w->constants, sizeof w->constants);
        hash = taper_hash(hash, w->threads, sizeof w->threads);
        hash = taper_hash(hash, &w->parameters, sizeof w->parameters);
    }
    return hash;
}
