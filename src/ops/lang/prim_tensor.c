// SPDX-License-Identifier: BSD-2-Clause
// Attributes of tensors and devices, and the conversions from numbers to tensors and from tensors to lists.
#include "ir/tensor.h"
#include "ops/lang/container.h"
#include "ops/lang/prim.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_ops.h"
#include "ops/list/registry.h"
#include "ops/list/shared_kernels.h"

// ---- attributes of tensors

TAPER_KERNEL(taper_op_tensor_dtype)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_int(tensor->dtype));
    return TAPER_OK;
}

// Returns the device of a tensor. A program sees all tensors on the CPU.
TAPER_KERNEL(taper_op_tensor_device)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_device(0, -1));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor_layout)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_int(0)); // the number of the layout "strided"
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor_get_device)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_int(-1));
    return TAPER_OK;
}

// Kernel of is_cuda and other attributes that have one value for every tensor.
TAPER_KERNEL(taper_op_tensor_constant)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_bool(taper_call_code(call) == TAPER_PRIM_TRUE));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor_is_quantized)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_ret(call, 0, taper_val_bool(taper_dtype_is_quantized((taper_dtype)tensor->dtype)));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_tensor_cuda)
{
    return taper_fail(call->run->error, TAPER_ERROR_UNSUPPORTED,
                      "there is no CUDA device here: save the model for the CPU");
}

// Returns a new tensor with the same storage.
TAPER_KERNEL(taper_op_tensor_data)
{
    taper_tensor *tensor, *alias;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    TAPER_TRY(taper_tensor_alias(call->run->heap, tensor, tensor->offset, tensor->rank, tensor->sizes, tensor->strides,
                                 &alias, call->run->error));
    taper_ret(call, 0, TAPER_VAL(alias));
    return TAPER_OK;
}

// ---- devices

// Parses a device name such as "cuda:1".
TAPER_KERNEL(taper_op_device_parse)
{
    const taper_string *text;
    TAPER_TRY(taper_arg_string(call, 0, &text));
    const size_t length = strcspn(text->data, ":");
    int index = -1;
    if (length < text->length) {
        const char *digits = text->data + length + 1;
        const size_t count = text->length - length - 1;
        index = 0;
        for (size_t i = 0; i < count; i++) {
            index = digits[i] >= '0' && digits[i] <= '9' && index < 1000 ? index * 10 + (digits[i] - '0') : 10000;
        }
        if (count == 0 || index > 127) {
            return taper_fail(call->run->error, TAPER_ERROR_RAISED, "Invalid device string: '%s'", text->data);
        }
    }
    for (int kind = 0; kind <= 20; kind++) {
        const char *name = taper_pytorch_device_name(kind);
        if (name != NULL && strlen(name) == length && memcmp(name, text->data, length) == 0) {
            taper_ret(call, 0, taper_val_device(kind, index));
            return TAPER_OK;
        }
    }
    return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                      "Expected one of cpu, cuda, … device type at start of device string: %s", text->data);
}

static taper_status arg_device(const taper_call *call, int *kind, int *index)
{
    if (call->arg_count < 1 || call->args[0].tag != TAPER_DEVICE) {
        return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "expected a device, got %s",
                          call->arg_count < 1 ? "nothing" : taper_val_kind_name(call->args[0]));
    }
    *kind = (int)(call->args[0].as.i >> 8);
    *index = (int)(call->args[0].as.i & 0xff) - 1;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_device_type)
{
    int kind = 0, index = 0;
    TAPER_TRY(arg_device(call, &kind, &index));
    const char *name = taper_pytorch_device_name(kind);
    name = name != NULL ? name : "unknown";
    return taper_ret_string(call, 0, name, strlen(name));
}

TAPER_KERNEL(taper_op_device_index)
{
    int kind = 0, index = 0;
    TAPER_TRY(arg_device(call, &kind, &index));
    taper_ret(call, 0, index < 0 ? taper_val_none() : taper_val_int(index));
    return TAPER_OK;
}

// ---- numbers to tensors

TAPER_KERNEL(taper_op_number_to_tensor)
{
    taper_scalar number;
    TAPER_TRY(taper_arg_scalar(call, 0, &number));
    static const taper_dtype dtypes[] = {TAPER_BOOL, TAPER_I64, TAPER_F64, TAPER_C128};
    taper_tensor *tensor;
    TAPER_TRY(taper_tensor_new(call->run->heap, dtypes[number.kind], 0, NULL, NULL, &tensor, call->run->error));
    void *data = taper_tensor_mutable(tensor);
    if (number.kind == TAPER_SCALAR_BOOL) {
        *(uint8_t *)data = number.i != 0;
    } else if (number.kind == TAPER_SCALAR_INT) {
        memcpy(data, &number.i, sizeof number.i);
    } else {
        const double parts[2] = {number.f, number.im};
        memcpy(data, parts, number.kind == TAPER_SCALAR_DOUBLE ? sizeof parts[0] : sizeof parts);
    }
    taper_ret(call, 0, TAPER_VAL(tensor));
    return TAPER_OK;
}

// ---- tensors to lists

typedef struct lister {
    taper_call *call;
    const taper_tensor *tensor;
    // The type of the lists at each dimension; the last entry is the type of the elements.
    const taper_type *types[TAPER_MAX_RANK + 1];
} lister;

static taper_status list_element(const lister *l, int64_t offset, taper_val *value)
{
    taper_tensor one = taper_tensor_local(l->tensor); // a view of one element, on the stack
    one.offset += offset;
    one.rank = 0;
    TAPER_TRY(taper_tensor_number(l->call->run, &one, value));
    return TAPER_OK;
}

// Makes the list of dimension dim. Recurses as deep as the tensor's rank.
static taper_status list_of(const lister *l, unsigned dim, int64_t offset, taper_val *value)
{
    if (dim == l->tensor->rank) {
        return list_element(l, offset, value);
    }
    taper_run *run = l->call->run;
    const int64_t size = l->tensor->sizes[dim];
    taper_list *list = taper_list_new(run->heap, l->types[dim + 1], (size_t)size);
    if (list == NULL) {
        return taper_fail_memory(run->error);
    }
    taper_status status = taper_run_spend(run, (uint64_t)size * 40);
    for (int64_t i = 0; i < size && status == TAPER_OK; i++) {
        taper_val item;
        status = list_of(l, dim + 1, offset + i * l->tensor->strides[dim], &item);
        if (status == TAPER_OK) {
            status = taper_list_append(list, item, run->error);
        }
    }
    if (status != TAPER_OK) {
        taper_obj_release(&list->head.head);
        return status;
    }
    *value = TAPER_VAL(list);
    return TAPER_OK;
}

static taper_status list_whole(taper_call *call, const taper_tensor *tensor, const taper_type *element)
{
    lister l = {.call = call, .tensor = tensor};
    int64_t items = 1; // an upper bound of the number of items in all lists together
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (!taper_mul_i64(items, taper_max_i64(tensor->sizes[i], 1), &items) || items > TAPER_LIMIT_CONTAINER_ITEMS) {
            return taper_fail(call->run->error, TAPER_ERROR_RESOURCE, "a list grows beyond %d items",
                              TAPER_LIMIT_CONTAINER_ITEMS);
        }
    }
    l.types[tensor->rank] = element;
    for (unsigned dim = tensor->rank; dim-- > 1;) {
        TAPER_TRY(taper_type_make(taper_heap_types(call->run->heap), TAPER_TYPE_LIST, NULL, &l.types[dim + 1], NULL, 1,
                                  &l.types[dim], call->run->error));
    }
    taper_val value;
    TAPER_TRY(list_of(&l, 0, 0, &value));
    taper_ret(call, 0, value);
    return TAPER_OK;
}

// Computes tolist. The arguments are the tensor, and the rank and element kind of the annotated type. Kinds are 0 int,
// 1 float, 2 bool, 3 complex.
TAPER_KERNEL(taper_op_tensor_tolist)
{
    taper_tensor *tensor;
    int64_t rank, kind;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    TAPER_TRY(taper_arg_int(call, 1, &rank));
    TAPER_TRY(taper_arg_int(call, 2, &kind));
    static const taper_type *const elements[] = {&taper_type_int, &taper_type_float, &taper_type_bool,
                                                 &taper_type_complex};
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    const bool fits = kind == 0   ? dtype == TAPER_I64
                      : kind == 1 ? taper_dtype_is_float(dtype)
                      : kind == 2 ? dtype == TAPER_BOOL
                      : kind == 3 ? taper_dtype_is_complex(dtype)
                                  : false;
    if (!fits) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          "Output annotation element type and runtime tensor element type must match for tolist()");
    }
    if (rank != tensor->rank) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED,
                          "Output annotation list dimension and runtime tensor dimension must match for tolist()");
    }
    return list_whole(call, tensor, elements[kind]);
}

TAPER_KERNEL(taper_op_tensor_to_ints)
{
    taper_tensor *tensor;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    if (tensor->rank != 1 || !taper_dtype_is_integral((taper_dtype)tensor->dtype)) {
        return taper_fail(call->run->error, TAPER_ERROR_RAISED, "expected a one-dimensional tensor of ints");
    }
    return list_whole(call, tensor, &taper_type_int);
}

taper_status taper_op_ints_to_tensor(taper_call *call) // makes an int32 tensor
{
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    const int64_t size = (int64_t)list->count;
    taper_tensor *tensor;
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_I32, 1, &size, NULL, &tensor, call->run->error));
    taper_ret(call, 0, TAPER_VAL(tensor));
    int32_t *data = taper_tensor_mutable(tensor);
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag != TAPER_INT) {
            return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "item %zu is no int but %s", i,
                              taper_val_kind_name(list->items[i]));
        }
        data[i] = (int32_t)(uint32_t)(uint64_t)list->items[i].as.i;
    }
    return TAPER_OK;
}
