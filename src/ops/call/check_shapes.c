// SPDX-License-Identifier: BSD-2-Clause
// Holds the shape rules against what operators give; empty without TAPER_CHECK_SHAPES.
#include "ops/call/check_shapes.h"

typedef int taper_check_shapes_unused; // ISO C wants something in a file

#ifdef TAPER_CHECK_SHAPES

enum { MOST_ARGUMENTS = 24, MOST_ITEMS = 64 };

typedef struct memory {
    taper_known args[MOST_ARGUMENTS];
    taper_shape shapes[MOST_ARGUMENTS + MOST_ITEMS];
    int64_t ints[MOST_ARGUMENTS * TAPER_MAX_RANK];
    size_t shape_count, int_count;
} memory;

// level 0: everything; 1: no sizes; 2: no ranks; 3: no numbers either.
static const taper_shape *keep(memory *m, const taper_tensor *tensor, int level)
{
    taper_shape *shape = &m->shapes[m->shape_count++];
    *shape = taper_shape_of(tensor);
    for (size_t d = 0; d < tensor->rank && level > 0; d++) {
        shape->sizes[d] = TAPER_UNKNOWN;
    }
    if (level > 1) {
        shape->like = (const void *)(uintptr_t)(1 + tensor->rank);
        shape->rank = -1;
    }
    return shape;
}

static void know_list(memory *m, const taper_list *list, int level, taper_known *known)
{
    if (list->count == 0) {
        *known = (taper_known){.kind = TAPER_KNOWN_INTS, .ints = m->ints};
        return;
    }
    if (list->items[0].tag == TAPER_TENSOR && m->shape_count + list->count <= MOST_ITEMS) {
        *known = (taper_known){.kind = TAPER_KNOWN_TENSORS, .shapes = &m->shapes[m->shape_count], .count = list->count};
        for (size_t i = 0; i < list->count; i++) {
            if (list->items[i].tag != TAPER_TENSOR) {
                known->kind = TAPER_KNOWN_NOTHING;
                return;
            }
            (void)keep(m, list->items[i].as.tensor, level);
        }
    } else if (list->items[0].tag == TAPER_INT && list->count <= TAPER_MAX_RANK) {
        *known = (taper_known){.kind = TAPER_KNOWN_INTS, .ints = &m->ints[m->int_count], .count = list->count};
        for (size_t i = 0; i < list->count; i++) {
            m->ints[m->int_count++] = level == 3 ? TAPER_UNKNOWN : list->items[i].as.i;
        }
    }
}

static void know(memory *m, taper_val value, int level, taper_known *known)
{
    *known = (taper_known){.kind = TAPER_KNOWN_NOTHING};
    if (value.tag == TAPER_NONE) {
        known->kind = TAPER_KNOWN_NONE;
    } else if (value.tag == TAPER_TENSOR) {
        *known = (taper_known){.kind = TAPER_KNOWN_TENSOR, .shapes = keep(m, value.as.tensor, level), .count = 1};
    } else if (value.tag == TAPER_LIST) {
        know_list(m, value.as.list, level, known);
    } else if (level != 3) {
        *known = (taper_known){.kind = TAPER_KNOWN_VALUE, .value = value};
    }
}

void taper_shape_check_begin(taper_shape_check *check, const taper_call *call)
{
    check->checks =
        call->schema != NULL && call->op != NULL && call->arg_count <= MOST_ARGUMENTS && call->ret_count != 0;
    for (int level = 0; check->checks && level < TAPER_SHAPE_CHECKS; level++) {
        memory m;
        m.shape_count = m.int_count = 0;
        for (size_t i = 0; i < call->arg_count; i++) {
            know(&m, call->args[i], level, &m.args[i]);
        }
        check->shapes[level] = taper_infer(call->op, call->schema, m.args, call->arg_count);
    }
}

static bool agrees(const taper_shape *shape, const taper_tensor *tensor)
{
    if ((shape->dtype >= 0 && shape->dtype != tensor->dtype) ||
        (shape->rank >= 0 && shape->rank != (int)tensor->rank)) {
        return false;
    }
    if (shape->rank < 0 && shape->like != NULL && shape->like != (const void *)(uintptr_t)(1 + tensor->rank)) {
        return false;
    }
    for (int d = 0; d < shape->rank; d++) {
        if (shape->sizes[d] != TAPER_UNKNOWN && shape->sizes[d] != tensor->sizes[d]) {
            return false;
        }
    }
    return true;
}

static taper_status contradicts(const taper_call *call, const taper_shape *shape, int level, const taper_tensor *tensor)
{
    taper_text text = taper_text_make(taper_heap_allocator(call->run->heap));
    taper_text_format(&text, "the shape rule of %.*s (level %d) says rank %d, dtype %d, sizes",
                      (int)strcspn(call->schema->text, "("), call->schema->text, level, shape->rank, shape->dtype);
    for (int d = 0; d < shape->rank; d++) {
        taper_text_format(&text, " %lld", (long long)shape->sizes[d]);
    }
    taper_text_format(&text, "; the operator gave rank %d, dtype %d, sizes", (int)tensor->rank, (int)tensor->dtype);
    for (size_t d = 0; d < tensor->rank; d++) {
        taper_text_format(&text, " %lld", (long long)tensor->sizes[d]);
    }
    const taper_status status = taper_fail(call->run->error, TAPER_ERROR_INTERNAL, "%s", taper_text_get(&text));
    taper_text_free(&text);
    return status;
}

taper_status taper_shape_check_end(const taper_shape_check *check, const taper_call *call)
{
    for (int level = 0; check->checks && level < TAPER_SHAPE_CHECKS; level++) {
        const taper_shape *shape = &check->shapes[level];
        const taper_val value = call->rets[0];
        if (value.tag == TAPER_TENSOR && !agrees(shape, value.as.tensor)) {
            return contradicts(call, shape, level, value.as.tensor);
        }
        for (size_t i = 0; value.tag == TAPER_LIST && i < value.as.list->count; i++) {
            if (value.as.list->items[i].tag == TAPER_TENSOR && !agrees(shape, value.as.list->items[i].as.tensor)) {
                return contradicts(call, shape, level, value.as.list->items[i].as.tensor);
            }
        }
    }
    return TAPER_OK;
}

#endif
