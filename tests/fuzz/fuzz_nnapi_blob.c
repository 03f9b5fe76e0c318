// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a serialized NNAPI model in the form of a Compilation. The input consists of a byte of flags (1:
// with the compiler, 2: portable loops), two bytes with the length of the model in words, and these words; the bytes
// after them are the only buffer. A valid model is lowered, compiled and run on inputs of the required sizes. Repeats
// everything with a failing allocation.
#include <string.h>

#include <taper/taper_compile.h>

#include "frontend/nnapi/serialized.h"
#include "ir/tensor.h"
#include "ops/lang/torchbind.h"
#include "runtime/context.h"
#include "tests/fuzz/failing_allocator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 3, MOST_ELEMENTS = 4096, MOST_WORK = 10000000, MOST_BYTES = 32 << 20 };

typedef struct fuzzed {
    const uint8_t *words, *buffer;
    size_t word_bytes, buffer_bytes;
    bool compile, portable;
} fuzzed;

static taper_tensor *bytes_tensor(taper_heap *heap, taper_dtype dtype, size_t item, const uint8_t *data, size_t bytes)
{
    const int64_t count = (int64_t)(bytes / item);
    taper_tensor *tensor;
    if (taper_tensor_new(heap, dtype, 1, &count, NULL, &tensor, NULL) != TAPER_OK) {
        return NULL;
    }
    if (bytes != 0) {
        memcpy(taper_tensor_mutable(tensor), data, (size_t)count * item);
    }
    return tensor;
}

static taper_list *tensor_list(taper_heap *heap, size_t count)
{
    taper_list *list = taper_list_new(heap, &taper_type_tensor, count);
    if (list != NULL) {
        list->count = count;
        for (size_t i = 0; i < count; i++) {
            list->items[i] = taper_val_none();
        }
    }
    return list;
}

// Makes a tensor for an operand. A size that is known only at run time is 3. Returns NULL if the tensor would be too
// large or memory runs out.
static taper_tensor *tensor_for(taper_heap *heap, const taper_nnapi_operand *operand, bool out)
{
    int64_t sizes[TAPER_MAX_RANK], count = 1;
    const taper_dtype dtype =
        operand->type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM ? TAPER_QU8
        : operand->type == TAPER_NNAPI_TENSOR_INT32      ? TAPER_I32
        : operand->type == TAPER_NNAPI_TENSOR_QUANT16_SYMM || operand->type == TAPER_NNAPI_TENSOR_QUANT16_ASYMM
            ? TAPER_I16
            : TAPER_F32;
    for (uint32_t d = 0; d < operand->rank; d++) {
        sizes[d] = out ? 0 : operand->sizes[d] == 0 ? 3 : operand->sizes[d];
        if (sizes[d] > MOST_ELEMENTS || (count *= sizes[d]) > MOST_ELEMENTS) {
            return NULL;
        }
    }
    taper_tensor *tensor;
    if (taper_tensor_zeros(heap, dtype, operand->rank, sizes, &tensor, NULL) != TAPER_OK) {
        return NULL;
    }
    const taper_quantizer q = {
        .scheme = TAPER_PER_TENSOR_AFFINE, .scale = (double)operand->scale, .zero_point = operand->zero_point};
    if (dtype == TAPER_QU8 && operand->scale > 0.0f && taper_tensor_set_quantizer(tensor, &q, NULL) != TAPER_OK) {
        taper_val_release(TAPER_VAL(tensor));
        return NULL;
    }
    for (int64_t i = 0; dtype == TAPER_F32 && i < count && !out; i++) {
        ((float *)taper_tensor_mutable(tensor))[i] = (float)(i % 17) * 0.25f - 2.0f;
    }
    for (int64_t i = 0; dtype == TAPER_QU8 && i < count && !out; i++) {
        ((uint8_t *)taper_tensor_mutable(tensor))[i] = (uint8_t)(i * 7);
    }
    return tensor;
}

static taper_list *tensors_for(taper_heap *heap, const taper_nnapi_model *model, const uint32_t *operands, size_t count,
                               bool out)
{
    taper_list *list = tensor_list(heap, count);
    for (size_t i = 0; list != NULL && i < count; i++) {
        taper_tensor *tensor = tensor_for(heap, &model->operands[operands[i]], out);
        if (tensor == NULL) {
            taper_val_release(TAPER_VAL(list));
            return NULL;
        }
        list->items[i] = TAPER_VAL(tensor);
    }
    return list;
}

static taper_status compile_and_run(taper_run *run, taper_object *object, const fuzzed *f)
{
    taper_tensor *serialized = bytes_tensor(run->heap, TAPER_I32, 4, f->words, f->word_bytes),
                 *buffer = bytes_tensor(run->heap, TAPER_U8, 1, f->buffer, f->buffer_bytes);
    taper_list *buffers = tensor_list(run->heap, 1), *inputs = NULL, *outputs = NULL;
    taper_arena arena;
    taper_nnapi_model model;
    taper_arena_init(&arena, taper_heap_allocator(run->heap));
    taper_status status = TAPER_ERROR_RESOURCE;
    if (serialized != NULL && buffer != NULL && buffers != NULL) {
        buffers->items[0] = taper_val_retain(TAPER_VAL(buffer));
        taper_val args[2] = {TAPER_VAL(serialized), TAPER_VAL(buffers)};
        status = taper_nnapi_compilation(run, object, "init", args, 2);
    }
    if (status == TAPER_OK) {
        status = taper_nnapi_parse(&arena, taper_tensor_data(serialized), f->word_bytes, &model, run->error);
    }
    if (status == TAPER_OK && model.input_count <= 64 && model.output_count <= 64) {
        inputs = tensors_for(run->heap, &model, model.inputs, model.input_count, false);
        outputs = tensors_for(run->heap, &model, model.outputs, model.output_count, true);
        for (int i = 0; i < 2 && inputs != NULL && outputs != NULL && status == TAPER_OK; i++) {
            taper_val args[2] = {TAPER_VAL(inputs), TAPER_VAL(outputs)};
            status = taper_nnapi_compilation(run, object, "run", args, 2);
        }
        if ((inputs == NULL || outputs == NULL) && run->error == NULL) {
            status = TAPER_ERROR_RESOURCE; // the failing allocation may be an allocation of this test
        }
    }
    taper_arena_free(&arena);
    taper_obj *const made[] = {(taper_obj *)serialized, (taper_obj *)buffer, (taper_obj *)buffers, (taper_obj *)inputs,
                               (taper_obj *)outputs};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (made[i] != NULL) {
            taper_obj_release(made[i]);
        }
    }
    return status;
}

static taper_status stop_after(taper_run *run, double ahead)
{
    (void)ahead;
    uint64_t *const asked = run->log_user;
    return ++*asked > MOST_WORK / TAPER_WORK_BETWEEN ? TAPER_ERROR_RESOURCE : TAPER_OK;
}

static taper_status run_once(const fuzzed *f, size_t fail_at, size_t *calls)
{
    failing_allocator failing;
    failing_start(&failing, fail_at);
    const taper_context_options options = {
        .struct_size = sizeof options, .allocator = &failing.allocator, .threads = 1};
    taper_context *context = NULL;
    taper_types *types = NULL;
    taper_heap *heap = NULL;
    taper_object *object = NULL;
    taper_error *error = fail_at == 0 ? taper_error_create() : NULL;
    uint64_t asked = 0;
    taper_status status = taper_context_create(&options, &context, error);
    if (status == TAPER_OK) {
        status = taper_types_create(&failing.allocator, &types, error);
    }
    if (status == TAPER_OK) {
        status = taper_heap_create(&failing.allocator, types, &heap, error);
    }
    if (status == TAPER_OK) {
        static const char *const none[1] = {NULL};
        const taper_class *klass = taper_types_class(types, "__torch__.torch.classes._nnapi.Compilation", 0, none);
        object = klass != NULL ? taper_object_new(heap, klass, 1) : NULL;
        status = object != NULL ? TAPER_OK : TAPER_ERROR_RESOURCE;
    }
    if (status == TAPER_OK) {
        taper_heap_set_limit(heap, MOST_BYTES);
        taper_run run = taper_run_on(heap, context->registry, error);
        run.context = context;
        run.cpu = context->cpu;
        run.pool = context->pool;
        run.compiler = f->compile ? taper_compiler() : NULL;
        run.portable = f->portable;
        run.stop = stop_after;
        run.log_user = &asked;
        status = compile_and_run(&run, object, f);
    }
    if (object != NULL) {
        taper_val_release(TAPER_VAL(object));
    }
    if (heap != NULL) {
        taper_heap_close(heap);
    }
    if (types != NULL) {
        taper_types_release(types);
    }
    taper_context_release(context);
    taper_error_destroy(error);
    failing_end(&failing);
    *calls = failing.calls;
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) {
        return 0;
    }
    const size_t words = (size_t)data[1] | (size_t)data[2] << 8, left = size - HEAD;
    fuzzed f = {.words = data + HEAD, .compile = (data[0] & 1) != 0, .portable = (data[0] & 2) != 0};
    f.word_bytes = words * 4 < left ? words * 4 : left / 4 * 4;
    f.buffer = data + HEAD + f.word_bytes;
    f.buffer_bytes = left - f.word_bytes;
    size_t calls, unused;
    const taper_status status = run_once(&f, 0, &calls);
    const taper_status failed = run_once(&f, failing_place(data, size, calls), &unused);
    if (failed != status && failed != TAPER_ERROR_RESOURCE) {
        abort();
    }
    return 0;
}
