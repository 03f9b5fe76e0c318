// SPDX-License-Identifier: BSD-2-Clause
// Keeps and frees the histories of tensors.
#include "ir/history.h"


taper_history *taper_history_need(taper_tensor *tensor)
{
    if (tensor->history == NULL) {
        tensor->history = taper_heap_alloc(tensor->head.heap, sizeof *tensor->history);
        if (tensor->history != NULL) {
            *tensor->history = (taper_history){.version = tensor->storage->version};
        }
    }
    return tensor->history;
}

taper_status taper_history_set(taper_tensor *tensor, taper_obj *node, uint32_t output, taper_error *error)
{
    taper_history *const history = taper_history_need(tensor);
    if (history == NULL) {
        return taper_fail_memory(error);
    }
    taper_obj *const old = history->node;
    if (node != NULL) {
        taper_obj_retain(node);
    }
    history->node = node;
    history->output = output;
    history->version = tensor->storage->version;
    if (old != NULL) {
        taper_obj_release(old);
    }
    return TAPER_OK;
}

void taper_history_drop(taper_tensor *tensor)
{
    taper_history *const history = tensor->history;
    tensor->history = NULL;
    if (history == NULL) {
        return;
    }
    if (history->node != NULL) {
        taper_obj_release(history->node);
    }
    if (history->base != NULL) {
        taper_obj_release(&history->base->head);
    }
    if (history->grad != NULL) {
        taper_obj_release(&history->grad->head);
    }
    taper_heap_free(tensor->head.heap, history, sizeof *history);
}
