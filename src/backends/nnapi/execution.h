// SPDX-License-Identifier: BSD-2-Clause
// Runs of a compiled network. Inputs and outputs are consecutive in one memory, which the driver maps if possible. Only
// one thread at a time may use an execution.
#ifndef TAPER_BACKENDS_EXECUTION_H
#define TAPER_BACKENDS_EXECUTION_H

#include "backends/nnapi/compilation.h"

// An input or an output of the network.
typedef struct taper_nnapi_port {
    int32_t type;
    uint32_t rank, sizes[TAPER_MAX_RANK]; // sizes in NNAPI's order; for an output, the sizes of the last run
    uint32_t declared[TAPER_MAX_RANK];    // sizes that the network declares; 0 for a size that only the run determines
    bool open;                            // true if a declared size is 0
    size_t item, at, bytes; // number of bytes of an element; offset in the memory; number of bytes reserved there
} taper_nnapi_port;

typedef struct taper_nnapi_execution {
    const taper_allocator *allocator;
    ANeuralNetworksCompilation *compilation;
    taper_nnapi_port *ports; // ports of the inputs, then of the outputs
    uint32_t in_count, out_count;
    taper_nnapi_memory memory;
    ANeuralNetworksBurst *burst;         // burst of executions, or NULL if bursts are not used
    ANeuralNetworksExecution *execution; // execution that is reused, or NULL if each run makes a new one
} taper_nnapi_execution;

// Makes an execution. Returns TAPER_DECLINED if drivers of this level cannot handle the sizes; *why is then a static
// text. On failure nothing is allocated.
TAPER_MUST_USE taper_status taper_nnapi_execution_create(taper_nnapi_driver *driver, const taper_allocator *allocator,
                                                         const taper_network *network,
                                                         const taper_nnapi_compiled *compiled,
                                                         taper_nnapi_execution *made, const char **why,
                                                         taper_error *error);
// Frees the execution. Does nothing for a zeroed struct.
void taper_nnapi_execution_free(const taper_nnapi_driver *driver, taper_nnapi_execution *execution);

// taper_nnapi_input returns the memory of input i, for the caller to write before a run. taper_nnapi_output returns the
// port of output i, which is valid after a run.
static inline char *taper_nnapi_input(const taper_nnapi_execution *execution, uint32_t i)
{
    return execution->memory.data + execution->ports[i].at;
}
static inline const taper_nnapi_port *taper_nnapi_output(const taper_nnapi_execution *execution, uint32_t i)
{
    return &execution->ports[execution->in_count + i];
}
TAPER_MUST_USE taper_status taper_nnapi_execution_run(taper_nnapi_driver *driver, taper_nnapi_execution *execution,
                                                      taper_error *error);

#endif
