// SPDX-License-Identifier: BSD-2-Clause
// Tests the pickle writer: each kind of value is read back unchanged, shared parts stay shared, and values that a file
// cannot contain are refused.
#include <math.h>

#include "format/pickle.h"
#include "format/pickle_write.h"
#include "ir/tensor.h"
#include "tests/unit/heap_fixture.h"
#include "tests/unit/module_compare.h"

// ---- round trips; the keys of storages are their addresses

typedef struct round_trip {
    heap_fixture *f;
    taper_type_scope *scope;
    const taper_object *stated; // object that is saved as `state`
    taper_saved_as as;
    taper_val state;
} round_trip;

static taper_status key_of(void *user, taper_storage *storage, char key[TAPER_PICKLE_KEY], taper_error *error)
{
    (void)user;
    (void)error;
    (void)snprintf(key, TAPER_PICKLE_KEY, "%p", (void *)storage);
    return TAPER_OK;
}

static taper_status storage_of(void *user, const char *key, size_t length, taper_dtype dtype, int64_t numel,
                               taper_storage **storage, taper_error *error)
{
    (void)user;
    (void)error;
    void *address;
    char text[TAPER_PICKLE_KEY + 1] = "";
    assert_true(length < sizeof text);
    memcpy(text, key, length);
    assert_int_equal(sscanf(text, "%p", &address), 1);
    *storage = address;
    assert_int_equal((size_t)numel, (*storage)->bytes / taper_max_size(taper_dtype_size(dtype), 1));
    taper_obj_retain(&(*storage)->head);
    return TAPER_OK;
}

static taper_status save_state(void *user, const taper_object *object, taper_saved_as *as, taper_val *value,
                               taper_error *error)
{
    (void)error;
    const round_trip *t = user;
    if (object == t->stated) {
        *as = t->as;
        *value = t->state;
    }
    return TAPER_OK;
}

static taper_status set_state(void *user, taper_object *object, taper_val state, bool *taken, taper_error *error)
{
    (void)user;
    *taken = strcmp(object->klass->name, "__torch__.Stated") == 0;
    return *taken ? taper_object_set(object, 0, state, error) : TAPER_OK;
}

static taper_status member_of(void *user, const char *class_name, taper_val value, taper_val *member,
                              taper_error *error)
{
    (void)user;
    (void)error;
    assert_string_equal(class_name, "__torch__.Color");
    *member = taper_val_retain(value);
    return TAPER_OK;
}

static taper_status write_pickle(const round_trip *t, taper_val value, taper_pickler *p, taper_error *error)
{
    const taper_pickle_saver saver = {.user = (void *)(uintptr_t)t, .storage = key_of, .state = save_state};
    taper_pickler_start(p, &t->f->memory.allocator, &saver, "test.pkl", error);
    const taper_status status = taper_pickler_value(p, value, 0);
    return status == TAPER_OK ? taper_pickler_finish(p) : status;
}

static taper_val back(const round_trip *t, taper_val value)
{
    taper_error *error = taper_error_create();
    taper_pickler p;
    if (write_pickle(t, value, &p, error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(error));
    }
    const taper_class_host classes = {.set_state = set_state, .member = member_of};
    const taper_pickle_host host = {.storage = storage_of, .classes = &classes};
    const taper_pickle_source source = {.data = p.bytes.data, .size = p.bytes.size, .name = "test.pkl"};
    taper_val again;
    if (taper_pickle_read(t->f->heap, t->scope, &host, &source, &again, error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(error));
    }
    taper_pickler_free(&p);
    taper_error_destroy(error);
    return again;
}

// Writes the value, reads it back and compares. Takes over the reference to value.
static void expect_back(const round_trip *t, taper_val value)
{
    const taper_val again = back(t, value);
    module_comparison c = {.where = "value"};
    if (!module_same_values(&c, value, again)) {
        fail_msg("%s", c.difference);
    }
    taper_pointer_free(&taper_allocator_system, &c.left);
    taper_pointer_free(&taper_allocator_system, &c.right);
    taper_val_release(again);
    taper_val_release(value);
}

static void expect_refused(const round_trip *t, taper_val value, taper_status want, const char *message)
{
    taper_error *error = taper_error_create();
    taper_pickler p;
    assert_int_equal(write_pickle(t, value, &p, error), want);
    if (strstr(taper_error_message(error), message) == NULL) {
        fail_msg("\"%s\", wanted \"%s\"", taper_error_message(error), message);
    }
    taper_pickler_free(&p);
    taper_error_destroy(error);
}

static void open_trip(round_trip *t, heap_fixture *f)
{
    *t = (round_trip){.f = f};
    open_heap(f);
    assert_int_equal(taper_type_scope_create(&taper_allocator_system, &t->scope, NULL), TAPER_OK);
}

static void close_trip(round_trip *t)
{
    taper_type_scope_destroy(t->scope);
    close_heap(t->f);
}

static taper_val text(heap_fixture *f, const char *data, size_t length)
{
    return TAPER_VAL(taper_string_new(f->heap, data, length));
}

static taper_list *list_of(heap_fixture *f, const taper_type *element, const taper_val *items, size_t count)
{
    taper_list *list = taper_list_new(f->heap, element, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(taper_list_append(list, items[i], NULL), TAPER_OK);
    }
    return list;
}

// ---- values that are written and read again

static void scalars(void **state)
{
    (void)state;
    heap_fixture f;
    round_trip t;
    open_trip(&t, &f);
    static const int64_t ints[] = {
        0, 1, -1, 255, 256, 65535, 65536, INT32_MAX, INT32_MIN, INT64_C(1) << 31, INT64_MAX, INT64_MIN, -70000};
    static const double doubles[] = {0.0, -0.0, 0.1, 1e308, -5e-324, (double)INFINITY, -(double)INFINITY};
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        expect_back(&t, taper_val_int(ints[i]));
    }
    for (size_t i = 0; i < sizeof doubles / sizeof doubles[0]; i++) {
        expect_back(&t, taper_val_double(doubles[i]));
    }
    uint64_t bits = UINT64_C(0x7ff8000000abcdef); // a NaN must keep the bits of its payload
    taper_val nan = taper_val_double(0);
    memcpy(&nan.as.f, &bits, sizeof bits);
    expect_back(&t, nan);
    expect_back(&t, taper_val_none());
    expect_back(&t, taper_val_bool(true));
    expect_back(&t, taper_val_bool(false));
    expect_back(&t, taper_val_device(0, -1));
    expect_back(&t, taper_val_device(1, 3));
    expect_back(&t, TAPER_VAL(taper_complex_new(f.heap, 1.5, -2)));
    expect_back(&t, text(&f, "", 0));
    expect_back(&t, text(&f, "a\0b\n\xc3\xa9", 6));
    expect_refused(&t, (taper_val){.tag = TAPER_UNDEFINED}, TAPER_ERROR_UNSUPPORTED, "never set");
    expect_refused(&t, taper_val_device(99, 0), TAPER_ERROR_UNSUPPORTED, "device");
    close_trip(&t);
}

static void containers(void **state)
{
    (void)state;
    heap_fixture f;
    round_trip t;
    open_trip(&t, &f);
    static const taper_type *const elements[] = {NULL, &taper_type_int, &taper_type_any};
    const taper_val numbers[] = {taper_val_int(1), taper_val_int(-2), taper_val_int(300)};
    for (size_t i = 0; i < 3; i++) {
        for (size_t count = 0; count <= 3; count += 3) {
            expect_back(&t, TAPER_VAL(list_of(&f, elements[i], numbers, count)));
        }
    }
    const taper_val doubles[] = {taper_val_double(0.5)}, bools[] = {taper_val_bool(true), taper_val_bool(false)};
    expect_back(&t, TAPER_VAL(list_of(&f, &taper_type_float, doubles, 1)));
    expect_back(&t, TAPER_VAL(list_of(&f, &taper_type_bool, bools, 2)));
    for (size_t count = 0; count < 6; count++) {
        taper_tuple *tuple = taper_tuple_new(f.heap, NULL, count);
        for (size_t i = 0; i < count; i++) {
            tuple->items[i] = taper_val_int((int64_t)i);
        }
        expect_back(&t, TAPER_VAL(tuple));
    }
    // Tests lists of several types, nested lists, and items that are the same object.
    const taper_type *nested;
    assert_int_equal(taper_type_parse(f.types, "List[List[int]]", 15, &nested, NULL), TAPER_OK);
    taper_list *inner = list_of(&f, &taper_type_int, numbers, 3);
    const taper_val twice[] = {TAPER_VAL(inner), taper_val_retain(TAPER_VAL(inner))};
    taper_list *outer = list_of(&f, nested->items[0], twice, 2);
    taper_dict *dict = taper_dict_new(f.heap, &taper_type_string, nested);
    taper_val name = text(&f, "name", 4);
    assert_int_equal(taper_dict_set(dict, name, TAPER_VAL(outer), NULL), TAPER_OK);
    taper_val_retain(name);
    taper_tuple *tuple = taper_tuple_new(f.heap, NULL, 4);
    tuple->items[0] = TAPER_VAL(dict);
    tuple->items[1] = name; // two equal strings may be read back as one object
    tuple->items[2] = text(&f, "name", 4);
    tuple->items[3] = TAPER_VAL(taper_dict_new(f.heap, NULL, NULL));
    expect_back(&t, TAPER_VAL(tuple));
    close_trip(&t);
}

static void objects(void **state)
{
    (void)state;
    heap_fixture f;
    round_trip t;
    open_trip(&t, &f);
    static const char *const slots[] = {"a", "name with blanks\xc3\xa9", ""}, *const native_slots[] = {"state"};
    const taper_class *plain = taper_types_class(f.types, "__torch__.sub.Plain", 3, slots),
                      *native = taper_types_class(f.types, "__torch__.torch.classes.ns.Thing", 1, native_slots),
                      *stated = taper_types_class(f.types, "__torch__.Stated", 0, NULL);
    taper_object *object = taper_object_new(f.heap, plain, 3);
    object->slots[0] = TAPER_VAL(taper_object_new(f.heap, native, 1));
    object->slots[0].as.object->slots[0] = taper_val_int(5);
    object->slots[1] = taper_val_retain(object->slots[0]);
    object->slots[2] = TAPER_VAL(taper_object_new(f.heap, plain, 3));
    expect_back(&t, TAPER_VAL(object));
    // Tests an object that is saved as a state instead of attributes; the reader stores the state in a slot.
    object = taper_object_new(f.heap, stated, 0);
    t.stated = object;
    t.as = TAPER_SAVED_STATE;
    t.state = TAPER_VAL(list_of(&f, NULL, NULL, 0));
    taper_val again = back(&t, TAPER_VAL(object));
    assert_int_equal(again.tag, TAPER_OBJECT);
    assert_int_equal(again.as.object->slots[0].tag, TAPER_LIST);
    taper_val_release(again);
    taper_val_release(t.state);
    taper_val_release(TAPER_VAL(object));
    object = taper_object_new(f.heap, taper_types_class(f.types, "__torch__.Color", 1, native_slots), 1);
    t.stated = object;
    t.as = TAPER_SAVED_MEMBER;
    t.state = taper_val_int(7);
    again = back(&t, TAPER_VAL(object));
    assert_int_equal(again.tag, TAPER_INT);
    assert_int_equal(again.as.i, 7);
    taper_val_release(TAPER_VAL(object));
    t.stated = NULL;
    // Tests classes whose names cannot be written.
    static const char *const names[] = {"Plain", "__torch__.", "__torch__.A\nB"};
    for (size_t i = 0; i < 3; i++) {
        object = taper_object_new(f.heap, taper_types_class(f.types, names[i], 0, slots), 0);
        expect_refused(&t, TAPER_VAL(object), TAPER_ERROR_UNSUPPORTED, "no name of a class");
        taper_val_release(TAPER_VAL(object));
    }
    object = taper_object_new(f.heap, plain, 4);
    expect_refused(&t, TAPER_VAL(object), TAPER_ERROR_UNSUPPORTED, "4 attributes, of which 3");
    taper_val_release(TAPER_VAL(object));
    object = taper_object_new(f.heap, native, 0);
    expect_refused(&t, TAPER_VAL(object), TAPER_ERROR_UNSUPPORTED, "no state");
    taper_val_release(TAPER_VAL(object));
    close_trip(&t);
}

// ---- tensors

static taper_tensor *tensor_of(heap_fixture *f, taper_dtype dtype, int64_t rows, int64_t columns)
{
    const int64_t sizes[] = {rows, columns};
    taper_tensor *tensor;
    assert_int_equal(taper_tensor_zeros(f->heap, dtype, 2, sizes, &tensor, NULL), TAPER_OK);
    return tensor;
}

static void tensors(void **state)
{
    (void)state;
    heap_fixture f;
    round_trip t;
    open_trip(&t, &f);
    for (int dtype = 0; dtype < TAPER_DTYPE_COUNT; dtype++) {
        if (!taper_dtype_is_quantized((taper_dtype)dtype)) {
            taper_tensor *plain = tensor_of(&f, (taper_dtype)dtype, 2, 3);
            plain->requires_grad = dtype == TAPER_F32;
            expect_back(&t, TAPER_VAL(plain));
        }
    }
    // Tests views: transposed, expanded, of another dtype; the same tensor twice; a tensor without elements.
    taper_tensor *base = tensor_of(&f, TAPER_F32, 4, 6), *turned, *expanded, *ints, *scalar;
    static const int64_t sizes[] = {3, 2, 2}, strides[] = {1, 6, 0};
    assert_int_equal(taper_tensor_view(f.heap, base->storage, TAPER_F32, 2, 2, sizes, strides, &turned, NULL),
                     TAPER_OK);
    assert_int_equal(taper_tensor_view(f.heap, base->storage, TAPER_F32, 1, 3, sizes, strides, &expanded, NULL),
                     TAPER_OK);
    assert_int_equal(taper_tensor_view(f.heap, base->storage, TAPER_I64, 3, 1, sizes, strides, &ints, NULL), TAPER_OK);
    assert_int_equal(taper_tensor_view(f.heap, base->storage, TAPER_F32, 5, 0, sizes, strides, &scalar, NULL),
                     TAPER_OK);
    const taper_val items[] = {TAPER_VAL(base),
                               TAPER_VAL(turned),
                               TAPER_VAL(expanded),
                               TAPER_VAL(ints),
                               TAPER_VAL(scalar),
                               TAPER_VAL(tensor_of(&f, TAPER_F64, 0, 3)),
                               taper_val_retain(TAPER_VAL(base))};
    expect_back(&t, TAPER_VAL(list_of(&f, &taper_type_tensor, items, sizeof items / sizeof items[0])));
    // Tests quantized tensors.
    const taper_quantizer affine = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = 0.1, .zero_point = -7};
    taper_tensor *quantized = tensor_of(&f, TAPER_QI8, 2, 3);
    assert_int_equal(taper_tensor_set_quantizer(quantized, &affine, NULL), TAPER_OK);
    expect_back(&t, TAPER_VAL(quantized));
    const int64_t channels[] = {3};
    taper_quantizer by_channel = {.scheme = TAPER_PER_CHANNEL_AFFINE, .axis = 1};
    assert_int_equal(taper_tensor_zeros(f.heap, TAPER_F64, 1, channels, &by_channel.scales, NULL), TAPER_OK);
    assert_int_equal(taper_tensor_zeros(f.heap, TAPER_I64, 1, channels, &by_channel.zero_points, NULL), TAPER_OK);
    quantized = tensor_of(&f, TAPER_QI32, 2, 3);
    assert_int_equal(taper_tensor_set_quantizer(quantized, &by_channel, NULL), TAPER_OK);
    expect_back(&t, TAPER_VAL(quantized));
    by_channel.scheme = TAPER_PER_CHANNEL_SYMMETRIC;
    quantized = tensor_of(&f, TAPER_QI8, 2, 3);
    assert_int_equal(taper_tensor_set_quantizer(quantized, &by_channel, NULL), TAPER_OK);
    expect_refused(&t, TAPER_VAL(quantized), TAPER_ERROR_UNSUPPORTED, "quantized in the way");
    taper_val_release(TAPER_VAL(quantized));
    taper_obj_release(&by_channel.scales->head);
    taper_obj_release(&by_channel.zero_points->head);
    quantized = tensor_of(&f, TAPER_QI8, 2, 3);
    expect_refused(&t, TAPER_VAL(quantized), TAPER_ERROR_ARGUMENT, "without quantizer");
    taper_val_release(TAPER_VAL(quantized));
    taper_tensor *hidden = tensor_of(&f, TAPER_F32, 2, 3);
    hidden->hidden_nhwc = true;
    expect_refused(&t, TAPER_VAL(hidden), TAPER_ERROR_ARGUMENT, "hidden NHWC");
    hidden->hidden_nhwc = false;
    taper_val_release(TAPER_VAL(hidden));
    close_trip(&t);
}

// ---- limits

static void limits(void **state)
{
    (void)state;
    heap_fixture f;
    round_trip t;
    open_trip(&t, &f);
    // Tests more items than a reader's stack allows; they are written in batches.
    enum { MANY = TAPER_LIMIT_PICKLE_STACK + 1000 };
    taper_list *list = taper_list_new(f.heap, &taper_type_int, MANY);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(taper_list_append(list, taper_val_int((int64_t)i), NULL), TAPER_OK);
    }
    expect_back(&t, TAPER_VAL(list));
    taper_tuple *tuple = taper_tuple_new(f.heap, NULL, MANY);
    expect_refused(&t, TAPER_VAL(tuple), TAPER_ERROR_RESOURCE, "larger than readers take");
    taper_val_release(TAPER_VAL(tuple));
    // Tests the maximum depth, and one level more.
    taper_val value = taper_val_none();
    for (int depth = 0; depth <= TAPER_LIMIT_VALUE_DEPTH; depth++) {
        taper_tuple *around = taper_tuple_new(f.heap, NULL, 1);
        around->items[0] = value;
        value = TAPER_VAL(around);
        if (depth == TAPER_LIMIT_VALUE_DEPTH - 1) {
            expect_back(&t, taper_val_retain(value));
        }
    }
    expect_refused(&t, value, TAPER_ERROR_RESOURCE, "nested more than");
    taper_val_release(value);
    // Tests a list that contains itself.
    list = taper_list_new(f.heap, NULL, 1);
    taper_obj_retain(&list->head.head);
    assert_int_equal(taper_list_append(list, TAPER_VAL(list), NULL), TAPER_OK);
    expect_refused(&t, TAPER_VAL(list), TAPER_ERROR_UNSUPPORTED, "a List holds itself");
    taper_list_clear(list);
    taper_obj_release(&list->head.head);
    close_trip(&t);
}

static void out_of_memory(void **state)
{
    (void)state;
    heap_fixture f;
    round_trip t;
    open_trip(&t, &f);
    taper_list *inner = list_of(&f, &taper_type_any, NULL, 0);
    const taper_val items[] = {TAPER_VAL(tensor_of(&f, TAPER_F32, 2, 3)), text(&f, "word", 4), TAPER_VAL(inner),
                               taper_val_retain(TAPER_VAL(inner)), taper_val_device(0, -1)};
    const taper_val value = TAPER_VAL(list_of(&f, &taper_type_any, items, sizeof items / sizeof items[0]));
    const size_t blocks = atomic_load(&f.memory.blocks);
    for (size_t n = 1;; n++) {
        taper_pickler p;
        f.memory.fail_at = atomic_load(&f.memory.calls) + n;
        const taper_status status = write_pickle(&t, value, &p, NULL);
        const bool failed = atomic_load(&f.memory.calls) >= f.memory.fail_at;
        f.memory.fail_at = 0;
        taper_pickler_free(&p);
        assert_int_equal(atomic_load(&f.memory.blocks), blocks);
        if (!failed) {
            assert_int_equal(status, TAPER_OK);
            break;
        }
        // Writing may succeed, because it works without the tables of strings.
        assert_true(status == TAPER_OK || status == TAPER_ERROR_RESOURCE);
    }
    taper_val_release(value);
    close_trip(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scalars), cmocka_unit_test(containers),
                                       cmocka_unit_test(objects), cmocka_unit_test(tensors),
                                       cmocka_unit_test(limits),  cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
