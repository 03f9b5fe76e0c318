// SPDX-License-Identifier: BSD-2-Clause
// Tells the host about the current node. If the node failed, tells its origin in the model. If there is an observer,
// shows the results of the node to the observer.
#include "frontend/torchscript/torchscript.h"
#include "ops/backend.h"
#include "runtime/session.h"

TAPER_COLD void taper_trace_node(const taper_module *module, const taper_node *node, taper_error *error)
{
#if TAPER_WITH_TORCHSCRIPT
    if (module->torchscript) {
        taper_torchscript_trace(module, (uint32_t)node->debug, error);
        return;
    }
#endif
    size_t low = 0, high = module->debug_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (module->debug[middle].handle < node->debug) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (node->debug >= 0 && low < module->debug_count && module->debug[low].handle == node->debug) {
        taper_error_add_detail(error, "Module hierarchy:%s\n", module->debug[low].text);
    } else {
        taper_error_add_detail(error, "in %s, instruction %u\n", node->block->graph->name, node->instruction);
    }
}

TAPER_COLD void taper_interpret_blame(const taper_frame_source *source, const taper_instruction *in,
                                      const taper_val *args)
{
    taper_run *run = source->run;
    taper_error *error = run->error;
    if (TAPER_DEVICES && in->segment != NULL && run->failed != NULL) { // one of the original nodes of a segment failed
        taper_trace_node(&source->model->module, run->failed, error);
        run->failed = NULL;
    } else {
        // For fused operators, the error describes only the arguments of the first operator, the layer. The arguments
        // of the other operators are not values of the program.
        const bool fused = in->segment != NULL && in->in_count > in->schema->arg_count;
        taper_call_blame(in->schema, args, fused ? in->schema->arg_count : in->in_count, error);
        taper_trace_node(&source->model->module, in->node, error);
    }
    // Repeats the message in the last line, as PyTorch does, because logs are often cut.
    if (source->model->module.torchscript) {
        taper_error_add_detail(error, "RuntimeError: %s\n", taper_error_message(error));
    }
}

taper_status taper_interpret_show(const taper_frame_source *source, const taper_node *node, const taper_val *values,
                                  size_t count)
{
    const taper_session *session = source->session;
    taper_run *run = source->run;
    const char *name = node->op_name != NULL              ? node->op_name
                       : node->kind == TAPER_NODE_SEGMENT ? node->segment->schema->text
                                                          : taper_node_kind_name((taper_node_kind)node->kind);
    // Shows the values of the nodes that the segment replaced.
    const taper_block *body = node->kind == TAPER_NODE_SEGMENT ? node->blocks[1] : NULL;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_settle(run, values[i]));
        taper_value *box = taper_box_new(run->heap, taper_val_retain(values[i]));
        if (box == NULL) {
            taper_val_release(values[i]);
            return taper_fail_memory(run->error);
        }
        const taper_observation observation = {.struct_size = sizeof observation,
                                               .method = node->block->graph->name,
                                               .value = node->outputs[i].id,
                                               .name = name,
                                               .name_length = strcspn(name, "("),
                                               .result = box,
                                               .source_value =
                                                   body != NULL ? body->results[i].value->id : node->outputs[i].id,
                                               .node = node};
        if (session->observe != NULL) { // session->observe is NULL if the observer has ended the observation
            session->observe(session->observe_user, &observation);
        }
        taper_value_release(box);
    }
    return TAPER_OK;
}
