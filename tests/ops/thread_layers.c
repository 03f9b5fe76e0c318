// SPDX-License-Identifier: BSD-2-Clause
// thread_layers [NUMBER [SEED]]: runs each operator on NUMBER (default 3) random sets of sizes, with one thread and
// with several, and expects identical bits. Unlike the recorded cases of thread_cases, these sizes divide products into
// strips, blocks and tiles. The program is linked with a library that shares even the smallest work among threads.
// TAPER_STRIDE=N draws NUMBER / N sets, at least one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_operator.h>

#include "tests/cpu_mask.h"
#include "tests/ops/value_bytes.h"
#include "tests/sample.h"

// Each text is a call in words: x:SIZES is a float tensor, y:SIZES a float tensor in channels-last order, q:SIZES a
// float tensor with positive numbers, j:SIZES<SIZE a tensor of integers below SIZE, l:SIZES an int[], i:SIZE an int,
// f:NUMBER a float, b:0 or b:1 a bool, s:TEXT a string, n None, [ … ] a list of tensors. A size is a number, a letter
// (drawn for each set), or a number before a letter, which multiplies it.
static const char *const calls[] = {
    "aten::conv2d x:b,c,h,w x:o,c,3,3 x:o l:s,s l:p,p l:d,d i:1",
    "aten::conv2d y:b,c,h,w x:o,c,3,3 x:o l:1,1 l:1,1 l:1,1 i:1",
    "aten::conv2d y:b,4c,h,w x:4o,4c,3,3 x:4o l:1,1 l:1,1 l:1,1 i:1",
    "aten::conv2d y:b,16c,h,w x:16o,16c,3,3 x:16o l:1,1 l:d,d l:d,d i:1",
    "aten::conv2d x:b,8c,h,w x:16o,8c,3,3 x:16o l:2,2 l:1,1 l:1,1 i:1",
    "aten::conv2d x:b,c,h,w x:o,c,1,1 x:o l:s,s l:0,0 l:1,1 i:1",
    "aten::conv2d y:b,8c,h,w x:8o,8c,1,1 x:8o l:1,1 l:0,0 l:1,1 i:1",
    "aten::conv2d x:b,3,h,w x:o,3,7,7 x:o l:2,2 l:3,3 l:1,1 i:1",
    "aten::conv2d x:b,c,h,w x:c,1,3,3 x:c l:s,s l:1,1 l:1,1 i:c",
    "aten::conv2d y:b,8c,h,w x:8c,1,5,5 x:8c l:s,s l:2,2 l:1,1 i:8c",
    "aten::conv2d x:b,4c,h,w x:4o,c,3,3 n l:1,1 l:p,p l:1,1 i:4",
    "aten::conv1d x:b,c,k x:o,c,3 x:o l:s l:p l:d i:1",
    "aten::conv3d x:1,c,5,h,7 x:o,c,3,3,3 x:o l:1,1,1 l:1,1,1 l:1,1,1 i:1",
    "aten::conv_transpose2d.input x:b,c,h,w x:c,o,2,2 x:o l:2,2 l:0,0 l:0,0 i:1 l:1,1",
    "aten::conv_transpose2d.input x:b,c,h,w x:c,o,3,3 x:o l:s,s l:1,1 l:0,0 i:1 l:1,1",
    "aten::linear x:r,k x:n,k x:n",
    "aten::linear x:b,h,k x:2n,k n",
    "aten::linear x:b,4k x:16n,4k x:16n",
    "aten::mm x:r,k x:k,n",
    "aten::mv x:r,k x:k",
    "aten::dot x:16k x:16k",
    "aten::bmm x:h,r,k x:h,k,w",
    "aten::matmul x:b,h,r,w x:b,h,w,r",
    "aten::matmul x:k x:b,k,n",
    "aten::addmm x:n x:r,k x:k,n",
    "aten::baddbmm x:h,r,n x:h,r,k x:h,k,n",
    "aten::einsum s:bik,kj->bij [ x:b,r,k x:k,n ]",
    "aten::bilinear x:r,c x:r,o x:h,c,o x:h",
    "aten::scaled_dot_product_attention x:b,4,r,32 x:b,4,n,32 x:b,4,n,32 n f:0 b:0",
    "aten::scaled_dot_product_attention x:b,2,r,c x:b,2,r,c x:b,2,r,c n f:0 b:1",
    "aten::lstm.input x:h,b,c [ x:1,b,o x:1,b,o ] [ x:4o,c x:4o,o x:4o x:4o ] b:1 i:1 f:0 b:0 b:0 b:0",
    "aten::gru.input x:h,b,8c x:1,b,8o [ x:24o,8c x:24o,8o x:24o x:24o ] b:1 i:1 f:0 b:0 b:0 b:0",
    "aten::softmax.int x:r,k i:1 n",
    "aten::softmax.int x:b,k,w i:1 n",
    "aten::log_softmax.int x:b,c,h,w i:1 n",
    "aten::layer_norm x:r,k l:k x:k x:k f:1e-5 b:1",
    "aten::group_norm x:b,4c,h,w i:4 x:4c x:4c f:1e-5 b:1",
    "aten::group_norm y:b,4c,h,w i:2 x:4c x:4c f:1e-5 b:1",
    "aten::instance_norm x:b,c,h,w x:c x:c n n b:1 f:0.1 f:1e-5 b:1",
    "aten::batch_norm x:b,c,h,w x:c x:c x:c q:c b:0 f:0.1 f:1e-5 b:1",
    "aten::batch_norm x:b,c,h,w x:c x:c x:c q:c b:1 f:0.1 f:1e-5 b:1",
    "aten::sum x:r,k,w n",
    "aten::sum.dim_IntList x:r,k,w l:1 b:0 n",
    "aten::sum.dim_IntList y:b,c,h,w l:2,3 b:0 n",
    "aten::mean.dim x:b,c,h,w l:0,2,3 b:0 n",
    "aten::mean x:r,k,w n",
    "aten::var.dim x:r,k,w l:1 b:1 b:0",
    "aten::var x:r,k,w b:1",
    "aten::std.dim x:r,k l:0 b:1 b:0",
    "aten::norm.ScalarOpt_dim x:r,k,w f:2 l:1 b:0",
    "aten::norm.Scalar x:r,k,w f:2",
    "aten::prod.dim_int q:r,k,w i:1 b:0 n",
    "aten::logsumexp x:r,k,w l:1 b:0",
    "aten::amax x:r,k,w l:0 b:0",
    "aten::cumsum x:r,k,w i:1 n",
    "aten::cumsum x:b,16k i:1 n",
    "aten::cumprod q:b,16k i:1 n",
    "aten::logcumsumexp x:r,k i:1",
    "aten::avg_pool2d x:b,c,h,w l:3,3 l:s,s l:1,1 b:0 b:1 n",
    "aten::avg_pool2d y:b,8c,h,w l:3,3 l:2,2 l:1,1 b:0 b:0 n",
    "aten::adaptive_avg_pool2d x:b,c,h,w l:7,5",
    "aten::adaptive_avg_pool2d y:b,8c,h,w l:1,1",
    "aten::max_pool2d y:b,8c,h,w l:3,3 l:2,2 l:1,1 l:1,1 b:0",
    "aten::upsample_bilinear2d x:b,c,h,w l:r,n b:0 n n",
    "aten::upsample_bicubic2d y:b,c,h,w l:r,n b:0 n n",
    "aten::grid_sampler x:b,c,h,w x:b,r,w,2 i:0 i:0 b:0",
    "aten::index_add x:r,k i:0 j:n<r x:n,k f:1",
    "aten::scatter_add x:r,k i:0 j:n,k<r x:n,k",
    "aten::embedding_bag x:n,k j:r<n j:1<1 b:0 i:0 b:0 n b:0",
    "aten::cdist x:r,k x:n,k f:2 n",
    "aten::cdist x:r,c x:n,c f:1 n",
    "aten::fft_rfft x:r,k n i:-1 n",
    "aten::fft_fft2 x:h,r,n n l:-2,-1 n",
    "aten::gelu x:r,k s:none",
    "aten::tanh x:16k,w",
    "aten::exp x:r,k,w",
    "aten::pow.Tensor_Scalar q:r,k f:1.7",
    "aten::silu x:16k,r",
    "aten::lerp.Scalar x:r,k,w x:r,k,w f:0.3",
    "aten::mse_loss x:r,k,w x:r,k,w i:1",
    "aten::cross_entropy_loss x:r,k j:r<k n i:1 i:-100 f:0.1",
    "aten::kl_div x:r,k q:r,k i:1 b:0",
    "aten::bincount j:16k<n q:16k i:0",
    "aten::sort x:r,k i:1 b:0",
    "aten::linalg_inv x:w,c,c",
    "aten::linalg_vector_norm x:r,k,w f:3 l:1 b:0 n",
    "aten::cosine_similarity x:r,k x:r,k i:1 f:1e-8",
    "aten::renorm x:r,k f:2 i:0 f:1",
    "aten::im2col x:b,c,h,w l:3,3 l:1,1 l:1,1 l:1,1",
    "aten::col2im x:b,9c,1 l:3,3 l:3,3 l:1,1 l:0,0 l:1,1",
};

enum { CALLS = sizeof calls / sizeof *calls, MOST_ARGUMENTS = 24, MOST_SIZES = 8 };

static const unsigned thread_counts[] = {1, 2, 3, 4, 7};
enum { COUNTS = sizeof thread_counts / sizeof *thread_counts };

// ---- drawing random numbers

static uint64_t state;

static uint32_t draw(uint32_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % below;
}

static int64_t letters[26];

static void draw_letters(void)
{
    static const struct {
        char letter;
        uint8_t least, most;
    } ranges[] = {{'b', 1, 3},   {'c', 1, 24}, {'o', 1, 24}, {'h', 5, 33}, {'w', 5, 33}, {'r', 1, 90},
                  {'k', 5, 200}, {'n', 1, 70}, {'s', 1, 2},  {'p', 0, 2},  {'d', 1, 2}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        letters[ranges[i].letter - 'a'] = ranges[i].least + draw((uint32_t)(ranges[i].most - ranges[i].least + 1));
    }
}

// Parses one size and moves *text to its end.
static int64_t size_of(const char **text)
{
    char *end;
    const long number = strtol(*text, &end, 10);
    const bool has_number = end != *text;
    if (*end >= 'a' && *end <= 'z') {
        *text = end + 1;
        return (has_number ? number : 1) * letters[*end - 'a'];
    }
    *text = end;
    return number;
}

static size_t sizes_of(const char *text, int64_t *sizes, const char **end)
{
    size_t count = 0;
    do {
        sizes[count++] = size_of(&text);
    } while (*text++ == ',' && count < MOST_SIZES);
    *end = text - 1;
    return count;
}

// ---- arguments

// Returns *value, or NULL if value is NULL. Ends the program if the call that returned `status` failed.
static taper_value *must(taper_status status, taper_value *const *value, const taper_error *error)
{
    if (status != TAPER_OK) {
        fprintf(stderr, "%s\n", taper_error_message(error));
        exit(2);
    }
    return value != NULL ? *value : NULL;
}

static float number_like(char kind)
{
    const float unit = (float)draw(1u << 24) / (float)(1u << 24);
    return kind == 'q' ? 0.1f + unit * 1.8f : (unit - 0.5f) * 4.0f;
}

static taper_value *tensor_of(taper_context *context, const char *word, taper_error *error)
{
    int64_t sizes[MOST_SIZES], strides[MOST_SIZES];
    const char *rest;
    const size_t rank = sizes_of(word + 2, sizes, &rest);
    size_t count = 1, width = word[0] == 'j' ? sizeof(int64_t) : sizeof(float);
    for (size_t d = rank; d-- > 0;) {
        strides[d] = (int64_t)count;
        count *= (size_t)sizes[d];
    }
    if (word[0] == 'y') {
        const int64_t c = sizes[1], w = sizes[3];
        memcpy(strides, (int64_t[]){strides[0], 1, w * c, c}, 4 * sizeof *strides);
    }
    void *data = malloc((count + 1) * width);
    if (data == NULL) {
        exit(2);
    }
    const char *below = rest + 1;
    const int64_t most = word[0] == 'j' ? size_of(&below) : 0;
    for (size_t i = 0; i < count; i++) {
        if (word[0] == 'j') {
            ((int64_t *)data)[i] = draw((uint32_t)most);
        } else {
            ((float *)data)[i] = number_like(word[0]);
        }
    }
    taper_value *value = NULL;
    return must(taper_value_tensor_from(context, word[0] == 'j' ? TAPER_I64 : TAPER_F32, rank, sizes, strides, data,
                                        count * width, 0, free, data, &value, error),
                &value, error);
}

static taper_value *argument_of(taper_context *context, const char *word, taper_error *error)
{
    int64_t sizes[MOST_SIZES];
    const char *text = word + 2;
    taper_value *value = NULL;
    switch (word[0]) {
    case 'n':
        return must(taper_value_none(context, &value, error), &value, error);
    case 'l': {
        const size_t count = sizes_of(text, sizes, &text);
        return must(taper_value_list_int(context, sizes, count, &value, error), &value, error);
    }
    case 'i':
        return must(taper_value_int(context, size_of(&text), &value, error), &value, error);
    case 'f':
        return must(taper_value_double(context, strtod(text, NULL), &value, error), &value, error);
    case 'b':
        return must(taper_value_bool(context, *text == '1', &value, error), &value, error);
    case 's':
        return must(taper_value_string(context, text, strlen(text), &value, error), &value, error);
    default:
        return tensor_of(context, word, error);
    }
}

// Makes the arguments from the words after the operator's name, and returns their number. Splits `text` into words in
// place.
static size_t arguments_of(taper_context *context, char *text, taper_value **args, taper_error *error)
{
    size_t count = 0, list = 0;
    bool in_list = false;
    char *rest = NULL;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (word[0] == '[') {
            in_list = true;
            list = count;
        } else if (word[0] == ']') {
            taper_value *made = NULL;
            (void)must(taper_value_list(context, "Tensor", args + list, count - list, &made, error), &made, error);
            for (; count > list; count--) {
                taper_value_release(args[count - 1]);
            }
            args[count++] = made;
            in_list = false;
        } else if (count < MOST_ARGUMENTS) {
            args[count++] = argument_of(context, word, error);
        }
    }
    return in_list ? 0 : count;
}

// ---- calls

static taper_status answer(taper_context *context, const char *call, taper_error *error, value_bytes *b)
{
    char text[512];
    (void)snprintf(text, sizeof text, "%s", call);
    char *const space = strchr(text, ' ');
    *space = 0;
    taper_operator *op = NULL;
    taper_value *args[MOST_ARGUMENTS] = {NULL}, *results[8] = {NULL};
    (void)must(taper_operator_find(context, text, &op, error), NULL, error);
    const size_t count = arguments_of(context, space + 1, args, error);
    const taper_status status = taper_operator_call(op, args, count, results, taper_operator_result_count(op), error);
    for (size_t i = 0; i < 8; i++) {
        if (results[i] != NULL) {
            value_bytes_add(b, results[i]);
        }
        taper_value_release(results[i]);
    }
    for (size_t i = 0; i < count; i++) {
        taper_value_release(args[i]);
    }
    taper_operator_release(op);
    return status;
}

static void print_letters(const char *call)
{
    printf("  %s;", call);
    for (size_t i = 0; i < 26; i++) {
        if (letters[i] != 0) {
            printf(" %c=%lld", (int)('a' + i), (long long)letters[i]);
        }
    }
    printf("\n");
}

// Runs one call with each context, that is, each number of threads. Returns true if all runs give the same bits.
static bool run_call(taper_context *const *contexts, const char *call, taper_error *error)
{
    value_bytes answers[COUNTS] = {{NULL}};
    bool same = true;
    const uint64_t before = state;
    for (size_t n = 0; n < COUNTS; n++) {
        state = before;
        if (answer(contexts[n], call, error, &answers[n]) != TAPER_OK) {
            printf("FAILED %s\n", taper_error_message(error));
            same = false;
            break;
        }
        if (n > 0 &&
            (answers[n].size != answers[0].size || memcmp(answers[n].data, answers[0].data, answers[0].size) != 0)) {
            printf("FAILED %u threads give other bits than one\n", thread_counts[n]);
            same = false;
            break;
        }
    }
    if (!same) {
        print_letters(call);
    }
    for (size_t n = 0; n < COUNTS; n++) {
        free(answers[n].data);
    }
    return same;
}

static void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

int main(int argc, char **argv)
{
    size_t number = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 3;
    number = number / sample_stride() + (number % sample_stride() != 0);
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : sample_seed();
    taper_error *error = taper_error_create();
    taper_context *contexts[COUNTS] = {NULL};
    for (size_t n = 0; n < COUNTS; n++) {
        taper_context_options options = {.struct_size = sizeof options,
                                         .threads = thread_counts[n],
                                         .log = say_nothing,
                                         .cpu_mask = test_cpu_mask()};
        (void)must(taper_context_create(&options, &contexts[n], error), NULL, error);
    }
    size_t passed = 0, failed = 0;
    for (size_t k = 0; k < CALLS; k++) {
        for (size_t i = 0; i < number; i++) {
            draw_letters();
            const bool same = run_call(contexts, calls[k], error);
            passed += same;
            failed += !same;
        }
    }
    for (size_t n = 0; n < COUNTS; n++) {
        taper_context_release(contexts[n]);
    }
    taper_error_destroy(error);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed != 0;
}
