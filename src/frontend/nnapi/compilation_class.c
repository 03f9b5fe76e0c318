// SPDX-License-Identifier: BSD-2-Clause
// The class _nnapi.Compilation. A run needs objects of this class in two cases: the model calls the class in another
// way than PyTorch's NnapiModule, or the serialized model is known only in a run. The first run turns the serialized
// model into a graph and a program, which then runs as part of the calling run. Slot 0 of the object is None at first,
// then the tuple (serialized model, buffers). The tuple is a plain value that is copied with its session. Slot 1 is the
// program, after it is made.
#include "frontend/nnapi/lowering.h"
#include "ir/storage.h"
#include "ops/call/made_program.h"
#include "ops/call/promote.h"
#include "ops/lang/torchbind.h"

enum { STATE_SLOT, PROGRAM_SLOT };

static taper_status tensor_list(taper_run *run, const taper_val *args, size_t count, size_t at, const char *name,
                                taper_list **list)
{
    if (at >= count || args[at].tag != TAPER_LIST) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument '%s' should be a list of Tensors, got %s", name,
                   at < count ? taper_val_kind_name(args[at]) : "nothing");
    }
    *list = args[at].as.list;
    for (size_t i = 0; i < (*list)->count; i++) {
        if ((*list)->items[i].tag != TAPER_TENSOR) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "item %zu of '%s' is not a Tensor but %s", i, name,
                       taper_val_kind_name((*list)->items[i]));
        }
    }
    return TAPER_OK;
}

static taper_status parse(taper_run *run, const taper_tensor *serialized, taper_arena *arena, taper_nnapi_model *model)
{
    if (serialized->rank != 1 || serialized->dtype != TAPER_I32 || !taper_tensor_is_contiguous(serialized)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the serialized NNAPI model should be a contiguous vector of int32");
    }
    const size_t bytes = (size_t)taper_tensor_numel(serialized) * sizeof(int32_t);
    return taper_nnapi_parse(arena, taper_tensor_data(serialized), bytes, model, run->error);
}

// Implements init(model, buffers) and init2(model, buffers, preference, relax). The last two arguments have no meaning
// on the CPU.
static taper_status initialize(taper_run *run, taper_object *object, const taper_val *args, size_t count)
{
    taper_list *buffers = NULL;
    if (count < 2 || args[0].tag != TAPER_TENSOR) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "init expects the serialized model and its buffers");
    }
    TAPER_TRY(tensor_list(run, args, count, 1, "parameter_buffers", &buffers));
    if (object->count != 0 && object->slots[STATE_SLOT].tag != TAPER_NONE) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the NNAPI compilation was initialized before");
    }
    taper_arena arena;
    taper_nnapi_model model;
    taper_arena_init(&arena, taper_heap_allocator(run->heap));
    const taper_status status = parse(run, args[0].as.tensor, &arena, &model);
    taper_arena_free(&arena);
    TAPER_TRY(status);
    taper_tuple *tuple = taper_tuple_new(run->heap, NULL, 2);
    if (tuple == NULL) {
        return taper_fail_memory(run->error);
    }
    tuple->items[0] = taper_val_retain(args[0]);
    tuple->items[1] = taper_val_retain(args[1]);
    return taper_object_set(object, STATE_SLOT, TAPER_VAL(tuple), run->error);
}

// ---- making the program

typedef struct source {
    const taper_tensor *serialized;
    const taper_list *buffers;
} source;

// Makes the graph of the program. Its parameter 1 is the list of inputs, and its result is the list of results.
static taper_status make_graph(const void *user, const taper_emitter *e)
{
    const source *from = user;
    taper_nnapi_model parsed;
    taper_arena arena;
    taper_ir_value *list = NULL;
    taper_arena_init(&arena, taper_heap_allocator(e->heap));
    taper_run run = {.heap = e->heap, .error = e->error};
    taper_status status = parse(&run, from->serialized, &arena, &parsed);
    if (status == TAPER_OK) {
        taper_nnapi_lowering l = {.emit = *e, .model = &parsed, .buffers = from->buffers, .copies = true};
        const taper_nnapi_interface face = {.args = &e->graph->body->params[1], .type = &taper_type_list_tensor};
        status = taper_nnapi_lower_model(&l, &arena, &face, &list);
    }
    taper_arena_free(&arena);
    return status == TAPER_OK ? taper_block_set_results(e->graph->body, &list, 1, e->error) : status;
}

static taper_status compile(taper_run *run, const taper_tuple *state, taper_val *program)
{
    const source from = {state->items[0].as.tensor, state->items[1].as.list};
    if (run->context == NULL) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "an NNAPI compilation cannot run here: there is no context");
    }
    uint64_t bytes = (uint64_t)taper_tensor_numel(from.serialized) * sizeof(int32_t);
    for (size_t i = 0; i < from.buffers->count; i++) {
        const taper_tensor *buffer = from.buffers->items[i].as.tensor;
        bytes += (uint64_t)taper_tensor_numel(buffer) * taper_tensor_item(buffer);
    }
    return taper_made_program_create(run, "__torch__.torch.classes._nnapi.Compilation", "run", bytes, make_graph, &from,
                                     program);
}

// ---- running a compilation

static taper_status write_outputs(taper_run *run, const taper_list *results, const taper_list *outputs)
{
    if (results->count != outputs->count) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the NNAPI model has %zu outputs, there are tensors for %zu",
                   results->count, outputs->count);
    }
    taper_call call = {.run = run};
    for (size_t i = 0; i < results->count; i++) {
        taper_tensor *value = results->items[i].as.tensor, *target = outputs->items[i].as.tensor;
        if (target->dtype != value->dtype && !(target->dtype == TAPER_U8 && value->dtype == TAPER_QU8)) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "output %zu of the NNAPI model is %s, the tensor for it %s", i,
                       taper_dtype_torch_name((taper_dtype)value->dtype),
                       taper_dtype_torch_name((taper_dtype)target->dtype));
        }
        TAPER_TRY(taper_settle(run, TAPER_VAL(target)));
        TAPER_TRY(taper_out_resize(&call, target, value->rank, value->sizes, NULL));
        TAPER_TRY(taper_storage_write(target->storage, run->error));
        TAPER_TRY(taper_run_copy(run, target, value));
    }
    return TAPER_OK;
}

static taper_status run_program(taper_run *run, taper_val program, taper_val inputs, const taper_list *outputs)
{
    taper_val result;
    TAPER_TRY(taper_made_program_run(run, program, inputs, &result));
    taper_status status = taper_run_settle_items(run, (taper_container *)result.as.obj);
    if (status == TAPER_OK) {
        status = write_outputs(run, result.as.list, outputs);
    }
    taper_val_release(result);
    return status;
}

static taper_status run_compilation(taper_run *run, taper_object *object, const taper_val *args, size_t count)
{
    taper_list *inputs = NULL, *outputs = NULL;
    TAPER_TRY(tensor_list(run, args, count, 0, "inputs", &inputs));
    TAPER_TRY(tensor_list(run, args, count, 1, "outputs", &outputs));
    const taper_val state = object->count != 0 ? object->slots[STATE_SLOT] : taper_val_none();
    if (state.tag != TAPER_TUPLE || state.as.tuple->count != 2 || state.as.tuple->items[0].tag != TAPER_TENSOR ||
        state.as.tuple->items[1].tag != TAPER_LIST) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the NNAPI compilation was not initialized");
    }
    if (object->count <= PROGRAM_SLOT || !taper_is_made_program(object->slots[PROGRAM_SLOT])) {
        taper_val made = taper_val_none();
        TAPER_TRY(compile(run, state.as.tuple, &made));
        TAPER_TRY(taper_object_set(object, PROGRAM_SLOT, made, run->error));
    }
    const taper_val program = taper_val_retain(object->slots[PROGRAM_SLOT]);
    const taper_status status = run_program(run, program, TAPER_VAL(inputs), outputs);
    taper_val_release(program);
    return status;
}

taper_status taper_nnapi_compilation(taper_run *run, taper_object *object, const char *method, taper_val *args,
                                     size_t count)
{
    if (strcmp(method, "__init__") == 0) {
        return TAPER_OK;
    }
    if (strcmp(method, "init") == 0 || strcmp(method, "init2") == 0) {
        return initialize(run, object, args, count);
    }
    if (strcmp(method, "run") == 0) {
        return run_compilation(run, object, args, count);
    }
    return TAPER_DECLINED;
}
