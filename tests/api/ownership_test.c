// SPDX-License-Identifier: BSD-2-Clause
// Tests that bytes have one owner. The library must not write to the host's bytes, return them to the system or read
// them after their release. If no code may write to some memory, the library must mark every pointer to it as
// read-only.
#define _DEFAULT_SOURCE 1
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"
#include "tests/unit/program_fixture.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

static void count_release(void *user)
{
    ++*(int *)user;
}

// ---- a file in the host's memory

typedef struct host_file {
    uint8_t *data; // bytes of the model in whole pages, as if an app had mapped an asset
    uint8_t *before;
    size_t size, room;
} host_file;

static host_file read_host_file(const char *file)
{
    char path[1024];
    test_path(file, path, sizeof path);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    host_file f = {.size = 0};
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    f.size = (size_t)ftell(stream);
    rewind(stream);
    f.room = (f.size + 65535) / 65536 * 65536;
    f.data = mmap(NULL, f.room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    f.before = malloc(f.size);
    assert_true(f.data != MAP_FAILED && f.before != NULL && fread(f.data, 1, f.size, stream) == f.size);
    memcpy(f.before, f.data, f.size);
    fclose(stream);
    return f;
}

static void free_host_file(host_file *f)
{
    munmap(f->data, f->room);
    free(f->before);
}

static taper_value *picture(taper_context *context)
{
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_tensor(context, TAPER_F32, 4, (int64_t[]){1, 3, 96, 96}, &value, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    for (size_t i = 0; i < info.bytes / sizeof(float); i++) {
        ((float *)info.data)[i] = (float)(i % 255) / 255.0f;
    }
    return value;
}

static taper_value *run_once(taper_context *context, taper_model *model)
{
    taper_session *session;
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    taper_value *input = picture(context), *result;
    assert_int_equal(taper_session_run(session, NULL, &input, 1, &result, NULL), TAPER_OK);
    taper_value_release(input);
    taper_session_destroy(session);
    return result;
}

static int read_from(void *user, uint64_t offset, void *buffer, size_t size)
{
    const host_file *f = user;
    memcpy(buffer, f->data + offset, size);
    return 0;
}

// Packing weights returns pages of a file to the system, but must not return the host's pages. Each way to load is
// tested twice with the same bytes.
static void memory_of_the_host_stays(void **state)
{
    (void)state;
    host_file f = read_host_file("classifier.ptl");
    taper_context *context = test_context(NULL, 1);
    taper_value *wanted = NULL;
    for (int how = 0; how < 6; how++) {
        taper_model *model = NULL;
        const taper_load_options plain = {.struct_size = sizeof plain};
        taper_load_options options = {.struct_size = sizeof options,
                                      .compiler = how % 2 == 0 ? taper_compiler() : NULL};
        int released = 0;
        if (how < 2) {
            assert_int_equal(
                taper_model_load_memory(context, f.data, f.size, count_release, &released, &options, &model, NULL),
                TAPER_OK);
        } else if (how < 4) {
            assert_int_equal(taper_model_load_callback(context, read_from, &f, f.size, &plain, &model, NULL), TAPER_OK);
        } else {
            char path[1024];
            test_path("classifier.ptl", path, sizeof path);
            options.flags = TAPER_LOAD_COPY;
            assert_int_equal(taper_model_load(context, path, &options, &model, NULL), TAPER_OK);
        }
        taper_value *first = run_once(context, model), *second = run_once(context, model);
        wanted = wanted != NULL ? wanted : taper_value_retain(first);
        assert_true(test_same(first, second));
        taper_value_release(first);
        taper_value_release(second);
        assert_int_equal(released, 0);
        taper_model_release(model);
        assert_int_equal(released, how < 2);
        assert_memory_equal(f.data, f.before, f.size);
    }
    taper_value_release(wanted);
    taper_context_release(context);
    free_host_file(&f);
}

// After a failure the bytes still belong to the caller.
static void refused_file_is_not_released(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    int released = 0;
    static const char damaged[] = "PK\3\4 this is not a model, whatever it begins with";
    assert_int_equal(
        taper_model_load_memory(context, damaged, sizeof damaged, count_release, &released, &as_saved, &model, NULL),
        TAPER_ERROR_FILE);
    assert_int_equal(released, 0);
    taper_context_release(context);
}

// ---- a file that is truncated while it is copied

typedef struct truncating {
    taper_allocator allocator;
    const char *path;
    size_t size; // the file is truncated when the library requests a block of this size, in bytes
} truncating;

static void *truncate_at(void *user, void *ptr, size_t old_size, size_t new_size)
{
    truncating *t = user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    if (new_size == t->size) {
        assert_int_equal(truncate(t->path, 100), 0);
    }
    return realloc(ptr, new_size);
}

static void truncated_while_copied(void **state)
{
    (void)state;
    host_file f = read_host_file("classifier.ptl");
    char path[] = "/tmp/taper_truncated_XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, f.data, f.size) == (ssize_t)f.size);
    close(fd);
    truncating t = {.path = path, .size = f.size};
    t.allocator = (taper_allocator){.user = &t, .reallocate = truncate_at};
    const taper_context_options how = {.struct_size = sizeof how, .allocator = &t.allocator, .threads = 1};
    taper_context *context;
    taper_model *model;
    taper_error *error = taper_error_create();
    assert_int_equal(taper_context_create(&how, &context, NULL), TAPER_OK);
    const taper_load_options options = {.struct_size = sizeof options, .flags = TAPER_LOAD_COPY};
    assert_int_equal(taper_model_load(context, path, &options, &model, error), TAPER_ERROR_FILE);
    assert_non_null(strstr(taper_error_message(error), "shorter"));
    taper_context_release(context);
    taper_error_destroy(error);
    unlink(path);
    free_host_file(&f);
}

// ---- ownership of inputs

static taper_value *constant(const program *p, float *data, int64_t count, int *released)
{
    taper_value *value;
    assert_int_equal(taper_value_tensor_from(p->context, TAPER_F32, 1, &count, NULL, data, (size_t)count * sizeof *data,
                                             1, count_release, released, &value, NULL),
                     TAPER_OK);
    return value;
}

// The program is: x.add_(x2); return x.
static const code adding[] = {{"STOREN", 1, 3}, {"MOVE", 2, 0},  {"MOVE", 3, 0}, {"LOADC", 0, 0},
                              {"OP", 0, 0},     {"DROPR", 1, 0}, {"RET", 0, 0}};

static void open_adding(program *p)
{
    TEXTS(operators, "aten::add_.Tensor 3");
    TEXTS(constants, "1");
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = {.name = "__torch__.Net.forward",
                        .code = adding,
                        .code_count = sizeof adding / sizeof *adding,
                        .operators = operators,
                        .constants = constants,
                        .arguments = arguments,
                        .registers = 4};
    open_program(p, &f, false);
}

static void constant_input_is_never_written(void **state)
{
    (void)state;
    program p;
    open_adding(&p);
    float data[3] = {1, 1, 1};
    int released = 0;
    taper_value *x = constant(&p, data, 3, &released), *two = vector(&p, 3, 2);
    taper_value *first = run_program(&p, (taper_value *[]){x, two}, 2);
    taper_value *second = run_program(&p, (taper_value *[]){x, two}, 2);
    expect_vector(first, 3, 3);
    expect_vector(second, 3, 3);
    expect_vector(x, 3, 1);
    assert_true(data[0] == 1);
    assert_int_equal(released, 0);
    // One value passed as two arguments is one tensor, as in PyTorch: x += x.
    taper_value *both = run_program(&p, (taper_value *[]){x, x}, 2);
    expect_vector(both, 3, 2);
    expect_vector(x, 3, 1);
    taper_value_release(both);
    taper_value_release(x);
    taper_value_release(first);
    taper_value_release(second);
    assert_int_equal(released, 1);
    // The model writes to a tensor that was not passed as read-only, as in PyTorch.
    taper_value *third = run_program(&p, (taper_value *[]){two, two}, 2);
    expect_vector(two, 3, 4);
    taper_value_release(third);
    taper_value_release(two);
    close_program(&p);
}

// The result is the read-only input itself: its memory must remain until the result is released.
static void result_holds_the_constant(void **state)
{
    (void)state;
    static const code returning[] = {{"STOREN", 1, 2}, {"MOVE", 2, 0}, {"DROPR", 1, 0}, {"RET", 0, 0}};
    TEXTS(arguments, "Tensor");
    const function f = {
        .name = "__torch__.Net.forward", .code = returning, .code_count = 4, .arguments = arguments, .registers = 3};
    program p;
    open_program(&p, &f, false);
    float data[3] = {5, 5, 5};
    int released = 0;
    taper_value *x = constant(&p, data, 3, &released);
    taper_value *result = run_program(&p, &x, 1);
    taper_value_release(x);
    assert_int_equal(released, 0);
    expect_vector(result, 3, 5);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(result, &info, NULL), TAPER_OK);
    assert_int_equal(info.read_only, 1);
    taper_value_release(result);
    assert_int_equal(released, 1);
    close_program(&p);
}

// The program is: l[0].add_(1); return l[0].
static void constant_in_a_list(void **state)
{
    (void)state;
    static const code first[] = {{"STOREN", 1, 2}, {"MOVE", 2, 0}, {"LOADC", 0, 0}, {"OP", 0, 0}, {"LOADC", 1, 0},
                                 {"LOADC", 1, 0},  {"OP", 1, 0},   {"DROPR", 1, 0}, {"RET", 0, 0}};
    TEXTS(operators, "aten::__getitem__.t 2", "aten::add_.Scalar 3");
    TEXTS(constants, "0", "1");
    TEXTS(arguments, "List[Tensor]");
    const function f = {.name = "__torch__.Net.forward",
                        .code = first,
                        .code_count = sizeof first / sizeof *first,
                        .operators = operators,
                        .constants = constants,
                        .arguments = arguments,
                        .registers = 3};
    program p;
    open_program(&p, &f, false);
    float data[2] = {1, 1};
    int released = 0;
    taper_value *x = constant(&p, data, 2, &released), *list;
    assert_int_equal(taper_value_list(p.context, "Tensor", &x, 1, &list, NULL), TAPER_OK);
    taper_value *result = run_program(&p, &list, 1);
    expect_vector(result, 2, 2);
    assert_true(data[0] == 1);
    taper_value_release(result);
    taper_value_release(list);
    assert_int_equal(released, 0);
    taper_value_release(x);
    assert_int_equal(released, 1);
    close_program(&p);
}

// A view without elements may begin anywhere, even after the end of its storage.
static void empty_view_has_no_bytes(void **state)
{
    (void)state;
    static const code viewing[] = {
        {"STOREN", 1, 2},         {"MOVE", 2, 0},  {"LOADC", 0, 0}, {"LIST_CONSTRUCT", 0, 1}, {"LOADC", 1, 0},
        {"LIST_CONSTRUCT", 0, 1}, {"LOADC", 2, 0}, {"OP", 0, 0},    {"DROPR", 1, 0},          {"RET", 0, 0}};
    TEXTS(operators, "aten::as_strided 4");
    TEXTS(constants, "0", "1", "1000");
    TEXTS(types, "List[int]");
    TEXTS(arguments, "Tensor");
    const function f = {.name = "__torch__.Net.forward",
                        .code = viewing,
                        .code_count = sizeof viewing / sizeof *viewing,
                        .operators = operators,
                        .constants = constants,
                        .types = types,
                        .arguments = arguments,
                        .registers = 3};
    program p;
    open_program(&p, &f, false);
    taper_value *x = vector(&p, 3, 1), *result;
    if (taper_session_run(p.session, NULL, &x, 1, &result, p.error) == TAPER_OK) {
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_value_get_tensor(result, &info, NULL), TAPER_OK);
        assert_int_equal(info.bytes, 0);
        taper_value_release(result);
    } else {
        fail_msg("%s", taper_error_message(p.error));
    }
    taper_value_release(x);
    close_program(&p);
}

// ---- ownership of attributes

static void attribute_says_read_only(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_session *session;
    taper_value *weight;
    assert_int_equal(test_load(context, "s18_storages.ptl", true, &model, NULL), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    assert_int_equal(taper_session_attribute(session, "base", &weight, NULL), TAPER_OK);
    taper_tensor_info before = {.struct_size = sizeof before}, after = {.struct_size = sizeof after};
    assert_int_equal(taper_value_get_tensor(weight, &before, NULL), TAPER_OK);
    assert_int_equal(before.read_only, 1);
    assert_int_equal(taper_value_make_writable(weight, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(weight, &after, NULL), TAPER_OK);
    assert_int_equal(after.read_only, 0);
    assert_memory_equal(after.data, before.data, before.bytes); // old memory and copy are readable
    memset(after.data, 0, after.bytes);
    // The session must see the change; other sessions of the model must not.
    taper_value *again, *other;
    taper_session *second;
    assert_int_equal(taper_session_create(model, NULL, &second, NULL), TAPER_OK);
    assert_int_equal(taper_session_attribute(session, "base", &again, NULL), TAPER_OK);
    assert_int_equal(taper_session_attribute(second, "base", &other, NULL), TAPER_OK);
    assert_true(test_same(weight, again));
    assert_false(test_same(weight, other));
    taper_value_release(again);
    taper_value_release(other);
    taper_session_destroy(second);
    taper_session_destroy(session);
    taper_model_release(model);
    assert_memory_equal(after.data, ((const char[8]){0}), 8); // the value outlives the session and the model
    taper_value_release(weight);
    taper_context_release(context);
}

static void constant_cannot_be_made_writable(void **state)
{
    (void)state;
    program p;
    open_adding(&p);
    float data[1] = {1};
    int released = 0;
    taper_value *x = constant(&p, data, 1, &released);
    assert_int_equal(taper_value_make_writable(x, p.error), TAPER_ERROR_ARGUMENT);
    taper_value_release(x);
    close_program(&p);
}

// ---- packed weights

// The model also owns the scales of a tensor quantized per channel, so the second run finds the tensor's packed
// weights.
static void per_channel_weights_are_packed_once(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_session *session;
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    assert_int_equal(taper_model_load(context, TEST_MODELS "/per_channel.ptl", &options, &model, NULL), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
    const int64_t sizes[] = {1, 3, 8, 8};
    size_t packed[3];
    for (int i = 0; i < 3; i++) {
        taper_value *x, *result;
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_value_tensor(context, TAPER_F32, 4, sizes, &x, NULL), TAPER_OK);
        assert_int_equal(taper_value_get_tensor(x, &info, NULL), TAPER_OK);
        memset(info.data, 0, info.bytes);
        assert_int_equal(taper_session_run(session, NULL, &x, 1, &result, NULL), TAPER_OK);
        taper_value_release(result);
        taper_value_release(x);
        taper_memory_info memory = {.struct_size = sizeof memory};
        taper_session_memory(session, &memory);
        packed[i] = memory.packed_bytes;
    }
    assert_true(packed[0] > 8 * 27 + 4 * 8); // the packed weights need at least the bytes of the weights
    assert_int_equal(packed[1], packed[0]);
    assert_int_equal(packed[2], packed[0]);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_of_the_host_stays),         cmocka_unit_test(refused_file_is_not_released),
        cmocka_unit_test(truncated_while_copied),           cmocka_unit_test(constant_input_is_never_written),
        cmocka_unit_test(result_holds_the_constant),        cmocka_unit_test(constant_in_a_list),
        cmocka_unit_test(empty_view_has_no_bytes),          cmocka_unit_test(attribute_says_read_only),
        cmocka_unit_test(constant_cannot_be_made_writable), cmocka_unit_test(per_channel_weights_are_packed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
