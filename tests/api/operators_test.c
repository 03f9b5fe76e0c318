// SPDX-License-Identifier: BSD-2-Clause
// Tests calls of single operators, without a model.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"

typedef struct world {
    taper_context *context;
    taper_error *error;
} world;

static int open_world(void **state)
{
    static world w;
    w = (world){test_context(NULL, 2), taper_error_create()};
    *state = &w;
    return 0;
}

static int close_world(void **state)
{
    world *w = *state;
    taper_context_release(w->context);
    taper_error_destroy(w->error);
    return 0;
}

static taper_value *floats(taper_context *context, size_t rank, const int64_t *sizes, const float *data)
{
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_tensor(context, TAPER_F32, rank, sizes, &value, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    for (size_t i = 0; i < info.bytes / sizeof(float); i++) {
        ((float *)info.data)[i] = data != NULL ? data[i] : (float)(i % 7) - 3;
    }
    return value;
}

static taper_value *row(taper_context *context, float a, float b, float c)
{
    const float data[] = {a, b, c};
    const int64_t size = 3;
    return floats(context, 1, &size, data);
}

static taper_value *integer(taper_context *context, int64_t number)
{
    taper_value *value;
    assert_int_equal(taper_value_int(context, number, &value, NULL), TAPER_OK);
    return value;
}

static taper_value *text(taper_context *context, const char *string)
{
    taper_value *value;
    assert_int_equal(taper_value_string(context, string, strlen(string), &value, NULL), TAPER_OK);
    return value;
}

static const float *data_of(const taper_value *value)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    return info.data;
}

static void check_row(const taper_value *value, float a, float b, float c)
{
    const float *data = data_of(value);
    if (data[0] != a || data[1] != b || data[2] != c) {
        fail_msg("%g %g %g, wanted %g %g %g", (double)data[0], (double)data[1], (double)data[2], (double)a, (double)b,
                 (double)c);
    }
}

static void release_all(taper_value **values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        taper_value_release(values[i]);
    }
}

static taper_operator *find(const world *w, const char *name)
{
    taper_operator *op;
    if (taper_operator_find(w->context, name, &op, w->error) != TAPER_OK) {
        fail_msg("%s: %s", name, taper_error_message(w->error));
    }
    return op;
}

// Calls an operator with these arguments, which are released, and returns its single result.
static taper_value *call(const world *w, const char *name, taper_value **args, size_t count)
{
    taper_operator *op = find(w, name);
    taper_value *result;
    if (taper_operator_call(op, args, count, &result, 1, w->error) != TAPER_OK) {
        fail_msg("%s: %s", name, taper_error_message(w->error));
    }
    taper_operator_release(op);
    release_all(args, count);
    return result;
}

// ---- finding operators

static void found(void **state)
{
    const world *w = *state;
    static const char *const names[] = {"aten::relu", "aten::add.Tensor",
                                        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
                                        " aten::relu" + 1, "aten::relu( Tensor self )->Tensor"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        taper_operator *op = find(w, names[i]);
        assert_non_null(strstr(taper_operator_schema(op), " -> Tensor"));
        assert_int_equal(taper_operator_result_count(op), 1);
        taper_operator_release(op);
    }
    taper_operator *op = find(w, "aten::max.dim");
    assert_int_equal(taper_operator_result_count(op), 2);
    taper_operator_release(op);
    op = find(w, "aten::clear.t");
    assert_int_equal(taper_operator_result_count(op), 0);
    taper_operator_release(op);
    assert_string_equal(taper_operator_schema(NULL), "");
    assert_int_equal(taper_operator_result_count(NULL), 0);
    taper_operator_seed(NULL, 1);
    taper_operator_release(NULL);
}

// All handles of a tensor together hold one reference to the tensor, and a list that contains the tensor holds another
// reference. A number has no object, only handles.
static void use_counts(void **state)
{
    const world *w = *state;
    const int64_t sizes[] = {2};
    taper_value *tensor = NULL, *list = NULL, *number = NULL;
    assert_int_equal(taper_value_use_count(NULL), 0);
    assert_int_equal(taper_value_int(w->context, 7, &number, NULL), TAPER_OK);
    assert_int_equal(taper_value_use_count(number), 1);
    assert_int_equal(taper_value_tensor(w->context, TAPER_F32, 1, sizes, &tensor, NULL), TAPER_OK);
    assert_int_equal(taper_value_use_count(tensor), 1);
    taper_value_retain(tensor);
    assert_int_equal(taper_value_use_count(tensor), 2);
    taper_value *const items[] = {tensor, tensor};
    assert_int_equal(taper_value_list(w->context, "Tensor", items, 2, &list, NULL), TAPER_OK);
    assert_int_equal(taper_value_use_count(tensor), 4);
    taper_value_release(list);
    taper_value_release(tensor);
    assert_int_equal(taper_value_use_count(tensor), 1);
    taper_value_release(tensor);
    taper_value_release(number);
}

static void not_found(void **state)
{
    const world *w = *state;
    char lengthy[600];
    memset(lengthy, 'a', sizeof lengthy);
    lengthy[sizeof lengthy - 1] = '\0';
    const struct {
        const char *name;
        taper_status status;
        const char *message, *detail;
    } rows[] = {
        {"aten::transpose", TAPER_ERROR_UNSUPPORTED, "operator aten::transpose is not part of this build",
         "  aten::transpose.int("},
        {"aten::add.tensor", TAPER_ERROR_UNSUPPORTED, "operator aten::add.tensor", "  aten::add.Tensor("},
        {"aten::relu.", TAPER_OK, "", ""}, // the overload name after the dot is empty
        {"", TAPER_ERROR_UNSUPPORTED, "is not part", ""},
        {"(", TAPER_ERROR_UNSUPPORTED, "is not part", ""},
        {".", TAPER_ERROR_UNSUPPORTED, "is not part", ""},
        {"relu", TAPER_ERROR_UNSUPPORTED, "operator relu", ""},
        {"my_ops::warp(Tensor a) -> Tensor", TAPER_ERROR_UNSUPPORTED, "operator my_ops::warp is", ""},
        {lengthy, TAPER_ERROR_UNSUPPORTED, "operator aaa", ""},
        {"aten::relu(Tensor self)", TAPER_ERROR_ARGUMENT, "another one: aten::relu(Tensor self) -> Tensor", ""},
        {"aten::relu(Tensor self) -> Tensor?", TAPER_ERROR_ARGUMENT, "another one", ""},
        {"aten::relu(Tensor input) -> Tensor", TAPER_ERROR_ARGUMENT, "another one", ""},
        {"prim::TupleUnpack", TAPER_ERROR_UNSUPPORTED, "only models call it", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taper_operator *op;
        const taper_status status = taper_operator_find(w->context, rows[i].name, &op, w->error);
        if (status != rows[i].status || (op != NULL) != (status == TAPER_OK) ||
            (status != TAPER_OK && (strstr(taper_error_message(w->error), rows[i].message) == NULL ||
                                    strstr(taper_error_detail(w->error), rows[i].detail) == NULL))) {
            fail_msg("%s: status %d, %s\n%s", rows[i].name, (int)status, taper_error_message(w->error),
                     taper_error_detail(w->error));
        }
        taper_operator_release(op);
    }
}

// ---- calls of operators

static void arguments_and_defaults(void **state)
{
    const world *w = *state;
    taper_context *c = w->context;
    taper_operator *add = find(w, "aten::add.Tensor");
    taper_value *args[] = {row(c, 1, 2, 3), row(c, 10, 20, 30), integer(c, 2)}, *result;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(taper_operator_call(add, args, 2, &result, 1, w->error), TAPER_OK);
        check_row(result, 11, 22, 33);
        taper_value_release(result);
        assert_int_equal(taper_operator_call(add, args, 3, &result, 1, w->error), TAPER_OK);
        check_row(result, 21, 42, 63);
        taper_value_release(result);
    }
    release_all(args, 3);
    taper_operator_release(add);
    // Passes an int for a float, and an int for an int[2].
    taper_value *dropout[] = {row(c, 1, 2, 3), integer(c, 0), NULL};
    assert_int_equal(taper_value_bool(c, 1, &dropout[2], NULL), TAPER_OK);
    result = call(w, "aten::dropout", dropout, 3);
    check_row(result, 1, 2, 3);
    taper_value_release(result);
    static const int64_t image[] = {1, 1, 4, 4};
    taper_value *pool[] = {floats(c, 4, image, NULL), integer(c, 2)};
    result = call(w, "aten::max_pool2d", pool, 2);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(result, &info, NULL), TAPER_OK);
    assert_int_equal(info.sizes[2] * info.sizes[3], 4);
    taper_value_release(result);
    // Calls an operator with any number of arguments.
    taper_value *format[] = {text(c, "{} and {}"), integer(c, 1), text(c, "two")};
    result = call(w, "aten::format", format, 3);
    const char *made;
    size_t length;
    assert_int_equal(taper_value_get_string(result, &made, &length, NULL), TAPER_OK);
    assert_string_equal(made, "1 and two");
    taper_value_release(result);
    taper_value *many[32];
    for (size_t i = 0; i < 32; i++) {
        many[i] = i == 0 ? text(c, "{}{}") : integer(c, 7);
    }
    taper_value_release(call(w, "aten::format", many, 32));
}

static void several_results(void **state)
{
    const world *w = *state;
    taper_context *c = w->context;
    static const int64_t sizes[] = {2, 3};
    taper_operator *max = find(w, "aten::max.dim");
    taper_value *args[] = {floats(c, 2, sizes, NULL), integer(c, 0)}, *results[2];
    assert_int_equal(taper_operator_call(max, args, 2, results, 2, w->error), TAPER_OK);
    check_row(results[0], 0, 1, 2);
    release_all(results, 2);
    taper_operator_release(max);
    release_all(args, 2);
    taper_value *one = floats(c, 2, sizes, NULL), *list = call(w, "aten::unbind.int", &one, 1), *item;
    assert_int_equal(taper_value_count(list), 2);
    assert_int_equal(taper_value_item(list, 1, &item, NULL), TAPER_OK);
    check_row(item, 0, 1, 2);
    taper_operator *clear = find(w, "aten::clear.t");
    assert_int_equal(taper_operator_call(clear, &list, 1, NULL, 0, w->error), TAPER_OK);
    assert_int_equal(taper_value_count(list), 0);
    taper_operator_release(clear);
    taper_value_release(item);
    taper_value_release(list);
}

// Operators in place write to the caller's memory if it is writable, otherwise to a copy.
static void in_place(void **state)
{
    const world *w = *state;
    taper_context *c = w->context;
    taper_operator *add = find(w, "aten::add_.Tensor"), *view = find(w, "aten::view");
    float mine[] = {1, 2, 3};
    const int64_t size = 3;
    for (int read_only = 0; read_only < 2; read_only++) {
        taper_value *args[] = {NULL, row(c, 1, 1, 1)}, *result;
        assert_int_equal(taper_value_tensor_from(c, TAPER_F32, 1, &size, NULL, mine, sizeof mine, read_only, NULL, NULL,
                                                 &args[0], NULL),
                         TAPER_OK);
        assert_int_equal(taper_operator_call(add, args, 2, &result, 1, w->error), TAPER_OK);
        check_row(result, read_only ? 3 : 2, read_only ? 4 : 3, read_only ? 5 : 4);
        assert_true((data_of(result) == mine) == (read_only == 0));
        assert_true(mine[0] == 2 && mine[1] == 3 && mine[2] == 4);
        assert_ptr_equal(data_of(args[0]), mine);
        taper_value_release(result);
        // The view shares the memory of the tensor.
        taper_value *shape[] = {args[0], NULL}, *numbers[] = {integer(c, 1), integer(c, 3)};
        assert_int_equal(taper_value_list(c, "int", numbers, 2, &shape[1], NULL), TAPER_OK);
        assert_int_equal(taper_operator_call(view, shape, 2, &result, 1, w->error), TAPER_OK);
        assert_ptr_equal(data_of(result), mine);
        taper_value_release(result);
        taper_value_release(shape[1]);
        release_all(numbers, 2);
        release_all(args, 2);
    }
    taper_operator_release(add);
    taper_operator_release(view);
}

// A convolution called as a single operator uses the CPU backend's kernels and threads, and its result is contiguous.
static void a_convolution(void **state)
{
    const world *w = *state;
    static const int64_t image[] = {1, 32, 20, 20}, weight[] = {32, 32, 3, 3};
    for (int round = 0; round < 2; round++) {
        taper_value *args[] = {floats(w->context, 4, image, NULL), floats(w->context, 4, weight, NULL)};
        taper_value *result = call(w, "aten::conv2d", args, 2);
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_value_get_tensor(result, &info, NULL), TAPER_OK);
        static const int64_t sizes[] = {1, 32, 18, 18}, strides[] = {10368, 324, 18, 1};
        assert_memory_equal(info.sizes, sizes, sizeof sizes);
        assert_memory_equal(info.strides, strides, sizeof strides);
        taper_value_release(result);
    }
}

static void random_numbers(void **state)
{
    const world *w = *state;
    taper_operator *first = find(w, "aten::rand_like"), *second = find(w, "aten::rand_like");
    taper_value *like = row(w->context, 0, 0, 0), *a, *b;
    assert_int_equal(taper_operator_call(first, &like, 1, &a, 1, w->error), TAPER_OK);
    assert_int_equal(taper_operator_call(second, &like, 1, &b, 1, w->error), TAPER_OK);
    assert_true(test_same(a, b)); // equal, because both generators begin with PyTorch's default seed
    taper_value_release(b);
    assert_int_equal(taper_operator_call(second, &like, 1, &b, 1, w->error), TAPER_OK);
    assert_false(test_same(a, b));
    taper_value_release(a);
    taper_operator_seed(first, 5);
    taper_operator_seed(second, 5);
    assert_int_equal(taper_operator_call(first, &like, 1, &a, 1, w->error), TAPER_OK);
    taper_value_release(b);
    assert_int_equal(taper_operator_call(second, &like, 1, &b, 1, w->error), TAPER_OK);
    assert_true(test_same(a, b));
    taper_value_release(a);
    taper_value_release(b);
    taper_value_release(like);
    taper_operator_release(first);
    taper_operator_release(second);
}

// Two handles and a session share one generator: each of the three continues the sequence of numbers where the one
// before it stopped.
static void shared_random_numbers(void **state)
{
    const world *w = *state;
    taper_operator *alone = find(w, "aten::rand_like"), *first = find(w, "aten::rand_like"),
                   // aten::dropout consists of operators that draw random numbers.
                                                            *second = find(w, "aten::dropout");
    taper_generator *generator;
    taper_value *like = row(w->context, 0, 0, 0), *want[2], *got[2];
    assert_int_equal(taper_generator_create(w->context, 7, &generator, w->error), TAPER_OK);
    taper_operator_seed(alone, 7);
    taper_operator_draw_from(first, generator);
    taper_operator_draw_from(second, generator);
    for (int round = 0; round < 2; round++) { // the second round must start from the seed again
        for (int i = 0; i < 2; i++) {
            assert_int_equal(taper_operator_call(alone, &like, 1, &want[i], 1, w->error), TAPER_OK);
        }
        taper_value *ones = row(w->context, 1, 1, 1), *half, *train, *dropped;
        assert_int_equal(taper_value_double(w->context, 0.5, &half, NULL), TAPER_OK);
        assert_int_equal(taper_value_bool(w->context, 1, &train, NULL), TAPER_OK);
        taper_value *args[] = {ones, half, train};
        assert_int_equal(taper_operator_call(first, &like, 1, &got[0], 1, w->error), TAPER_OK);
        assert_true(test_same(got[0], want[0]));
        // Draws random numbers from the shared generator.
        assert_int_equal(taper_operator_call(second, args, 3, &dropped, 1, w->error), TAPER_OK);
        assert_int_equal(taper_operator_call(first, &like, 1, &got[1], 1, w->error), TAPER_OK);
        assert_false(test_same(got[1], want[1]));
        taper_value *all[] = {want[0], want[1], got[0], got[1], ones, half, train, dropped};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            taper_value_release(all[i]);
        }
        taper_operator_seed(alone, 7);
        taper_generator_seed(generator, 7);
    }
    taper_generator_release(generator); // the handles keep the generator alive
    assert_int_equal(taper_operator_call(first, &like, 1, &got[0], 1, w->error), TAPER_OK);
    assert_int_equal(taper_operator_call(alone, &like, 1, &want[0], 1, w->error), TAPER_OK);
    assert_true(test_same(got[0], want[0]));
    taper_value_release(got[0]);
    taper_value_release(want[0]);
    taper_operator_draw_from(first, NULL); // draws from the operator's own generator again, which is still unused
    taper_operator *fresh = find(w, "aten::rand_like");
    assert_int_equal(taper_operator_call(first, &like, 1, &got[0], 1, w->error), TAPER_OK);
    assert_int_equal(taper_operator_call(fresh, &like, 1, &want[0], 1, w->error), TAPER_OK);
    assert_true(test_same(got[0], want[0]));
    taper_value_release(got[0]);
    taper_value_release(want[0]);
    taper_value_release(like);
    taper_operator_release(alone);
    taper_operator_release(first);
    taper_operator_release(second);
    taper_operator_release(fresh);
}

static void null_is_none(void **state)
{
    const world *w = *state;
    taper_value *args[] = {row(w->context, -1, 0, 4), NULL, integer(w->context, 2)};
    taper_value *result = call(w, "aten::clamp", args, 3);
    static const float want[] = {-1, 0, 2};
    assert_memory_equal(data_of(result), want, sizeof want);
    taper_value_release(result);
}

static void lists(void **state)
{
    const world *w = *state;
    const int64_t numbers[] = {3, 1};
    taper_value *sizes, *none, *both;
    taper_value *x[] = {row(w->context, 1, 2, 3), row(w->context, 4, 5, 6)};
    assert_int_equal(taper_value_list_int(w->context, numbers, 2, &sizes, NULL), TAPER_OK);
    assert_int_equal(taper_value_list_int(w->context, NULL, 0, &none, NULL), TAPER_OK);
    assert_int_equal(taper_value_count(sizes), 2);
    assert_int_equal(taper_value_count(none), 0);
    assert_int_equal(taper_value_list(w->context, "Tensor", x, 2, &both, NULL), TAPER_OK);
    taper_value *args[] = {both, integer(w->context, 0)};
    taper_value *joined = call(w, "aten::cat", args, 2);
    taper_value *column[] = {x[0], sizes};
    taper_value *view = call(w, "aten::view", column, 2);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(view, &info, NULL), TAPER_OK);
    assert_memory_equal(info.sizes, numbers, sizeof numbers);
    assert_memory_equal(data_of(joined), ((float[]){1, 2, 3, 4, 5, 6}), 6 * sizeof(float));
    taper_value_release(joined);
    taper_value_release(view);
    taper_value_release(none);
    taper_value_release(x[1]);
}

static void quantized(void **state)
{
    const world *w = *state;
    taper_value *plain = row(w->context, -1, 0, 1), *relu[1];
    assert_int_equal(taper_value_quantize(w->context, plain, TAPER_QU8, 0.5, 128, &relu[0], NULL), TAPER_OK);
    taper_value *result = call(w, "aten::relu", relu, 1);
    assert_memory_equal(data_of(result), "\x80\x80\x82", 3);
    taper_value_release(result);
    taper_value_release(plain);
}

// ---- errors name the problem

static void wrong_calls(void **state)
{
    const world *w = *state;
    taper_context *c = w->context;
    taper_value *const x = row(c, 1, 2, 3), *const one = integer(c, 1), *const words = text(c, "x");
    taper_value *none, *list;
    assert_int_equal(taper_value_none(c, &none, NULL), TAPER_OK);
    assert_int_equal(taper_value_list(c, NULL, &x, 1, &list, NULL), TAPER_OK);
    const struct {
        const char *name;
        taper_value *args[4];
        size_t count, results;
        const char *message;
    } rows[] = {
        {"aten::add.Tensor", {x, words}, 2, 1, "aten::add.Tensor: argument 1 ('other') should be Tensor, got str"},
        {"aten::add.Tensor", {none, x}, 2, 1, "aten::add.Tensor: argument 0 ('self') should be Tensor, got None"},
        {"aten::add.Tensor", {x, x, words}, 3, 1, "argument 2 ('alpha') should be Scalar, got str"},
        {"aten::add.Tensor", {x}, 1, 1, "aten::add.Tensor: argument 1 ('other') is missing"},
        {"aten::add.Tensor", {x}, 0, 1, "argument 0 ('self') is missing"},
        {"aten::add.Tensor", {x, x, one, one}, 4, 1, "4 arguments were given, it takes at most 3"},
        {"aten::add.Tensor", {x, x}, 2, 0, "it has 1 results, there is room for 0"},
        {"aten::add.Tensor", {x, x}, 2, 2, "it has 1 results, there is room for 2"},
        {"aten::max.dim", {x, one}, 2, 1, "aten::max.dim: it has 2 results, there is room for 1"},
        {"aten::relu", {list}, 1, 1, "argument 0 ('self') should be Tensor, got List[Tensor]"},
        {"aten::cat", {x}, 1, 1, "argument 0 ('tensors') should be Tensor[], got Tensor"},
        {"aten::view", {x, one}, 2, 1, "argument 1 ('size') should be"}, // a single int is not accepted for int[]
        {"aten::mm", {x, x}, 2, 1, "aten::mm: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        taper_operator *op = find(w, rows[i].name);
        taper_value *results[2] = {x, x};
        const taper_status status =
            taper_operator_call(op, rows[i].args, rows[i].count, results, rows[i].results, w->error);
        if (status != TAPER_ERROR_ARGUMENT || strstr(taper_error_message(w->error), rows[i].message) == NULL) {
            fail_msg("row %zu: status %d, %s", i, (int)status, taper_error_message(w->error));
        }
        for (size_t r = 0; r < rows[i].results; r++) {
            assert_null(results[r]);
        }
        assert_int_equal(taper_operator_call(op, rows[i].args, rows[i].count, results, rows[i].results, NULL), status);
        taper_operator_release(op);
    }
    assert_non_null(strstr(taper_error_detail(w->error), "called with self: float32[3]"));
    taper_operator *op = find(w, "aten::relu"); // after the errors, the operator must still work
    taper_value *args[] = {x}, *result;
    assert_int_equal(taper_operator_call(op, args, 1, args, 1, w->error), TAPER_ERROR_ARGUMENT);
    assert_non_null(strstr(taper_error_message(w->error), "which would be lost"));
    assert_ptr_equal(args[0], x);
    assert_int_equal(taper_operator_call(op, args, 1, &result, 1, w->error), TAPER_OK);
    check_row(result, 1, 2, 3);
    taper_value_release(result);
    taper_operator_release(op);
    taper_value *all[] = {x, one, words, none, list};
    release_all(all, 5);
}

static void values_outlive_all(void **state)
{
    (void)state;
    test_allocator memory;
    test_allocator_init(&memory);
    taper_context *context = test_context(&memory, 1);
    taper_operator *op;
    taper_value *x = row(context, 1, -2, 3), *result;
    assert_int_equal(taper_operator_find(context, "aten::abs", &op, NULL), TAPER_OK);
    taper_context_release(context); // the handle keeps the context alive
    assert_int_equal(taper_operator_call(op, &x, 1, &result, 1, NULL), TAPER_OK);
    taper_operator_release(op);
    taper_value_release(x);
    check_row(result, 1, 2, 3);
    taper_value_release(result);
    assert_int_equal(atomic_load(&memory.blocks), 0);
}

// ---- no memory

static taper_status look_and_call(taper_context *context, const void *what, taper_error *error)
{
    const float *mine = what;
    const int64_t size = 3;
    taper_operator *add = NULL, *split = NULL;
    taper_value *args[2] = {NULL, NULL}, *result = NULL, *parts = NULL;
    taper_status status = taper_operator_find(context, "aten::add_.Tensor", &add, error);
    if (status == TAPER_OK) {
        status = taper_operator_find(context, "aten::split.Tensor", &split, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_tensor_from(context, TAPER_F32, 1, &size, NULL, (void *)(uintptr_t)mine, 12, 1, NULL, NULL,
                                         &args[0], error);
    }
    if (status == TAPER_OK) {
        status = taper_value_int(context, 1, &args[1], error);
    }
    if (status == TAPER_OK) {
        status = taper_operator_call(split, args, 2, &parts, 1, error);
    }
    taper_value_release(args[1]);
    args[1] = NULL;
    if (status == TAPER_OK) {
        status = taper_value_item(parts, 0, &args[1], error);
    }
    if (status == TAPER_OK) {
        status = taper_operator_call(add, args, 2, &result, 1, error);
        assert_true((status == TAPER_OK) == (result != NULL));
    }
    if (status == TAPER_OK) {
        check_row(result, 2, 3, 4);
    }
    taper_value *all[] = {args[0], args[1], parts, result};
    release_all(all, 4);
    taper_operator_release(add);
    taper_operator_release(split);
    return status;
}

static void allocations_fail(void **state)
{
    (void)state;
    static const float mine[] = {1, 2, 3};
    test_each_allocation_fails("operators", look_and_call, mine);
}

// ---- threads: one handle each, one context

static void *work(void *argument)
{
    taper_context *context = argument;
    taper_operator *op;
    if (taper_operator_find(context, "aten::add.Tensor", &op, NULL) != TAPER_OK) {
        return NULL;
    }
    static const int64_t size = 30000; // number of elements, large enough that several threads share the work
    taper_value *x = floats(context, 1, &size, NULL);
    bool good = true;
    for (int i = 0; i < 200 && good; i++) {
        taper_value *const args[] = {x, x};
        taper_value *result;
        good = taper_operator_call(op, args, 2, &result, 1, NULL) == TAPER_OK && data_of(result)[6] == 6.0f &&
               data_of(result)[29998] == 2 * (float)(29998 % 7 - 3);
        taper_value_release(result);
    }
    taper_value_release(x);
    taper_operator_release(op);
    return good ? argument : NULL;
}

static void threads(void **state)
{
    const world *w = *state;
    pthread_t all[4];
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&all[i], NULL, work, w->context), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        void *good;
        pthread_join(all[i], &good);
        assert_ptr_equal(good, w->context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found),
        cmocka_unit_test(use_counts),
        cmocka_unit_test(not_found),
        cmocka_unit_test(arguments_and_defaults),
        cmocka_unit_test(several_results),
        cmocka_unit_test(in_place),
        cmocka_unit_test(a_convolution),
        cmocka_unit_test(random_numbers),
        cmocka_unit_test(shared_random_numbers),
        cmocka_unit_test(null_is_none),
        cmocka_unit_test(lists),
        cmocka_unit_test(quantized),
        cmocka_unit_test(wrong_calls),
        cmocka_unit_test(values_outlive_all),
        cmocka_unit_test(allocations_fail),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, open_world, close_world);
}
