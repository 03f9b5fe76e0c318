// SPDX-License-Identifier: BSD-2-Clause
// recorded_cases [--messages] [--names] [--reference] [--twice] RECORDING…: runs every case of the recordings and
// compares the outcome with PyTorch's outcome. A case that raised an exception must raise the same message. Prints the
// names of failed cases; --names prints "case NAME" for each case. --messages instead prints "NUMBER<tab>message" for
// each case that raises, which record.py stores. Ends with "N passed, N failed".
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>

#include "base/half.h"
#include "platform/denormals.h"
#include "tests/cpu_mask.h"
#include "tests/ops/recording.h"

typedef struct comparison {
    char wrong[400]; // text of the first difference between result and recording; "" if there is none
    char path[200];  // path of the compared value
} comparison;

__attribute__((format(printf, 2, 3))) static void differ(comparison *c, const char *format, ...)
{
    if (c->wrong[0] != 0) {
        return;
    }
    const int n = snprintf(c->wrong, sizeof c->wrong, "%s: ", c->path);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(c->wrong + n, sizeof c->wrong - (size_t)n, format, arguments);
    va_end(arguments);
}

// ---- elements

// Returns the number of components of a number: 2 for complex numbers, otherwise 1.
static size_t parts_of(taper_dtype dtype)
{
    return dtype == TAPER_C32 || dtype == TAPER_C64 || dtype == TAPER_C128 ? 2 : 1;
}

#define READ(type)                                                                                                     \
    type number;                                                                                                       \
    memcpy(&number, data, sizeof number)

static double real_at(taper_dtype dtype, const unsigned char *data)
{
    switch (dtype) {
    case TAPER_F16:
    case TAPER_C32: {
        READ(uint16_t);
        return (double)taper_f16_to_float(number);
    }
    case TAPER_BF16: {
        READ(uint16_t);
        return (double)taper_bf16_to_float(number);
    }
    case TAPER_F64:
    case TAPER_C128: {
        READ(double);
        return number;
    }
    default: {
        READ(float);
        return (double)number;
    }
    }
}

static int64_t integer_at(taper_dtype dtype, const unsigned char *data)
{
    switch (dtype) {
    case TAPER_I8:
    case TAPER_QI8:
        return (int8_t)*data;
    case TAPER_I16: {
        READ(int16_t);
        return number;
    }
    case TAPER_I32:
    case TAPER_QI32: {
        READ(int32_t);
        return number;
    }
    case TAPER_I64: {
        READ(int64_t);
        return number;
    }
    default:
        return *data;
    }
}

typedef struct elements {
    const recorded_tensor *want;
    const unsigned char *got; // the tensor's first element
    const int64_t *strides;
    size_t width;       // size in bytes of one component of a number
    double most, error; // largest magnitude and largest error so far, for AGREE_WHOLE
} elements;

static void compare_real(elements *e, double want, double got, size_t index, comparison *c)
{
    if (isnan(want) || isinf(want) || isnan(got) || isinf(got)) {
        if (!(isnan(want) && isnan(got)) && want != got) {
            differ(c, "element %zu is %.9g, wanted %.9g", index, got, want);
        }
        return;
    }
    const double error = fabs(want - got);
    e->most = fmax(e->most, fabs(want));
    e->error = fmax(e->error, error);
    const double allowed = e->want->relative * fabs(want) + e->want->absolute;
    if (e->want->agreement == AGREE_EACH && error > allowed) {
        differ(c, "element %zu is %.9g, wanted %.9g, allowed %.3g", index, got, want, allowed);
    }
}

static void compare_element(elements *e, size_t index, const unsigned char *got, comparison *c)
{
    const taper_dtype dtype = e->want->dtype;
    const size_t parts = parts_of(dtype);
    for (size_t p = 0; p < parts; p++) {
        const unsigned char *a = e->want->elements.data + (index * parts + p) * e->width, *b = got + p * e->width;
        if (e->want->agreement == AGREE_EXACTLY) {
            const int64_t want = integer_at(dtype, a), is = integer_at(dtype, b);
            if (want != is) {
                differ(c, "element %zu is %lld, wanted %lld", index, (long long)is, (long long)want);
            }
        } else {
            compare_real(e, real_at(dtype, a), real_at(dtype, b), index, c);
        }
    }
}

static void compare_elements(elements *e, comparison *c)
{
    const recorded_tensor *t = e->want;
    const size_t item = parts_of(t->dtype) * e->width, count = item != 0 ? t->elements.size / item : 0;
    int64_t place[TAPER_MAX_RANK] = {0};
    for (size_t index = 0; index < count && c->wrong[0] == 0; index++) {
        int64_t offset = 0;
        for (size_t d = 0; d < t->rank; d++) {
            offset += place[d] * e->strides[d];
        }
        compare_element(e, index, e->got + offset * (int64_t)item, c);
        for (size_t d = t->rank; d-- > 0 && ++place[d] == t->sizes[d];) {
            place[d] = 0;
        }
    }
    if (t->agreement == AGREE_WHOLE && e->error > t->relative * e->most + t->absolute) {
        differ(c, "error %.3g, allowed %.3g", e->error, t->relative * e->most + t->absolute);
    }
}

static bool same_dims(const int64_t *a, const int64_t *b, size_t rank)
{
    return rank == 0 || memcmp(a, b, rank * sizeof *a) == 0;
}

static void compare_tensor(const recorded_tensor *t, const taper_value *value, comparison *c)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    if (taper_value_get_tensor(value, &info, NULL) != TAPER_OK) {
        differ(c, "no tensor");
    } else if (info.dtype != t->dtype) {
        differ(c, "dtype %s, wanted %s", taper_dtype_name(info.dtype), taper_dtype_name(t->dtype));
    } else if (info.rank != t->rank || !same_dims(info.sizes, t->sizes, t->rank)) {
        differ(c, "other sizes");
    } else if (!same_dims(info.strides, t->strides, t->rank)) {
        differ(c, "other strides");
    } else if (t->quantized && (info.scale != t->scale || info.zero_point != t->zero_point)) {
        differ(c, "quantizer %.9g, %lld, wanted %.9g, %lld", info.scale, (long long)info.zero_point, t->scale,
               (long long)t->zero_point);
    } else {
        elements e = {.want = t, .got = info.data, .strides = info.strides};
        e.width = taper_dtype_size(t->dtype) / parts_of(t->dtype);
        compare_elements(&e, c);
    }
}

// ---- comparing values

static void compare_value(recording *r, const taper_value *value, comparison *c);

typedef taper_status get_item(const taper_value *value, size_t index, taper_value **item, taper_error *error);

// Compares an item. With value NULL, the recorded item is only skipped.
static void compare_item(recording *r, get_item *get, const taper_value *value, size_t index, comparison *c)
{
    taper_value *item = NULL;
    if (value != NULL && get(value, index, &item, NULL) != TAPER_OK) {
        differ(c, "has no such item");
        item = NULL;
    }
    compare_value(r, item, c);
    taper_value_release(item);
}

static void compare_container(recording *r, unsigned char letter, const taper_value *value, comparison *c)
{
    (void)recording_text(r);
    if (letter == 'm') {
        (void)recording_text(r);
    }
    const taper_kind kind = taper_value_kind(value);
    const size_t count = recording_count(r), length = strlen(c->path);
    if (letter == 'm' ? kind != TAPER_KIND_DICT : kind != TAPER_KIND_LIST && kind != TAPER_KIND_TUPLE) {
        differ(c, "a value of kind %d, wanted a %s", (int)kind, letter == 'm' ? "dict" : "list or tuple");
    } else if (taper_value_count(value) != count) {
        differ(c, "%zu items, wanted %zu", taper_value_count(value), count);
    }
    const taper_value *same = c->wrong[0] == 0 ? value : NULL;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(c->path + length, sizeof c->path - length, "[%zu]", i);
        if (letter == 'm') {
            compare_item(r, taper_value_key, same, i, c);
        }
        compare_item(r, taper_value_item, same, i, c);
    }
    c->path[length] = 0;
}

static void compare_double(double want, const taper_value *value, comparison *c)
{
    double is = 0;
    if (taper_value_kind(value) != TAPER_KIND_DOUBLE || taper_value_get_double(value, &is, NULL) != TAPER_OK) {
        differ(c, "no float, wanted %.17g", want);
    } else if (!(want == is || (isnan(want) && isnan(is)) || fabs(want - is) <= 1e-12 * fabs(want))) {
        differ(c, "%.17g, wanted %.17g", is, want);
    }
}

static void compare_complex(double re, double im, const taper_value *value, comparison *c)
{
    double a = 0, b = 0;
    if (taper_value_kind(value) != TAPER_KIND_COMPLEX || taper_value_get_complex(value, &a, &b, NULL) != TAPER_OK ||
        fabs(re - a) > 1e-12 * fabs(re) || fabs(im - b) > 1e-12 * fabs(im) || isnan(re) != isnan(a) ||
        isnan(im) != isnan(b)) {
        differ(c, "%.17g + %.17gj, wanted %.17g + %.17gj", a, b, re, im);
    }
}

// Compares a value. With value NULL, the recorded value is only skipped.
static void compare_value(recording *r, const taper_value *value, comparison *c)
{
    const unsigned char letter = recording_byte(r);
    const taper_kind kind = taper_value_kind(value);
    int flag = 0;
    int64_t number = 0;
    switch (letter) {
    case 'N':
        if (kind != TAPER_KIND_NONE) {
            differ(c, "a value, wanted None");
        }
        break;
    case 'b': {
        const int want = recording_byte(r);
        if (kind != TAPER_KIND_BOOL || taper_value_get_bool(value, &flag, NULL) != TAPER_OK || flag != want) {
            differ(c, "wanted %s", want ? "True" : "False");
        }
        break;
    }
    case 'i': {
        const int64_t want = recording_int(r);
        if (kind != TAPER_KIND_INT || taper_value_get_int(value, &number, NULL) != TAPER_OK || number != want) {
            differ(c, "%lld, wanted %lld", (long long)number, (long long)want);
        }
        break;
    }
    case 'd':
        compare_double(recording_double(r), value, c);
        break;
    case 'c': {
        const double re = recording_double(r), im = recording_double(r);
        compare_complex(re, im, value, c);
        break;
    }
    case 's': {
        const blob want = recording_text(r);
        const char *text = "";
        size_t length = 0;
        if ((kind != TAPER_KIND_STRING && kind != TAPER_KIND_DEVICE) ||
            taper_value_get_string(value, &text, &length, NULL) != TAPER_OK || length != want.size ||
            memcmp(text, want.data, length) != 0) {
            differ(c, "%.60s, wanted %.*s", text, (int)(want.size < 60 ? want.size : 60), (const char *)want.data);
        }
        break;
    }
    case 'T': {
        const recorded_tensor t = recording_tensor(r, true);
        compare_tensor(&t, value, c);
        break;
    }
    default:
        compare_container(r, letter, value, c);
        break;
    }
}

// ---- cases

enum { MOST_INPUTS = 64 };

static int reference; // set by --reference: 1 to use only portable kernels
static bool twice;    // set by --twice: true to run each case twice in one session
static bool names;    // set by --names: true to print each case before it runs

// Runs the model. If `again` is not NULL, it is a second copy of the inputs, with which the model runs a second time,
// using prepared calls and a memory plan. *result is the result of the last run.
static taper_status run_model(taper_context *context, blob model, taper_value *const *inputs, taper_value *const *again,
                              size_t count, taper_value **result, taper_error *error)
{
    taper_model *loaded = NULL;
    taper_session *session = NULL;
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .flags = reference ? TAPER_LOAD_REFERENCE : 0};
    taper_status status =
        taper_model_load_memory(context, model.data, model.size, NULL, NULL, &options, &loaded, error);
    if (status == TAPER_OK) {
        status = taper_session_create(loaded, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_run(session, NULL, inputs, count, result, error);
    }
    if (status == TAPER_OK && again != NULL) {
        taper_value_release(*result);
        *result = NULL;
        taper_session_seed(session, UINT64_C(67280421310721)); // the default seed of PyTorch and of this library
        status = taper_session_run(session, NULL, again, count, result, error);
    }
    taper_session_destroy(session);
    taper_model_release(loaded);
    return status;
}

// Returns true if the error means that this machine or this build lacks LAPACK.
static bool lacks_lapack(taper_status status, const taper_error *error)
{
    return status != TAPER_OK && strstr(taper_error_message(error), "needs LAPACK") != NULL;
}

static void compare_outcome(recording *r, taper_status status, taper_value *result, const taper_error *error,
                            comparison *c)
{
    if (*r->at == 'E') {
        (void)recording_byte(r);
        const blob want = recording_text(r);
        const char *is = status != TAPER_OK ? taper_error_message(error) : "nothing";
        if (strlen(is) != want.size || memcmp(is, want.data, want.size) != 0) {
            differ(c, "raised %.150s, wanted %.*s", is, (int)(want.size < 150 ? want.size : 150),
                   (const char *)want.data);
        }
        return;
    }
    if (status != TAPER_OK) {
        differ(c, "%s", taper_error_message(error));
    }
    compare_value(r, status == TAPER_OK ? result : NULL, c);
}

typedef struct counts {
    size_t passed, failed, skipped, lost;
} counts;

// Returns true for cases whose result differs on this processor. NEON's maximum of a positive and a negative zero is
// the positive zero, and NEON of 32-bit ARM flushes denormals to zero. WebAssembly and RISC-V cannot flush denormals of
// products to zero. Cases with 2^40 samples exceed TAPER_LIMIT_TENSOR_BYTES if size_t has 32 bits.
static bool is_lost_here(blob name)
{
    static const char *const words[] = {
#if defined(__arm__) || defined(__aarch64__)
        "sign of zero",
#endif
#if defined(__arm__)
        "denormal",
#elif !TAPER_SWITCHES_DENORMALS
        "denormal/elementwise",
#endif
#if SIZE_MAX == UINT32_MAX
        "cross_entropy_loss-no-elements",
#endif
        NULL
    };
    for (size_t w = 0; words[w] != NULL; w++) {
        for (size_t i = 0, size = strlen(words[w]); i + size <= name.size; i++) {
            if (memcmp((const char *)name.data + i, words[w], size) == 0) {
                return true;
            }
        }
    }
    return false;
}

// Runs and counts the next case.
static void run_case(recording *r, taper_context *context, taper_error *error, bool messages, size_t number, counts *n)
{
    const blob name = recording_text(r), model = recording_blob(r);
    if (names) {
        printf("case %.*s\n", (int)name.size, (const char *)name.data);
    }
    const size_t count = recording_byte(r);
    taper_value *inputs[MOST_INPUTS] = {NULL}, *again[MOST_INPUTS] = {NULL}, *result = NULL;
    const unsigned char *const start = r->at;
    if (count > MOST_INPUTS) {
        fprintf(stderr, "%.*s has too many inputs\n", (int)name.size, (const char *)name.data);
        exit(2);
    }
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = recording_input(r, context, error);
        whole = whole && inputs[i] != NULL;
    }
    // Observers change when they run in training mode, so their cases run only once.
    const bool anew = twice && (name.size < 8 || memcmp(name.data, "trained/", 8) != 0);
    r->at = anew ? start : r->at;
    for (size_t i = 0; anew && i < count; i++) {
        again[i] = recording_input(r, context, error);
        whole = whole && again[i] != NULL;
    }
    const taper_status status = whole ? run_model(context, model, inputs, anew ? again : NULL, count, &result, error)
                                      : taper_error_status(error);
    if (messages && *r->at == 'E') {
        printf("%zu\t%s\n", number, status != TAPER_OK ? taper_error_message(error) : "");
    }
    comparison c = {.path = "result"};
    compare_outcome(r, status, status == TAPER_OK ? result : NULL, error, &c);
    taper_value_release(status == TAPER_OK ? result : NULL);
    for (size_t i = 0; i < count; i++) {
        taper_value_release(inputs[i]);
        taper_value_release(again[i]);
    }
    if (c.wrong[0] == 0) {
        n->passed++;
    } else if (lacks_lapack(status, error)) {
        n->skipped++;
    } else if (is_lost_here(name)) {
        n->lost++;
    } else {
        n->failed++;
        if (!messages) {
            printf("FAILED %.*s: %s\n", (int)name.size, (const char *)name.data, c.wrong);
        }
    }
}

static void say_nothing(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

int main(int argc, char **argv)
{
    bool messages = false;
    int first = 1;
    for (; first < argc && argv[first][0] == '-'; first++) {
        messages |= strcmp(argv[first], "--messages") == 0;
        names |= strcmp(argv[first], "--names") == 0;
        reference |= strcmp(argv[first], "--reference") == 0;
        twice |= strcmp(argv[first], "--twice") == 0;
    }
    taper_error *error = taper_error_create();
    taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = say_nothing, .cpu_mask = test_cpu_mask()};
    taper_context *context = NULL;
    if (taper_context_create(&options, &context, error) != TAPER_OK) {
        return 2;
    }
    counts n = {0};
    for (int i = first; i < argc; i++) {
        recording r;
        recording_open(argv[i], &r);
        for (size_t k = 0; k < r.case_count; k++) {
            run_case(&r, context, error, messages, k, &n);
        }
        recording_close(&r);
    }
    taper_context_release(context);
    taper_error_destroy(error);
    if (messages) {
        return 0;
    }
    if (n.skipped != 0) {
        printf("SKIPPED: %zu cases need LAPACK, which this build leaves out or this machine has not (Debian: "
               "liblapack3)\n",
               n.skipped);
    }
    if (n.lost != 0) {
        printf("SKIPPED: %zu cases of denormals, signs of zeros or sizes, which this processor does not treat as "
               "PyTorch's does\n",
               n.lost);
    }
    printf("%zu passed, %zu failed, %zu skipped\n", n.passed, n.failed, n.skipped + n.lost);
    return n.failed != 0;
}
