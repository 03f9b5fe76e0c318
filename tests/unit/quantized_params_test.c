// SPDX-License-Identifier: BSD-2-Clause
// Tests packed parameters: every version of their states must give the same result, and invalid states must be refused
// with a message.
#include <math.h>
#include <string.h>

#include "ir/tensor.h"
#include "ops/quantized/quantized_cells.h"
#include "ops/quantized/quantized_params.h"
#include "tests/unit/heap_fixture.h"

typedef struct params_fixture {
    heap_fixture heap;
    taper_error *error;
    taper_run run;
} params_fixture;

static void open_params(params_fixture *f)
{
    memset(f, 0, sizeof *f);
    open_heap(&f->heap);
    f->error = taper_error_create();
    f->run.heap = f->heap.heap;
    f->run.error = f->error;
}

static void close_params(params_fixture *f)
{
    taper_error_destroy(f->error);
    close_heap(&f->heap);
}

// ---- making values

static taper_tensor *tensor(params_fixture *f, taper_dtype dtype, size_t rank, const int64_t *sizes)
{
    taper_tensor *t;
    assert_int_equal(taper_tensor_zeros(f->heap.heap, dtype, rank, sizes, &t, NULL), TAPER_OK);
    return t;
}

static taper_tensor *vector(params_fixture *f, taper_dtype dtype, int64_t size)
{
    return tensor(f, dtype, 1, &size);
}

static taper_tensor *weight(params_fixture *f, size_t rank, const int64_t *sizes, double scale, int64_t zero_point)
{
    taper_tensor *t = tensor(f, TAPER_QI8, rank, sizes);
    const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scale, .zero_point = zero_point};
    assert_int_equal(taper_tensor_set_quantizer(t, &quantizer, NULL), TAPER_OK);
    return t;
}

// Makes a weight quantized per channel. Scales are 0.5 and zero points 0, except the given numbers for channel 1.
static taper_tensor *channel_weight(params_fixture *f, size_t rank, const int64_t *sizes, int64_t axis,
                                    int64_t channels, double scale, int64_t zero_point)
{
    taper_tensor *t = tensor(f, TAPER_QI8, rank, sizes), *scales = vector(f, TAPER_F64, channels),
                 *points = vector(f, TAPER_I64, channels);
    for (int64_t i = 0; i < channels; i++) {
        ((double *)taper_tensor_mutable(scales))[i] = i == 1 ? scale : 0.5;
        ((int64_t *)taper_tensor_mutable(points))[i] = i == 1 ? zero_point : 0;
    }
    const taper_quantizer quantizer = {
        .scheme = TAPER_PER_CHANNEL_AFFINE, .axis = axis, .scales = scales, .zero_points = points};
    assert_int_equal(taper_tensor_set_quantizer(t, &quantizer, NULL), TAPER_OK);
    taper_val_release(TAPER_VAL(scales));
    taper_val_release(TAPER_VAL(points));
    return t;
}

// Takes over the references to the items.
static taper_val tuple_of(params_fixture *f, size_t count, const taper_val *items)
{
    taper_tuple *tuple = taper_tuple_new(f->heap.heap, NULL, count);
    assert_non_null(tuple);
    for (size_t i = 0; i < count; i++) {
        tuple->items[i] = items[i];
    }
    return TAPER_VAL(tuple);
}

static taper_val list_of(params_fixture *f, size_t count, const taper_val *items)
{
    taper_list *list = taper_list_new(f->heap.heap, &taper_type_any, count);
    assert_non_null(list);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(taper_list_append(list, items[i], NULL), TAPER_OK);
    }
    return TAPER_VAL(list);
}

static taper_val ints(params_fixture *f, size_t count, const int64_t *numbers)
{
    taper_val items[16];
    for (size_t i = 0; i < count; i++) {
        items[i] = taper_val_int(numbers[i]);
    }
    return list_of(f, count, items);
}

static taper_object *object_of(params_fixture *f, const taper_class *klass, taper_val state)
{
    taper_object *object = taper_object_new(f->heap.heap, klass, 1);
    assert_non_null(object);
    object->slots[0] = state;
    return object;
}

static const taper_class conv2d = {.name = "__torch__.torch.classes.quantized.Conv2dPackedParamsBase"};
static const taper_class linear = {.name = "__torch__.torch.classes.quantized.LinearPackedParamsBase"};
static const taper_class embedding = {.name = "__torch__.torch.classes.quantized.EmbeddingPackedParamsBase"};
static const taper_class cell = {.name = "__torch__.torch.classes.rnn.CellParamsBase"};

static taper_val text(params_fixture *f, const char *value)
{
    return TAPER_VAL(taper_string_new(f->heap.heap, value, strlen(value)));
}

static taper_val optional(taper_tensor *value)
{
    return value != NULL ? TAPER_VAL(value) : taper_val_none();
}

// ---- expected outcomes for a state; each of these functions releases the object

static void refused(params_fixture *f, taper_object *object, const char *about)
{
    taper_qconv_params conv;
    taper_qlinear_params layer;
    taper_qembedding_params table;
    taper_qcell_params cells;
    const taper_status status = object->klass == &conv2d      ? taper_qconv_open(&f->run, object, 2, &conv)
                                : object->klass == &linear    ? taper_qlinear_open(&f->run, object, &layer)
                                : object->klass == &embedding ? taper_qembedding_open(&f->run, object, &table)
                                                              : taper_qcell_open(&f->run, object, &cells);
    assert_int_not_equal(status, TAPER_OK);
    const char *message = taper_error_message(f->error);
    if (strstr(message, about) == NULL) {
        fail_msg("the message should speak of '%s': %s", about, message);
    }
    taper_val_release(TAPER_VAL(object));
}

// ---- convolutions

static const int64_t shape[4] = {6, 2, 3, 3};
static const int64_t config[11] = {2, 1, 2, 3, 4, 5,
                                   6, 0, 0, 2, 0}; // order: stride, padding, dilation, output padding, groups

static taper_object *third_version(params_fixture *f, taper_tensor *w, taper_tensor *bias, const int64_t *numbers,
                                   size_t count)
{
    const taper_val tensors[3] = {taper_val_none(), optional(w), optional(bias)};
    const taper_val items[3] = {taper_val_int(3), ints(f, count, numbers), list_of(f, 3, tensors)};
    return object_of(f, &conv2d, tuple_of(f, 3, items));
}

static taper_object *second_version(params_fixture *f, taper_tensor *w, taper_tensor *bias)
{
    taper_tensor *numbers = vector(f, TAPER_I16, 11);
    for (int i = 0; i < 11; i++) {
        ((int16_t *)taper_tensor_mutable(numbers))[i] = (int16_t)config[i];
    }
    const taper_val required[2] = {TAPER_VAL(numbers), TAPER_VAL(w)}, biases[1] = {optional(bias)};
    const taper_val items[3] = {text(f, "2"), list_of(f, 2, required), list_of(f, 1, biases)};
    return object_of(f, &conv2d, tuple_of(f, 3, items));
}

static taper_val one_int(params_fixture *f, int64_t number)
{
    taper_tensor *t = vector(f, TAPER_I64, 1);
    *(int64_t *)taper_tensor_mutable(t) = number;
    return TAPER_VAL(t);
}

static taper_object *first_version(params_fixture *f, taper_tensor *w, taper_tensor *bias)
{
    taper_val lists[3];
    for (size_t l = 0; l < 3; l++) {
        const taper_val pair[2] = {one_int(f, config[1 + 2 * l]), one_int(f, config[2 + 2 * l])};
        lists[l] = list_of(f, 2, pair);
    }
    const taper_val items[6] = {TAPER_VAL(w), optional(bias), lists[0], lists[1], lists[2], one_int(f, 2)};
    return object_of(f, &conv2d, tuple_of(f, 6, items));
}

static void every_version_is_read(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    for (int version = 1; version <= 3; version++) {
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            taper_tensor *w = weight(&f, 4, shape, 0.5, -3), *bias = with_bias != 0 ? vector(&f, TAPER_F32, 6) : NULL;
            taper_object *object = version == 1   ? first_version(&f, w, bias)
                                   : version == 2 ? second_version(&f, w, bias)
                                                  : third_version(&f, w, bias, config, 11);
            taper_qconv_params params;
            assert_int_equal(taper_qconv_open(&f.run, object, 2, &params), TAPER_OK);
            assert_ptr_equal(params.weight, w);
            assert_ptr_equal(params.bias, bias);
            assert_int_equal(params.out, 6);
            assert_int_equal(params.in, 4);
            assert_int_equal(params.conv.groups, 2);
            assert_false(params.conv.transposed);
            for (size_t i = 0; i < 2; i++) {
                assert_int_equal(params.conv.stride[i], config[1 + i]);
                assert_int_equal(params.conv.padding[i], config[3 + i]);
                assert_int_equal(params.conv.padding_end[i], config[3 + i]);
                assert_int_equal(params.conv.dilation[i], config[5 + i]);
                assert_int_equal(params.conv.output_padding[i], 0);
            }
            taper_val_release(TAPER_VAL(object));
        }
    }
    close_params(&f);
}

static void broken_numbers_of_convolutions(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        int64_t value;
        const char *about;
    } wrong[] = {{0, 3, "configuration"}, {1, 0, "stride 0"},         {2, -1, "stride -1"},      {3, -1, "padding -1"},
                 {5, 0, "dilation 0"},    {6, INT64_MIN, "dilation"}, {7, -5, "output padding"}, {9, 0, "0 groups"},
                 {9, -2, "-2 groups"},    {9, 4, "4 groups"},         {9, INT64_MAX, "groups"},  {10, 2, "flags"},
                 {10, -1, "flags"}};
    params_fixture f;
    open_params(&f);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t numbers[11];
        memcpy(numbers, config, sizeof numbers);
        numbers[wrong[i].at] = wrong[i].value;
        refused(&f, third_version(&f, weight(&f, 4, shape, 0.5, 0), NULL, numbers, 11), wrong[i].about);
    }
    refused(&f, third_version(&f, weight(&f, 4, shape, 0.5, 0), NULL, config, 10), "configuration");
    refused(&f, third_version(&f, weight(&f, 4, shape, 0.5, 0), NULL, config, 0), "configuration");
    close_params(&f);
}

static void broken_weights_of_convolutions(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    static const double scales[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        refused(&f, third_version(&f, weight(&f, 4, shape, scales[i], 0), NULL, config, 11), "scale");
        refused(&f, third_version(&f, channel_weight(&f, 4, shape, 0, 6, scales[i], 0), NULL, config, 11), "channel 1");
    }
    refused(&f, third_version(&f, weight(&f, 4, shape, 0.5, 128), NULL, config, 11), "zero point 128");
    refused(&f, third_version(&f, channel_weight(&f, 4, shape, 0, 6, 1, -129), NULL, config, 11), "zero point -129");
    refused(&f, third_version(&f, channel_weight(&f, 4, shape, 0, 5, 1, 0), NULL, config, 11), "dimension 0");
    refused(&f, third_version(&f, channel_weight(&f, 4, shape, 1, 2, 1, 0), NULL, config, 11), "dimension 0");
    refused(&f, third_version(&f, channel_weight(&f, 4, shape, 9, 2, 1, 0), NULL, config, 11), "dimension 0");
    refused(&f, third_version(&f, tensor(&f, TAPER_F32, 4, shape), NULL, config, 11), "QInt8");
    // The state is refused, because the weight has no quantizer.
    refused(&f, third_version(&f, tensor(&f, TAPER_QI8, 4, shape), NULL, config, 11), "QInt8");
    refused(&f, third_version(&f, weight(&f, 3, shape, 0.5, 0), NULL, config, 11), "4 dimensions");
    refused(&f, third_version(&f, weight(&f, 4, (const int64_t[]){6, 0, 3, 3}, 0.5, 0), NULL, config, 11), "groups");
    refused(&f, third_version(&f, NULL, NULL, config, 11), "weight should be a Tensor");
    refused(&f, third_version(&f, weight(&f, 4, shape, 0.5, 0), vector(&f, TAPER_F32, 5), config, 11), "bias");
    refused(&f, third_version(&f, weight(&f, 4, shape, 0.5, 0), vector(&f, TAPER_F64, 6), config, 11), "bias");
    close_params(&f);
}

static void broken_states(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    refused(&f, object_of(&f, &conv2d, taper_val_none()), "should be a tuple");
    refused(&f, object_of(&f, &conv2d, tuple_of(&f, 0, NULL)), "0 items");
    refused(&f, object_of(&f, &conv2d, ints(&f, 3, config)), "version");
    const taper_val newer[3] = {taper_val_int(4), ints(&f, 11, config), list_of(&f, 0, NULL)};
    refused(&f, object_of(&f, &conv2d, tuple_of(&f, 3, newer)), "version");
    const taper_val empty[3] = {taper_val_int(3), ints(&f, 11, config), list_of(&f, 0, NULL)};
    refused(&f, object_of(&f, &conv2d, tuple_of(&f, 3, empty)), "missing");
    const taper_val short_first[2] = {TAPER_VAL(weight(&f, 4, shape, 1, 0)), taper_val_none()};
    refused(&f, object_of(&f, &conv2d, tuple_of(&f, 2, short_first)), "6 items");
    taper_object *other = object_of(&f, &linear, taper_val_none());
    taper_qconv_params params;
    assert_int_not_equal(taper_qconv_open(&f.run, other, 2, &params), TAPER_OK);
    taper_val_release(TAPER_VAL(other));
    close_params(&f);
}

// ---- sizes of results

static void sizes_of_results(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    int64_t sizes[TAPER_CONV_RANK + 2];
    taper_qconv_params params;
    taper_object *object = second_version(&f, weight(&f, 4, shape, 0.5, 0), NULL);
    assert_int_equal(taper_qconv_open(&f.run, object, 2, &params), TAPER_OK);
    taper_tensor *x = tensor(&f, TAPER_QU8, 4, (const int64_t[]){2, 4, 20, 30});
    assert_int_equal(taper_qconv_sizes(&f.run, &params, x, sizes), TAPER_OK);
    const int64_t wanted[4] = {2, 6, 16, 13}; // height is (20 + 6 - 11) / 1 + 1, width is (30 + 8 - 13) / 2 + 1
    assert_memory_equal(sizes, wanted, sizeof wanted);
    x->sizes[1] = 5;
    assert_int_not_equal(taper_qconv_sizes(&f.run, &params, x, sizes), TAPER_OK);
    x->sizes[1] = 4;
    params.conv.padding[0] = params.conv.padding_end[0] = INT64_MAX;
    assert_int_not_equal(taper_qconv_sizes(&f.run, &params, x, sizes), TAPER_OK);
    params.conv.padding[0] = params.conv.padding_end[0] = 0;
    params.conv.dilation[0] = INT64_MAX / 2 + 1;
    assert_int_not_equal(taper_qconv_sizes(&f.run, &params, x, sizes), TAPER_OK);
    taper_val_release(TAPER_VAL(x));
    taper_val_release(TAPER_VAL(object));
    close_params(&f);
}

// ---- linear layers, cells, embeddings

static taper_object *layer(params_fixture *f, taper_tensor *w, taper_tensor *bias)
{
    const taper_val items[2] = {optional(w), optional(bias)};
    return object_of(f, &linear, tuple_of(f, 2, items));
}

static const int64_t matrix[2] = {4, 3};

static void broken_linear_layers(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    taper_qlinear_params params;
    taper_object *good = layer(&f, tensor(&f, TAPER_F32, 2, matrix), NULL);
    assert_int_equal(taper_qlinear_open(&f.run, good, &params), TAPER_OK);
    assert_true(params.half);
    taper_val_release(TAPER_VAL(good));
    refused(&f, layer(&f, NULL, NULL), "weight should be a Tensor");
    refused(&f, layer(&f, weight(&f, 1, matrix, 1, 0), NULL), "matrix");
    refused(&f, layer(&f, tensor(&f, TAPER_F64, 2, matrix), NULL), "QInt8");
    refused(&f, layer(&f, weight(&f, 2, matrix, NAN, 0), NULL), "scale");
    refused(&f, layer(&f, channel_weight(&f, 2, matrix, 1, 3, 1, 0), NULL), "dimension 0");
    refused(&f, layer(&f, weight(&f, 2, matrix, 1, 0), vector(&f, TAPER_F32, 3)), "bias");
    refused(&f, layer(&f, weight(&f, 2, matrix, 1, 0), tensor(&f, TAPER_F32, 2, matrix)), "bias");
    close_params(&f);
}

// The scales have such different magnitudes that no float can represent the factor from the sums to the result.
static void factors_out_of_range(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    taper_q_channel channels[4];
    taper_tensor *w = weight(&f, 2, matrix, 1e-30, 0), *bias = vector(&f, TAPER_F32, 4);
    assert_int_equal(taper_q_channels(&f.run, w, bias, 4, 1.0, 1.0, channels), TAPER_OK);
    assert_int_not_equal(taper_q_channels(&f.run, w, bias, 4, 1e-30, 1.0, channels), TAPER_OK);
    assert_int_not_equal(taper_q_channels(&f.run, w, bias, 4, 1.0, 1e30, channels), TAPER_OK);
    assert_int_not_equal(taper_q_channels(&f.run, w, bias, 4, 1e38, 1e-38, channels), TAPER_OK);
    assert_int_not_equal(taper_q_channels(&f.run, w, bias, 4, NAN, 1.0, channels), TAPER_OK);
    ((float *)taper_tensor_mutable(bias))[0] = 1e12f * 1e-30f; // this bias is clamped to 32 bits
    // For numbers beyond 64 bits, PyTorch's conversion returns the smallest integer.
    ((float *)taper_tensor_mutable(bias))[3] = 1e30f;
    ((float *)taper_tensor_mutable(bias))[1] = -INFINITY;
    ((float *)taper_tensor_mutable(bias))[2] = NAN;
    assert_int_equal(taper_q_channels(&f.run, w, bias, 4, 1.0, 1.0, channels), TAPER_OK);
    assert_int_equal(channels[0].bias, INT32_MAX);
    assert_int_equal(channels[1].bias, INT32_MIN);
    assert_int_equal(channels[3].bias, INT32_MIN);
    taper_val_release(TAPER_VAL(w));
    taper_val_release(TAPER_VAL(bias));
    close_params(&f);
}

static taper_object *cell_of(params_fixture *f, const char *kind, size_t layers)
{
    taper_val objects[2];
    for (size_t i = 0; i < layers; i++) {
        objects[i] = TAPER_VAL(layer(f, weight(f, 2, matrix, 1, 0), NULL));
    }
    const taper_val items[5] = {text(f, kind), list_of(f, 0, NULL), list_of(f, 0, NULL), list_of(f, 0, NULL),
                                list_of(f, layers, objects)};
    return object_of(f, &cell, tuple_of(f, 5, items));
}

static void broken_cells(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    taper_qcell_params params;
    taper_object *good = cell_of(&f, "quantized_dynamic", 2);
    assert_int_equal(taper_qcell_open(&f.run, good, &params), TAPER_OK);
    assert_int_equal(params.hidden.in, 3);
    taper_val_release(TAPER_VAL(good));
    refused(&f, cell_of(&f, "quantized_dynamic", 1), "LinearPackedParamsBase");
    refused(&f, cell_of(&f, "other", 2), "quantized_fp16");
    refused(&f, cell_of(&f, "quantized", 2), "w_ih");
    refused(&f, object_of(&f, &cell, taper_val_int(1)), "should be a tuple");
    const taper_val none[5] = {text(&f, "quantized_fp16"), taper_val_none(), taper_val_none(), taper_val_none(),
                               taper_val_none()};
    refused(&f, object_of(&f, &cell, tuple_of(&f, 5, none)), "LinearPackedParamsBase");
    close_params(&f);
}

static void broken_embeddings(void **state)
{
    (void)state;
    params_fixture f;
    open_params(&f);
    for (int wrong = 0; wrong < 5; wrong++) {
        taper_tensor *w = tensor(&f, wrong == 0 ? TAPER_U8 : TAPER_QU8, 2, matrix), *scales = vector(&f, TAPER_F64, 4),
                     *points = vector(&f, TAPER_F32, wrong == 1 ? 3 : 4);
        for (int i = 0; i < 4; i++) {
            ((double *)taper_tensor_mutable(scales))[i] = wrong == 2 && i == 2 ? 0.0 : 1.0;
        }
        const taper_quantizer quantizer = {.scheme = wrong == 3 ? TAPER_PER_CHANNEL_AFFINE
                                                                : TAPER_PER_CHANNEL_AFFINE_FLOAT_QPARAMS,
                                           .scales = scales,
                                           .zero_points = points};
        assert_int_equal(taper_tensor_set_quantizer(w, &quantizer, NULL), TAPER_OK);
        taper_val_release(TAPER_VAL(scales));
        taper_val_release(TAPER_VAL(points));
        const taper_val tensors[1] = {TAPER_VAL(w)}, bits[1] = {taper_val_int(8)};
        const taper_val items[4] = {taper_val_int(1), list_of(&f, 1, tensors), list_of(&f, 0, NULL),
                                    list_of(&f, 1, bits)};
        taper_object *object = object_of(&f, &embedding, tuple_of(&f, 4, items));
        if (wrong < 4) {
            static const char *const about[] = {"quint8", "zero point for each", "channel 2", "per channel"};
            refused(&f, object, about[wrong]);
        } else {
            taper_qembedding_params params;
            assert_int_equal(taper_qembedding_open(&f.run, object, &params), TAPER_OK);
            taper_val_release(TAPER_VAL(object));
        }
    }
    close_params(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_is_read),
        cmocka_unit_test(broken_numbers_of_convolutions),
        cmocka_unit_test(broken_weights_of_convolutions),
        cmocka_unit_test(broken_states),
        cmocka_unit_test(sizes_of_results),
        cmocka_unit_test(broken_linear_layers),
        cmocka_unit_test(factors_out_of_range),
        cmocka_unit_test(broken_cells),
        cmocka_unit_test(broken_embeddings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
