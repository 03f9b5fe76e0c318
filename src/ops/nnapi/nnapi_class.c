// SPDX-License-Identifier: BSD-2-Clause
// _nnapi.Compilation: slot 0 holds None, then the tuple (serialized model, buffers). It is read anew in every run: next
// to the work of the model that costs nothing, and the object stays a plain value that can be copied with its session.
#include "ops/lang/torchbind.h"
#include "ops/nnapi/nnapi_cpu.h"

static taper_status tensor_list(taper_run *run, const taper_val *args, size_t count, size_t at, const char *name,
                                taper_list **list)
{
    if (at >= count || args[at].tag != TAPER_LIST) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' should be a list of Tensors, got %s", name,
                   at < count ? taper_val_kind_name(args[at]) : "nothing");
    }
    *list = args[at].as.list;
    return TAPER_OK;
}

// The parsed form lives for one call: its memory comes from the run's heap, which keeps the blocks for the next call.
static void *heap_reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    taper_heap *heap = user;
    if (new_size == 0) {
        taper_heap_free(heap, ptr, old_size);
        return NULL;
    }
    void *made = taper_heap_alloc(heap, new_size);
    if (made != NULL && ptr != NULL) {
        memcpy(made, ptr, taper_min_size(old_size, new_size));
        taper_heap_free(heap, ptr, old_size);
    }
    return made;
}

static taper_status compilation_parse(taper_run *run, const taper_tensor *serialized, taper_arena *arena,
                                      taper_nnapi_model *model)
{
    if (serialized->rank != 1 || serialized->dtype != TAPER_I32 || !taper_tensor_is_contiguous(serialized)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the serialized NNAPI model should be a contiguous vector of int32");
    }
    const size_t bytes = (size_t)taper_tensor_numel(serialized) * sizeof(int32_t);
    return taper_nnapi_parse(arena, taper_tensor_data(serialized), bytes, model, run->error);
}

// init(model, buffers), init2(model, buffers, preference, relax): the last two have no meaning on the CPU.
static taper_status compilation_init(taper_run *run, taper_object *object, const taper_val *args, size_t count)
{
    taper_list *buffers = NULL;
    if (count < 2 || args[0].tag != TAPER_TENSOR) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "init expects the serialized model and its buffers");
    }
    TAPER_TRY(tensor_list(run, args, count, 1, "parameter_buffers", &buffers));
    if (object->count != 0 && object->slots[0].tag != TAPER_NONE) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the NNAPI compilation was initialized before");
    }
    taper_arena arena;
    taper_nnapi_model model;
    taper_arena_init(&arena, taper_heap_allocator(run->heap));
    const taper_status status = compilation_parse(run, args[0].as.tensor, &arena, &model);
    taper_arena_free(&arena);
    TAPER_TRY(status);
    taper_tuple *tuple = taper_tuple_new(run->heap, NULL, 2);
    if (tuple == NULL) {
        return taper_fail_memory(run->error);
    }
    tuple->items[0] = taper_val_retain(args[0]);
    tuple->items[1] = taper_val_retain(args[1]);
    return taper_object_set(object, 0, TAPER_VAL(tuple), run->error);
}

static taper_status compilation_run(taper_run *run, const taper_object *object, const taper_val *args, size_t count)
{
    taper_list *inputs = NULL, *outputs = NULL;
    TAPER_TRY(tensor_list(run, args, count, 0, "inputs", &inputs));
    TAPER_TRY(tensor_list(run, args, count, 1, "outputs", &outputs));
    const taper_val state = object->count != 0 ? object->slots[0] : taper_val_none();
    if (state.tag != TAPER_TUPLE || state.as.tuple->count != 2 || state.as.tuple->items[0].tag != TAPER_TENSOR ||
        state.as.tuple->items[1].tag != TAPER_LIST) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the NNAPI compilation was not initialized");
    }
    taper_arena arena;
    taper_nnapi_model model;
    const taper_allocator allocator = {run->heap, heap_reallocate};
    taper_arena_init(&arena, &allocator);
    taper_status status = compilation_parse(run, state.as.tuple->items[0].as.tensor, &arena, &model);
    if (status == TAPER_OK) {
        status = taper_nnapi_execute(run, &model, state.as.tuple->items[1].as.list, inputs, outputs);
    }
    taper_arena_free(&arena);
    return status;
}

taper_status taper_nnapi_compilation(taper_run *run, taper_object *object, const char *method, taper_val *args,
                                     size_t count)
{
    if (strcmp(method, "__init__") == 0) {
        return TAPER_OK;
    }
    if (strcmp(method, "init") == 0 || strcmp(method, "init2") == 0) {
        return compilation_init(run, object, args, count);
    }
    if (strcmp(method, "run") == 0) {
        return compilation_run(run, object, args, count);
    }
    return TAPER_DECLINED;
}
