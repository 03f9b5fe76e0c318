// SPDX-License-Identifier: BSD-2-Clause
// Runs of a compiled network: inputs and outputs lie one after the other in one memory, which the driver maps where it
// can. One thread at a time.
#ifndef TAPER_BACKENDS_EXECUTION_H
#define TAPER_BACKENDS_EXECUTION_H

#include "backends/nnapi/compilation.h"

// An input or an output.
typedef struct taper_nnapi_port {
    int32_t type;
    uint32_t rank, sizes[TAPER_MAX_RANK]; // in NNAPI's order; of an output those of the last run
    uint32_t declared[TAPER_MAX_RANK];    // as the network has them: 0: only the run tells
    bool open;                            // some are 0
    size_t item, at, bytes;               // of an element; in the memory; the room there
} taper_nnapi_port;

typedef struct taper_nnapi_execution {
    const taper_allocator *allocator;
    ANeuralNetworksCompilation *compilation;
    taper_nnapi_port *ports; // inputs, then outputs
    uint32_t in_count, out_count;
    taper_nnapi_memory memory;
    ANeuralNetworksBurst *burst;         // NULL: without
    ANeuralNetworksExecution *execution; // one that runs again; NULL: each run has its own
} taper_nnapi_execution;

// TAPER_DECLINED: sizes that no driver of this level could do; *why, a static text. On failure nothing is left.
TAPER_MUST_USE taper_status taper_nnapi_execution_create(taper_nnapi_driver *driver, const taper_allocator *allocator,
                                                         const taper_network *network,
                                                         const taper_nnapi_compiled *compiled,
                                                         taper_nnapi_execution *made, const char **why,
                                                         taper_error *error);
void taper_nnapi_execution_free(const taper_nnapi_driver *driver, taper_nnapi_execution *execution); // none is fine

// What input i is read from; output i, after a run.
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
