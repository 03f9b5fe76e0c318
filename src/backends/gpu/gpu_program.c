// SPDX-License-Identifier: BSD-2-Clause
// Programs grow: see gpu_program.h.
#include "backends/gpu/gpu_program.h"

#include <string.h>

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
