// SPDX-License-Identifier: BSD-2-Clause
// The kernels of Metal as C++ functions, which kernels.py generates in the language of msl.h. Also declares the faults
// that the replacement of Metal can simulate.
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
    uint64_t source;                                                   // metal_hash of the kernel's source text
    void (*run)(void *const *buffers, const metal_position *position); // runs one thread of the kernel
} metal_kernel;

extern const metal_kernel metal_kernels[];
extern const size_t metal_kernel_count;
extern uint32_t metal_constants[METAL_CONSTANTS]; // function constants of the kernel that runs now

uint64_t metal_hash(const char *text, size_t length); // computes an FNV-1a hash

// Runs all threads of a workgroup, in any order. Each thread has its own stack, because threads wait for each other
// (group.c).
void metal_run_group(const metal_kernel *kernel, void *const *buffers, const uint32_t group[3],
                     const uint32_t threads[3]);
void metal_wait(void); // implements threadgroup_barrier

// The fault that is simulated from now on.
typedef enum metal_fault {
    METAL_RIGHT,
    METAL_NO_DEVICE,
    METAL_NO_QUEUE,
    METAL_NO_BUFFER,
    METAL_NO_LIBRARY,  // the compiler reports an error
    METAL_NO_FUNCTION, // the compiler reports an error about a constant's value
    METAL_NO_PIPELINE,
    METAL_FEW_THREADS, // a pipeline allows only few threads per group
    METAL_NO_ENCODER,
    METAL_ERROR,        // a command buffer fails
    METAL_NOT_PERMITTED // a command buffer fails because the app is in the background
} metal_fault;
extern metal_fault metal_fault_now;
size_t metal_alive(void); // returns the number of live objects

#ifdef __cplusplus
}
#endif

#endif
