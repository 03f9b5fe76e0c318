// SPDX-License-Identifier: BSD-2-Clause
// The meanings of the names in a pickle. The list is complete: any other name is refused, so a pickle cannot call other
// functions.
#include "base/charge.h"
#include "format/pickle.h"
#include "format/pickle_machine.h"
#include "format/saved_value.h"

#define REFUSE(p, ...) return taper_pickle_fail((p), TAPER_ERROR_FILE, __VA_ARGS__)

enum { UTILS, JIT_PICKLE, COLLECTIONS, BUILTINS, TORCH, MAIN };
static const char *const known_modules[] = {[UTILS] = "torch._utils",
                                            [JIT_PICKLE] = "torch.jit._pickle",
                                            [COLLECTIONS] = "collections",
                                            [BUILTINS] = "builtins",
                                            [TORCH] = "torch",
                                            [MAIN] = "__main__"};

// The arguments of X are: module, name, kind, number.
// clang-format off
#define KNOWN(X) \
    X(UTILS, "_rebuild_tensor_v2", TAPER_GLOBAL_TENSOR, 0) \
    X(UTILS, "_rebuild_parameter", TAPER_GLOBAL_PARAMETER, 0) \
    X(UTILS, "_rebuild_parameter_with_state", TAPER_GLOBAL_PARAMETER, 1) \
    X(UTILS, "_rebuild_tensor_v3", TAPER_GLOBAL_OTHER_TENSOR, 0) \
    X(UTILS, "_rebuild_qtensor", TAPER_GLOBAL_QTENSOR, 0) \
    X(UTILS, "_rebuild_sparse_tensor", TAPER_GLOBAL_SPARSE, 0) \
    X(JIT_PICKLE, "build_intlist", TAPER_GLOBAL_LIST, TAPER_TYPE_INT) \
    X(JIT_PICKLE, "build_doublelist", TAPER_GLOBAL_LIST, TAPER_TYPE_FLOAT) \
    X(JIT_PICKLE, "build_boollist", TAPER_GLOBAL_LIST, TAPER_TYPE_BOOL) \
    X(JIT_PICKLE, "build_tensorlist", TAPER_GLOBAL_LIST, TAPER_TYPE_TENSOR) \
    X(JIT_PICKLE, "restore_type_tag", TAPER_GLOBAL_TYPE_TAG, 0) \
    X(JIT_PICKLE, "build_tensor_from_id", TAPER_GLOBAL_LEGACY, 0) \
    X(COLLECTIONS, "OrderedDict", TAPER_GLOBAL_ORDERED_DICT, 0) \
    X(BUILTINS, "complex", TAPER_GLOBAL_COMPLEX, 0) \
    X(TORCH, "device", TAPER_GLOBAL_DEVICE, 0) \
    X(TORCH, "per_tensor_affine", TAPER_GLOBAL_QSCHEME, TAPER_PER_TENSOR_AFFINE) \
    X(TORCH, "per_channel_affine", TAPER_GLOBAL_QSCHEME, TAPER_PER_CHANNEL_AFFINE) \
    X(TORCH, "per_channel_affine_float_qparams", TAPER_GLOBAL_QSCHEME, TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS) \
    X(TORCH, "uint16", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "uint32", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "uint64", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "float8_e4m3fn", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "float8_e5m2", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "float8_e4m3fnuz", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "float8_e5m2fnuz", TAPER_GLOBAL_OTHER_DTYPE, 0) \
    X(TORCH, "UntypedStorage", TAPER_GLOBAL_STORAGE, TAPER_U8) \
    X(TORCH, "ByteStorage", TAPER_GLOBAL_STORAGE, TAPER_U8) \
    X(TORCH, "CharStorage", TAPER_GLOBAL_STORAGE, TAPER_I8) \
    X(TORCH, "ShortStorage", TAPER_GLOBAL_STORAGE, TAPER_I16) \
    X(TORCH, "IntStorage", TAPER_GLOBAL_STORAGE, TAPER_I32) \
    X(TORCH, "LongStorage", TAPER_GLOBAL_STORAGE, TAPER_I64) \
    X(TORCH, "HalfStorage", TAPER_GLOBAL_STORAGE, TAPER_F16) \
    X(TORCH, "FloatStorage", TAPER_GLOBAL_STORAGE, TAPER_F32) \
    X(TORCH, "DoubleStorage", TAPER_GLOBAL_STORAGE, TAPER_F64) \
    X(TORCH, "ComplexHalfStorage", TAPER_GLOBAL_STORAGE, TAPER_C32) \
    X(TORCH, "ComplexFloatStorage", TAPER_GLOBAL_STORAGE, TAPER_C64) \
    X(TORCH, "ComplexDoubleStorage", TAPER_GLOBAL_STORAGE, TAPER_C128) \
    X(TORCH, "BoolStorage", TAPER_GLOBAL_STORAGE, TAPER_BOOL) \
    X(TORCH, "QInt8Storage", TAPER_GLOBAL_STORAGE, TAPER_QI8) \
    X(TORCH, "QUInt8Storage", TAPER_GLOBAL_STORAGE, TAPER_QU8) \
    X(TORCH, "QInt32Storage", TAPER_GLOBAL_STORAGE, TAPER_QI32) \
    X(TORCH, "BFloat16Storage", TAPER_GLOBAL_STORAGE, TAPER_BF16) \
    X(TORCH, "QUInt4x2Storage", TAPER_GLOBAL_STORAGE, TAPER_QU4X2) \
    X(TORCH, "QUInt2x4Storage", TAPER_GLOBAL_STORAGE, TAPER_QU2X4) \
    X(MAIN, "TensorID", TAPER_GLOBAL_LEGACY, 0) \
    X(MAIN, "IntList", TAPER_GLOBAL_LEGACY, 0)
// clang-format on
#define NAME(module, name, kind, number) name "\0"
#define MEANING(module, name, kind, number) {module, kind, number},
// All names in one string, in the order of `known`, which avoids pointers that need relocation.
static const char known_names[] = KNOWN(NAME);
static const struct {
    uint8_t module, kind, number;
} known[] = {KNOWN(MEANING)};

static bool is(const char *text, size_t length, const char *expected)
{
    return strlen(expected) == length && memcmp(text, expected, length) == 0;
}

// Returns true for "__torch__" and for modules within it.
static bool is_class_module(const char *module, size_t length)
{
    static const char root[] = "__torch__";
    const size_t n = sizeof root - 1;
    return length >= n && memcmp(module, root, n) == 0 && (length == n || module[n] == '.');
}

const taper_class_host taper_subclass_host = {.user = NULL};

static taper_status push_global(taper_pickle *p, taper_pickle_global global)
{
    TAPER_TRY(TAPER_GROW(p->allocator, p->globals, p->global_capacity, p->global_count + 1, p->error));
    p->globals[p->global_count++] = global;
    const taper_val number = {.tag = TAPER_UNDEFINED, .as.i = (int64_t)(p->global_count - 1)};
    return taper_pickle_push(p, number, 0, true);
}

static bool is_below(const char *module, size_t length, const char *package)
{
    const size_t n = strlen(package);
    return length >= n && memcmp(module, package, n) == 0 && (length == n || module[n] == '.');
}

// Looks up a name from the pickle of a tensor whose class is a Python subclass. The name is that of the function that
// makes the tensor, or that of a class, function or dtype in torch or torchao. The reader never calls a function or
// class in torch or torchao.
static bool find_subclass_name(const char *module, size_t module_length, const char *name, size_t name_length,
                               taper_pickle_global *global)
{
    const bool makes = is(module, module_length, "torch._tensor") && is(name, name_length, "_rebuild_from_type_v2");
    *global = (taper_pickle_global){.kind = makes ? TAPER_GLOBAL_SUBCLASS : TAPER_GLOBAL_NOTHING,
                                    .name = makes ? "torch._tensor._rebuild_from_type_v2" : "a class of torch"};
    return is_below(module, module_length, "torch") || is_below(module, module_length, "torchao");
}

taper_status taper_pickle_find_global(taper_pickle *p, const char *module, size_t module_length, const char *name,
                                      size_t name_length)
{
    taper_pickle_global global = {.kind = TAPER_GLOBAL_CLASS};
    const int shown_module = (int)taper_min_size(module_length, 100),
              shown_name = (int)taper_min_size(name_length, 100);
    if (is_class_module(module, module_length)) {
        if (name_length == 0 || memchr(module, '\0', module_length) != NULL ||
            memchr(name, '\0', name_length) != NULL) {
            REFUSE(p, "\"%.*s %.*s\" is no class name", shown_module, module, shown_name, name);
        }
        char *full = taper_arena_alloc(&p->arena, module_length + name_length + 2);
        if (full == NULL) {
            return taper_fail_memory(p->error);
        }
        memcpy(full, module, module_length);
        full[module_length] = '.';
        memcpy(full + module_length + 1, name, name_length);
        global.name = full;
    } else {
        const char *at = known_names;
        size_t i = 0;
        const size_t count = sizeof known / sizeof known[0];
        while (i < count && !(is(name, name_length, at) && is(module, module_length, known_modules[known[i].module]))) {
            at += strlen(at) + 1;
            i++;
        }
        const bool subclasses = i == count && TAPER_PICKLE_SUBCLASSES(p);
        if (subclasses && is(module, module_length, "torch") && !is(name, name_length, "Size")) {
            // A name that is not needed, such as a dtype or a layout, becomes None.
            return taper_pickle_push(p, taper_val_none(), 0, false);
        }
        if (subclasses && find_subclass_name(module, module_length, name, name_length, &global)) {
            return push_global(p, global);
        }
        if (i == count) {
            REFUSE(p, "refers to \"%.*s.%.*s\", which no TorchScript module may: refused", shown_module, module,
                   shown_name, name);
        }
        global = (taper_pickle_global){.kind = (taper_global_kind)known[i].kind, .number = known[i].number, .name = at};
    }
    return push_global(p, global);
}

// ---- functions that a pickle calls

// Counts the items of a container whose type is set, and fails above a limit. Writers set the type of a container once,
// but a malicious file could do it many times. The limit keeps the time proportional to the size of the file.
static taper_status count_checks(taper_pickle *p, size_t items)
{
    enum { FACTOR = 8, LEAST = 1 << 16 };
    p->checked += items;
    if (p->checked > FACTOR * (uint64_t)p->reader.size + LEAST) {
        REFUSE(p, "the same containers are given types again and again");
    }
    return taper_charge(p->allocator, 2 * (uint64_t)items, p->error);
}

static taper_status type_list(taper_pickle *p, taper_list *list, const taper_type *element)
{
    TAPER_TRY(count_checks(p, list->count));
    const size_t wrong = taper_saved_list_type(list, element);
    if (wrong != list->count) {
        REFUSE(p, "item %zu of a typed list is a %s", wrong, taper_val_kind_name(list->items[wrong]));
    }
    return TAPER_OK;
}

static taper_status type_dict(taper_pickle *p, taper_dict *dict, const taper_type *type)
{
    TAPER_TRY(count_checks(p, dict->count));
    const size_t wrong = taper_saved_dict_type(dict, type);
    if (wrong != dict->count) {
        REFUSE(p, "entry %zu of a typed dict has the types %s and %s", wrong,
               taper_val_kind_name(taper_dict_key(dict, wrong)), taper_val_kind_name(taper_dict_value(dict, wrong)));
    }
    return TAPER_OK;
}

// Pushes the argument that is a container, after its element types were set.
static taper_status push_container(taper_pickle *p, taper_val container, unsigned argument_depth)
{
    return taper_pickle_push(p, taper_val_retain(container), argument_depth - 1, false);
}

static taper_status build_list(taper_pickle *p, taper_type_kind kind, const taper_tuple *arguments, unsigned depth)
{
    const taper_type *element = kind == TAPER_TYPE_INT     ? &taper_type_int
                                : kind == TAPER_TYPE_FLOAT ? &taper_type_float
                                : kind == TAPER_TYPE_BOOL  ? &taper_type_bool
                                                           : &taper_type_tensor;
    if (arguments->count != 1 || arguments->items[0].tag != TAPER_LIST) {
        REFUSE(p, "a typed list is built from something that is no list");
    }
    TAPER_TRY(type_list(p, arguments->items[0].as.list, element));
    return push_container(p, arguments->items[0], depth);
}

static taper_status restore_type(taper_pickle *p, const taper_tuple *arguments, unsigned depth)
{
    if (arguments->count != 2 || arguments->items[1].tag != TAPER_STRING) {
        REFUSE(p, "restore_type_tag needs a container and a type");
    }
    const taper_val container = arguments->items[0];
    const taper_string *text = arguments->items[1].as.string;
    const taper_type *type;
    const taper_status status = taper_type_parse_in(p->types, p->scope, text->data, text->length, &type, p->error);
    if (status != TAPER_OK) {
        return taper_pickle_blame(p, status);
    }
    if (type->kind == TAPER_TYPE_LIST && container.tag == TAPER_LIST) {
        TAPER_TRY(type_list(p, container.as.list, type->items[0]));
    } else if (type->kind == TAPER_TYPE_DICT && container.tag == TAPER_DICT) {
        TAPER_TRY(type_dict(p, container.as.dict, type));
    } else if (type->kind != TAPER_TYPE_ANY || (container.tag != TAPER_LIST && container.tag != TAPER_DICT)) {
        REFUSE(p, "a %s is marked as a \"%.*s\"", taper_val_kind_name(container),
               (int)taper_min_size(text->length, 100), text->data);
    }
    return push_container(p, container, depth);
}

static taper_status make_device(taper_pickle *p, const taper_tuple *arguments)
{
    if (arguments->count == 0 || arguments->items[0].tag != TAPER_STRING) {
        REFUSE(p, "a device without a name");
    }
    const taper_string *text = arguments->items[0].as.string;
    const int64_t index =
        arguments->count == 2 && arguments->items[1].tag == TAPER_INT ? arguments->items[1].as.i & 0x7f : -1;
    taper_val device;
    if (!taper_saved_device(text->data, text->length, (int)index, &device)) {
        REFUSE(p, "\"%.60s\" is no device", text->data);
    }
    return taper_pickle_push(p, device, 0, false);
}

// Makes a tensor from the arguments (tensor, requires_grad, hooks), and one more argument if the tensor has Python
// attributes.
static taper_status make_parameter(taper_pickle *p, const taper_tuple *arguments, size_t more)
{
    if (arguments->count != 3 + more || arguments->items[0].tag != TAPER_TENSOR ||
        arguments->items[1].tag != TAPER_BOOLEAN) {
        REFUSE(p, "a parameter that is made of no tensor");
    }
    arguments->items[0].as.tensor->requires_grad = arguments->items[1].as.i != 0;
    return taper_pickle_push(p, taper_val_retain(arguments->items[0]), 1, false);
}

// Refuses a tensor with a dtype that has no class of storages. `arguments` is the tuple (storage, offset,
// sizes, strides, requires_grad, hooks, dtype, …).
static taper_status refuse_tensor(taper_pickle *p, const taper_tuple *arguments)
{
    const taper_pickle_global *dtype = arguments->count > 6 ? taper_pickle_global_of(p, arguments->items[6]) : NULL;
    return taper_pickle_fail(p, TAPER_ERROR_UNSUPPORTED, "a tensor of dtype %s, which Taper does not have",
                             dtype != NULL ? dtype->name : "unknown");
}

static bool to_double(taper_val value, double *number)
{
    *number = value.tag == TAPER_DOUBLE ? value.as.f : value.tag == TAPER_INT ? (double)value.as.i : 0;
    return value.tag == TAPER_DOUBLE || value.tag == TAPER_INT;
}

static taper_status make_complex(taper_pickle *p, const taper_tuple *arguments)
{
    double re, im;
    if (arguments->count != 2 || !to_double(arguments->items[0], &re) || !to_double(arguments->items[1], &im)) {
        REFUSE(p, "a complex number needs two parts");
    }
    return taper_pickle_push_new(p, taper_complex_new(p->heap, re, im));
}

taper_status taper_pickle_member(taper_pickle *p, const taper_pickle_global *global, taper_val value)
{
    const taper_class_host *const classes = p->host->classes;
    if (classes == NULL || classes->member == NULL) {
        return taper_pickle_fail(
            p, TAPER_ERROR_UNSUPPORTED,
            "a member of the enum %s: lite modules cannot hold enums; store its value before saving the model",
            global->name);
    }
    taper_val member;
    TAPER_TRY(classes->member(classes->user, global->name, value, &member, p->error));
    return taper_pickle_push(p, member, 1, false);
}

taper_status taper_pickle_call(taper_pickle *p, const taper_pickle_global *global, taper_tuple *arguments,
                               unsigned argument_depth)
{
    if (TAPER_PICKLE_SUBCLASSES(p) && global->kind == TAPER_GLOBAL_NOTHING) {
        return taper_pickle_push(p, taper_val_none(), 0, false);
    }
    if (TAPER_PICKLE_SUBCLASSES(p) && global->kind == TAPER_GLOBAL_SUBCLASS) {
        if (arguments->count != 4 || arguments->items[3].tag != TAPER_DICT) {
            REFUSE(p, "a tensor of a subclass without the dict of its parts");
        }
        return push_container(p, arguments->items[3], argument_depth);
    }
    switch (global->kind) {
    case TAPER_GLOBAL_TENSOR:
        return taper_pickle_tensor(p, arguments);
    case TAPER_GLOBAL_PARAMETER:
        return make_parameter(p, arguments, (size_t)global->number);
    case TAPER_GLOBAL_OTHER_TENSOR:
        return refuse_tensor(p, arguments);
    case TAPER_GLOBAL_QTENSOR:
        return taper_pickle_qtensor(p, arguments);
    case TAPER_GLOBAL_LIST:
        return build_list(p, (taper_type_kind)global->number, arguments, argument_depth);
    case TAPER_GLOBAL_TYPE_TAG:
        return restore_type(p, arguments, argument_depth);
    case TAPER_GLOBAL_DEVICE:
        return make_device(p, arguments);
    case TAPER_GLOBAL_ORDERED_DICT:
        if (arguments->count != 0) {
            REFUSE(p, "an OrderedDict is made with arguments");
        }
        return taper_pickle_push_new(p, taper_dict_new(p->heap, NULL, NULL));
    case TAPER_GLOBAL_COMPLEX:
        return make_complex(p, arguments);
    case TAPER_GLOBAL_SPARSE:
        return taper_pickle_fail(p, TAPER_ERROR_UNSUPPORTED,
                                 "a sparse tensor: not supported; make it dense (to_dense()) before saving the model");
    case TAPER_GLOBAL_CLASS:
        if (arguments->count != 1) {
            REFUSE(p, "a member of the enum %s is made of %zu values instead of one", global->name, arguments->count);
        }
        return taper_pickle_member(p, global, arguments->items[0]);
    case TAPER_GLOBAL_LEGACY:
        return taper_pickle_fail(p, TAPER_ERROR_UNSUPPORTED, "%s is not used in module files: refused", global->name);
    case TAPER_GLOBAL_STORAGE:
    case TAPER_GLOBAL_QSCHEME:
    case TAPER_GLOBAL_OTHER_DTYPE:
    case TAPER_GLOBAL_SUBCLASS:
    case TAPER_GLOBAL_NOTHING:
        break;
    }
    REFUSE(p, "%s is called like a function", global->name);
}

// ---- objects

// Sets the state of an object of a native class of PyTorch. The state is stored unchanged in the object's only slot,
// where the operators of the class read it.
static taper_status set_native(taper_pickle *p, taper_object *object, taper_val state)
{
    static const char *const slots[] = {"state"};
    const taper_class *class = taper_types_class(p->types, object->klass->name, 1, slots);
    if (class == NULL) {
        taper_val_release(state);
        return taper_fail_memory(p->error);
    }
    object->klass = class;
    return taper_object_set(object, 0, state, p->error);
}

// Sets the state of an object whose class is not a native class of PyTorch. The names in the state become the
// attributes of the class, in this order.
static taper_status set_attributes(taper_pickle *p, taper_object *object, const taper_dict *state)
{
    const char **names = taper_alloc(p->allocator, state->count * sizeof *names);
    if (names == NULL && state->count != 0) {
        return taper_fail_memory(p->error);
    }
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < state->count && status == TAPER_OK; i++) {
        const taper_val key = taper_dict_key(state, i);
        if (key.tag != TAPER_STRING || memchr(key.as.string->data, '\0', key.as.string->length) != NULL) {
            status =
                taper_pickle_fail(p, TAPER_ERROR_FILE, "an attribute of a %s has no proper name", object->klass->name);
        } else {
            names[i] = key.as.string->data;
        }
    }
    const taper_class *class = NULL;
    if (status == TAPER_OK) {
        static const char *const none[] = {NULL};
        class = taper_types_class(p->types, object->klass->name, state->count, state->count != 0 ? names : none);
        status = class != NULL ? TAPER_OK : taper_fail_memory(p->error);
    }
    if (class != NULL) {
        object->klass = class;
    }
    for (size_t i = 0; i < state->count && status == TAPER_OK; i++) {
        status = taper_object_set(object, i, taper_val_retain(taper_dict_value(state, i)), p->error);
    }
    taper_free(p->allocator, names, state->count * sizeof *names);
    return status;
}

taper_status taper_pickle_build(taper_pickle *p, taper_object *object, taper_val state)
{
    static const char native[] = "__torch__.torch.classes.";
    if (strncmp(object->klass->name, native, sizeof native - 1) == 0) {
        return set_native(p, object, state);
    }
    const taper_class_host *const classes = p->host->classes;
    if (classes != NULL) {
        bool taken = false;
        const taper_status status = classes->set_state(classes->user, object, state, &taken, p->error);
        if (taken || status != TAPER_OK) {
            if (!taken) {
                taper_val_release(state);
            }
            return status;
        }
    }
    taper_status status;
    if (state.tag == TAPER_DICT) {
        status = set_attributes(p, object, state.as.dict);
    } else {
        status = taper_pickle_fail(p, TAPER_ERROR_FILE,
                                   "the state of a %s is a %s, and the file has no method %s.__setstate__ to read it",
                                   object->klass->name, taper_val_kind_name(state), object->klass->name);
    }
    taper_val_release(state);
    return status;
}
