// SPDX-License-Identifier: BSD-2-Clause
// The kernels of Metal as functions of C++ (kernels.py makes them, msl.h is their language), and the stand-in's faults.
#ifndef TAPER_TEST_METAL_KERNELS_H
#define TAPER_TEST_METAL_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum { METAL_BUFFERS = 5, METAL_CONSTANTS = 22 };

#ifdef __cplusplus
extern "C" {
#endif

typedef struct metal_position {
    uint32_t grid[3], group[3], local[3], index;
} metal_position;

typedef struct metal_kernel {
    uint64_t source;                                                   // metal_hash of it
    void (*run)(void *const *buffers, const metal_position *position); // one thread
} metal_kernel;

extern const metal_kernel metal_kernels[];
extern const size_t metal_kernel_count;
extern uint32_t metal_constants[METAL_CONSTANTS]; // of the kernel that runs

uint64_t metal_hash(const char *text, size_t length); // FNV-1a

// All threads of a workgroup, in any order, each on a stack of its own, since they wait for each other (group.c).
void metal_run_group(const metal_kernel *kernel, void *const *buffers, const uint32_t group[3],
                     const uint32_t threads[3]);
void metal_wait(void); // threadgroup_barrier

// What goes wrong from now on.
typedef enum metal_fault {
    METAL_RIGHT,
    METAL_NO_DEVICE,
    METAL_NO_QUEUE,
    METAL_NO_BUFFER,
    METAL_NO_LIBRARY,  // the compiler says an error
    METAL_NO_FUNCTION, // the same of a constant's value
    METAL_NO_PIPELINE,
    METAL_FEW_THREADS, // of a group of a pipeline
    METAL_NO_ENCODER,
    METAL_ERROR,        // in a command buffer
    METAL_NOT_PERMITTED // the same: the app is in the background
} metal_fault;
extern metal_fault metal_fault_now;
size_t metal_alive(void); // objects

#ifdef __cplusplus
}
#endif

#endif
