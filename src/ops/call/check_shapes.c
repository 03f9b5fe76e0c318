// SPDX-License-Identifier: BSD-2-Clause
// Compares the shape rules with the results of operators. The file is empty without TAPER_CHECK_SHAPES.
#include "ops/call/check_shapes.h"

typedef int taper_check_shapes_unused; // ISO C requires a declaration in every file

#ifdef TAPER_CHECK_SHAPES

// Removes facts about the arguments. Level 0 keeps everything, 1 removes sizes, 2 also ranks, 3 also numbers.
static void forget(taper_known_call *m, int level)
{
    for (size_t i = 0; i < m->shape_count && level > 0; i++) {
        taper_shape *shape = &m->shapes[i];
        for (int d = 0; d < shape->rank; d++) {
            shape->sizes[d] = TAPER_UNKNOWN;
        }
        if (level > 1) {
            shape->like = (const void *)(uintptr_t)(1 + shape->rank);
            shape->rank = -1;
        }
    }
    for (size_t i = 0; i < m->int_count && level == 3; i++) {
        m->ints[i] = TAPER_UNKNOWN;
    }
    for (size_t i = 0; i < m->count && level == 3; i++) {
        if (m->args[i].kind == TAPER_KNOWN_VALUE) {
            m->args[i].kind = TAPER_KNOWN_NOTHING;
        }
    }
}

void taper_shape_check_begin(taper_shape_check *check, const taper_call *call)
{
    check->checks =
        call->schema != NULL && call->op != NULL && call->arg_count <= TAPER_KNOWN_ARGUMENTS && call->ret_count != 0;
    for (int level = 0; check->checks && level < TAPER_SHAPE_CHECKS; level++) {
        taper_known_call m;
        m.count = m.shape_count = m.int_count = 0;
        for (size_t i = 0; i < call->arg_count; i++) {
            taper_know_val(&m, call->args[i]);
        }
        forget(&m, level);
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
