// SPDX-License-Identifier: BSD-2-Clause
// Finds the functions that a saved draft needs: the methods of the root, and the methods that these call by name. A
// call may mean the method of that name in any class. The time is linear in the number of nodes, because the functions
// of a name are removed from the index at the first call of that name.
#include "base/hash.h"
#include "runtime/draft.h"

typedef struct reach {
    taper_model *model;
    // Hash table of functions by method name. A bucket of `heads` is a list of functions, which `next` links. Entries
    // are 1 + the number of a function; 0 ends a list.
    uint32_t *heads, *next;
    uint32_t *work;
    uint8_t *reached;
    size_t buckets, count;
} reach;

static size_t bucket_of(const reach *r, const char *method)
{
    return (size_t)taper_hash_keyed(taper_hash_seed(r), method, strlen(method)) & (r->buckets - 1);
}

static void enter(reach *r, size_t function)
{
    if (r->model->functions[function].graph != NULL && !r->reached[function]) {
        r->reached[function] = 1;
        r->work[r->count++] = (uint32_t)function;
    }
}

static void call(reach *r, const char *method)
{
    for (uint32_t *at = &r->heads[bucket_of(r, method)]; *at != 0;) {
        const uint32_t function = *at - 1;
        if (strcmp(r->model->functions[function].method, method) == 0) {
            *at = r->next[function];
            enter(r, function);
        } else {
            at = &r->next[function];
        }
    }
}

static void look_for_calls(reach *r, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (node->kind == TAPER_NODE_CALL) {
            call(r, node->name);
        }
        for (size_t b = 0; b < node->block_count; b++) {
            look_for_calls(r, node->blocks[b]);
        }
    }
}

static void walk(reach *r)
{
    const size_t functions = r->model->function_count;
    for (size_t i = 0; i < functions; i++) {
        uint32_t *head = &r->heads[bucket_of(r, r->model->functions[i].method)];
        r->next[i] = *head;
        *head = (uint32_t)i + 1;
        if (r->model->functions[i].of_root) {
            enter(r, i);
        }
    }
    while (r->count != 0) {
        look_for_calls(r, r->model->functions[r->work[--r->count]].graph->body);
    }
    for (size_t i = 0; i < functions; i++) {
        if (!r->reached[i]) {
            taper_graph_destroy(r->model->functions[i].graph);
            r->model->functions[i].graph = NULL;
        }
    }
}

taper_status taper_draft_drop_uncalled(taper_draft *draft, taper_error *error)
{
    const taper_allocator *allocator = draft->model->allocator;
    const size_t functions = draft->model->function_count;
    reach r = {.model = draft->model, .buckets = 16};
    while (r.buckets < functions) { // does not overflow: there are at most TAPER_LIMIT_FUNCTIONS functions
        r.buckets *= 2;
    }
    const size_t bytes = (r.buckets + 2 * functions) * sizeof *r.heads + functions;
    r.heads = taper_alloc_zeroed(allocator, bytes);
    if (r.heads == NULL) {
        return taper_fail_memory(error);
    }
    r.next = r.heads + r.buckets;
    r.work = r.next + functions;
    r.reached = (uint8_t *)(r.work + functions);
    walk(&r);
    taper_free(allocator, r.heads, bytes);
    return TAPER_OK;
}
