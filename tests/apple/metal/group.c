// SPDX-License-Identifier: BSD-2-Clause
// Runs a workgroup: its threads take turns, in an order that varies between groups.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "metal/kernels.h"

// The largest stack frame of a kernel has 340 KB (WINOGRAD_OUT_ANY by clang -O1, where inlined functions do not share
// stack slots). A guard page below each stack (16 KB, the page size of some machines) makes a stack overflow fail
// immediately on all machines.
enum { MOST_THREADS = 256, STACK = 768 * 1024, GUARD = 16 * 1024 };

uint32_t metal_constants[METAL_CONSTANTS];
static ucontext_t scheduler, fibers[MOST_THREADS];
static char *stacks;
static bool done[MOST_THREADS];
static metal_position positions[MOST_THREADS];
static unsigned running;
static const metal_kernel *now;
static void *const *now_buffers;

uint64_t metal_hash(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static void fiber(void)
{
    now->run(now_buffers, &positions[running]);
    done[running] = true;
}

void metal_wait(void)
{
    swapcontext(&fibers[running], &scheduler);
}

static void make_stacks(void)
{
    const size_t bytes = (size_t)MOST_THREADS * STACK;
    stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stacks == MAP_FAILED) {
        perror("stacks of a group's threads");
        abort();
    }
    for (size_t at = 0; at < bytes; at += STACK) {
        if (mprotect(stacks + at, GUARD, PROT_NONE) != 0) {
            perror("guards of a group's stacks");
            abort();
        }
    }
}

void metal_run_group(const metal_kernel *kernel, void *const *buffers, const uint32_t group[3],
                     const uint32_t threads[3])
{
    static uint32_t seed = 1;
    const unsigned count = threads[0] * threads[1] * threads[2];
    unsigned order[MOST_THREADS], left = count;
    if (count > MOST_THREADS) {
        fprintf(stderr, "%u threads in a group\n", count);
        abort();
    }
    if (stacks == NULL) {
        make_stacks();
    }
    now = kernel;
    now_buffers = buffers;
    for (unsigned i = 0; i < count; i++) {
        metal_position *p = &positions[i];
        const uint32_t at[3] = {i % threads[0], i / threads[0] % threads[1], i / threads[0] / threads[1]};
        for (unsigned d = 0; d < 3; d++) {
            p->group[d] = group[d];
            p->local[d] = at[d];
            p->grid[d] = group[d] * threads[d] + at[d];
        }
        p->index = i;
        done[i] = false;
        getcontext(&fibers[i]);
        fibers[i].uc_stack.ss_sp = stacks + (size_t)i * STACK + GUARD;
        fibers[i].uc_stack.ss_size = STACK - GUARD;
        fibers[i].uc_link = &scheduler;
        makecontext(&fibers[i], fiber, 0);
        order[i] = i;
    }
    for (unsigned i = count; i > 1; i--) {
        seed = seed * 1664525 + 1013904223;
        const unsigned j = (seed >> 8) % i, other = order[j];
        order[j] = order[i - 1];
        order[i - 1] = other;
    }
    while (left != 0) { // each thread runs up to its next barrier
        unsigned ended = 0;
        for (unsigned i = 0; i < count; i++) {
            running = order[i];
            if (!done[running]) {
                swapcontext(&scheduler, &fibers[running]);
                ended += done[running];
            }
        }
        if (ended != 0 && ended != left) {
            fprintf(stderr, "threads of a group wait for some that have ended\n");
            abort();
        }
        left -= ended;
    }
}
