// SPDX-License-Identifier: BSD-2-Clause
// Reads the shapes of forward's inputs for a conversion, and adds the check at the start of every run: the converted
// file is valid only for these sizes.
#include <stdio.h>

#include "backends/nnapi/convert/convert.h"
#include "ops/call/emit.h"
#include "ops/engine/matmul.h"

taper_shape taper_nnapi_sample_shape(const taper_value *sample, taper_nnapi_sizes free_sizes)
{
    taper_shape shape = sample->val.tag == TAPER_TENSOR ? taper_shape_of(sample->val.as.tensor) : taper_shape_unknown();
    for (int d = 0; d < shape.rank; d++) {
        const bool space = shape.rank == 4 && d >= 2;
        if (shape.sizes[d] == 0 || (free_sizes >= TAPER_NNAPI_ANY_BATCH && d == 0) ||
            (free_sizes == TAPER_NNAPI_ANY_SIZES && space)) {
            shape.sizes[d] = TAPER_UNKNOWN;
        }
    }
    return shape;
}

taper_status taper_nnapi_check_inputs(taper_compilation *compilation, taper_graph *graph, const taper_shape *inputs,
                                      size_t count)
{
    taper_node *const first = graph->body->first, *holder;
    taper_emitter e = {.registry = compilation->registry,
                       .heap = compilation->module->heap,
                       .graph = graph,
                       .error = compilation->error,
                       .debug = -1};
    TAPER_TRY(taper_node_create(graph, TAPER_NODE_IF, 0, 0, &holder, compilation->error));
    TAPER_TRY(taper_block_create(graph, holder, 0, &e.block, compilation->error));
    taper_block *const block = e.block;
    for (size_t i = 1; i < count; i++) { // parameter 0 is self
        int64_t sizes[TAPER_MAX_RANK];
        char text[512];
        bool any = false;
        for (int d = 0; d < inputs[i].rank; d++) {
            sizes[d] = inputs[i].sizes[d] == TAPER_UNKNOWN ? 0 : inputs[i].sizes[d];
            any = any || sizes[d] == 0;
        }
        if (inputs[i].rank >= 0) {
            (void)snprintf(
                text, sizeof text,
                "this model was converted for NNAPI with sizes %s%s of input %zu; convert it again for others",
                taper_shape_print((size_t)inputs[i].rank, sizes).text, any ? " (0: any)" : "", i - 1);
            TAPER_TRY(taper_emit_expect_sizes(&e, &graph->body->params[i], (size_t)inputs[i].rank, sizes, text));
        }
    }
    taper_block_inline_before(block, first);
    return TAPER_OK;
}
