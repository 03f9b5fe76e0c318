// SPDX-License-Identifier: BSD-2-Clause
// long_calls [CALLS [NAME [MILLISECONDS]]]: calls each operator of the list with arguments that need much work: tensors
// of 10^12 elements with one number repeated, large matrices, long texts and lists, large counts. During the call its
// host cancels it, or its budget of work is exhausted. It must then end with an error. The limit is on the processor
// time of the thread between two checks, so that other load has no effect. The random numbers depend on the operator's
// name and the position in the stride (tests/sample.h).
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/budget.h"
#include "ir/tensor.h"
#include "ops/engine/view_move.h"
#include "tests/limits/made_calls.h"

enum { STEPS = 20000000 };
static unsigned calls = 100;
static const double CALL_TIME = 0.02; // seconds after which the host cancels the call
// Longest time, in seconds, that may pass between two checks of the time, or that a call with a budget of STEPS may
// take.
static double longest = 1.0;

static taper_budget *budget; // budget of the current call; NULL if the host cancels the call instead
static bool budgeted, stopped;
static uint32_t theme;       // index of the current call's theme: a set of shapes that fit together
static size_t tensors;       // number of tensors made for the current call so far
static double begun, looked; // processor time in seconds at the start of the call, and at the last check of the limits

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static taper_status stop(taper_run *run, double ahead)
{
    (void)run;
    if (budget != NULL) {
        return TAPER_OK;
    }
    looked = now();
    stopped = stopped || looked - begun + ahead > CALL_TIME;
    return stopped ? TAPER_ERROR_RESOURCE : TAPER_OK;
}

// The timer calls this function every 50 ms of processor time. It calls functions that are not async-signal-safe only
// before it ends the process.
static void tick(int number)
{
    (void)number;
    if (begun > 0 && now() - looked > longest) {
        report("does not look at the clock");
        _exit(3);
    }
}

// ---- values for the arguments of calls

#define PICK(b, array) ((array)[draw((b), (uint32_t)(sizeof(array) / sizeof *(array)))])

static taper_val of(void *object)
{
    if (object == NULL) {
        fprintf(stderr, "the test itself is out of memory\n");
        abort();
    }
    return TAPER_VAL(object);
}

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

typedef struct shape {
    size_t rank;
    int64_t sizes[5];
    bool dense; // true for stored random numbers, false for one number that is repeated
} shape;

enum { HUGE_SIDE = 1 << 20 };

// Each theme has the shapes of a call's first tensor, its second tensor, and further tensors.
static const shape themes[][3] = {
    {{1, {(int64_t)1 << 40}, false}, {1, {(int64_t)1 << 40}, false}, {1, {(int64_t)1 << 40}, false}},
    {{4, {1, 1, HUGE_SIDE, HUGE_SIDE}, false}, {4, {1, 1, 3, 3}, false}, {1, {1}, false}},
    {{4, {1, 3, HUGE_SIDE, HUGE_SIDE}, false}, {4, {1, 3, HUGE_SIDE, HUGE_SIDE}, false}, {1, {3}, false}},
    {{3, {1, 1, (int64_t)1 << 40}, false}, {3, {1, 1, 5}, false}, {1, {1}, false}},
    {{5, {1, 1, 10000, 10000, 10000}, false}, {5, {1, 1, 3, 3, 3}, false}, {1, {1}, false}},
    {{2, {HUGE_SIDE, HUGE_SIDE}, false}, {2, {HUGE_SIDE, HUGE_SIDE}, false}, {2, {HUGE_SIDE, HUGE_SIDE}, false}},
    {{2, {1, (int64_t)1 << 40}, false}, {2, {(int64_t)1 << 40, 1}, false}, {1, {1}, false}},
    {{2, {3000, (int64_t)1 << 30}, false}, {2, {(int64_t)1 << 30, 3000}, false}, {1, {3000}, false}},
    {{2, {900, 900}, true}, {2, {900, 900}, true}, {2, {900, 900}, true}},
    {{2, {900, 900}, true}, {1, {900}, true}, {1, {900}, true}},
    {{3, {HUGE_SIDE, 3, 3}, false}, {3, {HUGE_SIDE, 3, 3}, false}, {2, {HUGE_SIDE, 3}, false}},
    {{3, {(int64_t)1 << 32, 8, 8}, false}, {3, {(int64_t)1 << 32, 8, 8}, false}, {1, {8}, false}},
    {{1, {2000000}, true}, {1, {2000000}, true}, {1, {2000000}, true}},
    {{1, {10}, true}, {1, {(int64_t)1 << 38}, false}, {1, {(int64_t)1 << 38}, false}},
    {{2, {10, 4}, true}, {1, {(int64_t)1 << 38}, false}, {1, {3}, false}},
    {{4, {1, 16, 2000, 2000}, false}, {4, {16, 16, 1000, 1000}, false}, {1, {16}, false}},
    {{3, {HUGE_SIDE, HUGE_SIDE, 4}, false}, {2, {16, 4}, true}, {2, {16, 4}, true}},
    {{3, {5, 3, 4}, true}, {3, {5, 3, 4}, true}, {2, {5, 3}, true}},
    {{1, {(int64_t)1 << 38}, false}, {0, {0}, false}, {0, {0}, false}},
    {{0, {0}, false}, {1, {(int64_t)1 << 38}, false}, {0, {0}, false}},
    {{2, {4, 1 << 19}, true}, {2, {4, 1 << 19}, true}, {2, {4, 1 << 19}, true}},
    {{2, {1 << 19, 4}, true}, {2, {1 << 19, 4}, true}, {2, {1 << 19, 4}, true}},
    // Tensors with many rows that have no elements.
    {{2, {(int64_t)1 << 40, 0}, false}, {2, {(int64_t)1 << 40, 0}, false}, {1, {0}, false}},
    {{3, {1, (int64_t)1 << 40, 0}, false}, {3, {1, (int64_t)1 << 40, 0}, false}, {2, {1, (int64_t)1 << 40}, false}},
    {{3, {0, (int64_t)1 << 40, 3}, false}, {3, {0, (int64_t)1 << 40, 3}, false}, {1, {3}, false}},
    {{4, {0, 3, (int64_t)1 << 20, (int64_t)1 << 20}, false}, {1, {3}, false}, {1, {3}, false}},
};

static taper_val long_tensor(bench *b, const char *name)
{
    const shape *s = &themes[theme][tensors < 2 ? tensors : 2];
    tensors++;
    const bool whole = has(name, "ind") || has(name, "target") || has(name, "offset") || has(name, "length") ||
                       has(name, "repeats") || has(name, "segment") || has(name, "bucket");
    static const taper_dtype floats[] = {TAPER_F32, TAPER_F32, TAPER_F32,  TAPER_F64, TAPER_F16, TAPER_C64,
                                         TAPER_I64, TAPER_U8,  TAPER_BOOL, TAPER_I32, TAPER_QU8, TAPER_QI8};
    static taper_dtype chosen;
    if (tensors == 1 || draw(b, 8) == 0) {
        chosen = PICK(b, floats);
    }
    const taper_dtype dtype = has(name, "mask") || has(name, "condition") ? TAPER_BOOL : whole ? TAPER_I64 : chosen;
    static const int64_t ones[5] = {1, 1, 1, 1, 1};
    taper_tensor *tensor, *wide;
    check(taper_tensor_new(b->heap, dtype, s->rank, s->dense ? s->sizes : ones, NULL, &tensor, b->error), b);
    const int64_t count = taper_tensor_numel(tensor);
    char *bytes = taper_tensor_mutable(tensor);
    const bool wild = draw(b, 2) == 0;
    enum { PERIOD = 1 << 14 }; // numbers repeat after PERIOD elements, because drawing all of them is slow
    const size_t item = taper_tensor_item(tensor);
    for (int64_t i = 0; i < count; i++) {
        if (i >= PERIOD) {
            const size_t piece = taper_min_size(PERIOD - 7, (size_t)(count - i));
            memcpy(bytes + (size_t)i * item, bytes, piece * item);
            i += (int64_t)piece - 1;
            continue;
        }
        taper_scalar number = taper_scalar_int(wild ? (int64_t)draw(b, 3) : 1);
        if (!whole && s->dense && taper_dtype_is_float(dtype)) {
            number = (taper_scalar){.kind = TAPER_SCALAR_DOUBLE, .f = (double)draw(b, 1 << 20) / (1 << 19) - 1};
        }
        taper_scalar_store(dtype, bytes + (size_t)i * item, &number);
    }
    if (taper_dtype_is_quantized(dtype)) {
        const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = 0.5, .zero_point = 3};
        check(taper_tensor_set_quantizer(tensor, &quantizer, b->error), b);
    }
    if (s->dense || s->rank == 0) {
        return TAPER_VAL(tensor);
    }
    static const int64_t standing[5] = {0};
    check(taper_tensor_alias(b->heap, tensor, 0, s->rank, s->sizes, standing, &wide, b->error), b);
    taper_obj_release(&tensor->head);
    return TAPER_VAL(wide);
}

static int64_t any_int(bench *b, const char *name)
{
    static const int64_t small[] = {0, 0, 1, 1, 2, -1}, usual[] = {0, 1, 1, 2, 3, -1, 5, 10},
                         large[] = {1000, 65536, 1 << 22, 100000000, INT32_MAX, (int64_t)1 << 33, (int64_t)1 << 40};
    if (has(name, "dim") || has(name, "axis") || has(name, "reduction")) {
        return PICK(b, small);
    }
    return draw(b, 3) != 0 ? PICK(b, usual) : PICK(b, large);
}

static double any_double(bench *b)
{
    static const double numbers[] = {0, 1, 0.5, 2, 1e-5, 0.1, 3, 1e6, 1e9, 1e12};
    return PICK(b, numbers);
}

static taper_val any_string(bench *b, const char *name)
{
    static const char *const texts[] = {"mean", "sum", "reflect", "constant", "fro",       "floor", "linear", "a",
                                        "ab",   "{}",  "none",    "right",    "ij,jk->ik", "i,i->", "ij->"};
    if (draw(b, 2) == 0 || has(name, "mode") || has(name, "equation")) {
        const char *text = PICK(b, texts);
        return of(taper_string_new(b->heap, text, strlen(text)));
    }
    static const char letters[] = "aAb a.\n";
    const size_t length = draw(b, 2) == 0 ? 100000 : 8 << 20;
    char *text = malloc(length);
    if (text == NULL) {
        abort();
    }
    for (size_t i = 0, kind = draw(b, 4); i < length; i++) {
        text[i] = kind == 0 ? 'a' : kind == 1 ? letters[i % 7] : kind == 2 ? ' ' : (char)('0' + i % 10);
    }
    const taper_val value = of(taper_string_new(b->heap, text, length));
    free(text);
    return value;
}

static taper_val long_typed(bench *b, const taper_type *type, const char *name, int depth);

static taper_val list_of(bench *b, const taper_type *element, const char *name, int depth)
{
    static const uint32_t shorter[] = {1, 1, 2, 2, 3, 4}, longer[] = {1000, 100000, 2000000};
    uint32_t count = PICK(b, shorter);
    const bool plain = element->kind == TAPER_TYPE_INT || element->kind == TAPER_TYPE_FLOAT ||
                       element->kind == TAPER_TYPE_BOOL || element->kind == TAPER_TYPE_VARIABLE;
    if (depth == 0 && plain && draw(b, 3) == 0) {
        count = PICK(b, longer);
    } else if (depth == 0 && draw(b, 6) == 0) {
        count = 1000;
    }
    const taper_val list = of(taper_list_new(b->heap, element, count));
    for (uint32_t i = 0; i < count; i++) {
        const bool number = element->kind == TAPER_TYPE_INT || element->kind == TAPER_TYPE_FLOAT;
        const bool same = !number && i > 2; // items after the third repeat the first item, which may be large
        const size_t before = tensors;
        list.as.list->items[i] =
            same ? taper_val_retain(list.as.list->items[0]) : long_typed(b, element, name, depth + 1);
        list.as.list->count = i + 1;
        tensors = before; // resets the count, so that all items have the same shape
    }
    return list;
}

static taper_val dict_of(bench *b, const taper_type *type, const char *name, int depth)
{
    const taper_val dict = of(taper_dict_new(b->heap, type->items[0], type->items[1]));
    const taper_val item = long_typed(b, type->items[1], name, depth + 1); // repeated, because it may be large
    for (int64_t n = depth > 0 || draw(b, 2) == 0 ? 3 : 300000; n > 0; n--) {
        char text[24];
        const int length = snprintf(text, sizeof text, "%" PRId64, n);
        const taper_val key = type->items[0]->kind == TAPER_TYPE_STRING
                                  ? of(taper_string_new(b->heap, text, (size_t)length))
                                  : taper_val_int(n);
        check(taper_dict_set(dict.as.dict, key, taper_val_retain(item), b->error), b);
    }
    taper_val_release(item);
    return dict;
}

// Makes a large value of the type; for a type such as Any, the kind of value is chosen here.
static taper_val long_typed(bench *b, const taper_type *type, const char *name, int depth)
{
    switch (type->kind) {
    case TAPER_TYPE_TENSOR:
        return long_tensor(b, name);
    case TAPER_TYPE_INT:
        return taper_val_int(any_int(b, name));
    case TAPER_TYPE_FLOAT:
        return taper_val_double(any_double(b));
    case TAPER_TYPE_BOOL:
        return taper_val_bool(draw(b, 2) == 0);
    case TAPER_TYPE_COMPLEX:
        return of(taper_complex_new(b->heap, any_double(b), any_double(b)));
    case TAPER_TYPE_NUMBER:
        return draw(b, 2) == 0 ? taper_val_int(any_int(b, name)) : taper_val_double(any_double(b));
    case TAPER_TYPE_STRING:
        return any_string(b, name);
    case TAPER_TYPE_DEVICE:
        return taper_val_device(0, -1);
    case TAPER_TYPE_OPTIONAL:
        return draw(b, 2) == 0 ? taper_val_none() : long_typed(b, type->items[0], name, depth);
    case TAPER_TYPE_LIST:
        return list_of(b, type->items[0], name, depth);
    case TAPER_TYPE_DICT:
        return dict_of(b, type, name, depth);
    default:
        switch (draw(b, 4)) {
        case 0:
            return long_tensor(b, name);
        case 1:
            return any_string(b, name);
        case 2:
            return taper_val_int(any_int(b, name));
        default: {
            static const taper_type number = {.kind = TAPER_TYPE_INT};
            return list_of(b, &number, name, depth);
        }
        }
    }
}

// ---- calls

static taper_val argument(bench *b, const taper_schema *schema, size_t i)
{
    static const taper_type any = {.kind = TAPER_TYPE_ANY};
    if (i == 0) {
        theme = draw(b, sizeof themes / sizeof *themes);
        tensors = 0;
    }
    if (i >= schema->arg_count) {
        return long_typed(b, &any, "", 0);
    }
    const taper_schema_arg *a = &schema->args[i];
    return a->has_default && draw(b, 2) == 0 ? taper_val_retain(a->default_value) : long_typed(b, a->type, a->name, 0);
}

static taper_status call(bench *b, taper_call *call)
{
    stopped = false;
    if (budgeted) {
        check(taper_budget_create(&taper_allocator_system, 1, UINT64_MAX, STEPS, &budget, b->error), b);
        b->run.budget = budget;
    }
    looked = now();
    begun = looked;
    const taper_status status = call_kernels(b, call);
    const double last = looked, end = now();
    begun = 0;
    taper_budget_release(budget);
    budget = NULL;
    b->run.budget = NULL;
    if (end - last > longest) {
        report("takes long to end");
        _exit(3);
    }
    return status;
}

static bool try_calls(const taper_op *op, const char *text)
{
    static bench b;
    bench_open(&b, text);
    b.run.stop = stop;
    b.make = argument;
    b.call = call;
    const taper_schema *schema = NULL;
    check(taper_registry_schema(b.registry, op, &schema, b.error), &b);
    const struct sigaction ticking = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &ticking, NULL);
    const struct itimerval every = {{0, 50000}, {0, 50000}};
    setitimer(ITIMER_PROF, &every, NULL);
    bool good = true;
    for (unsigned i = 0; i < calls && good; i++) {
        row_progress(i);
        budgeted = i % 2 != 0; // calls are stopped alternately by their host and by their budget
        taper_status status;
        good = call_row(&b, op, schema, false, &status);
        if (status == TAPER_OK) {
            row_worked();
        }
        if (stopped && status == TAPER_OK) {
            report("was stopped and has results");
            good = false;
        }
    }
    return bench_close(&b) && good;
}

int main(int argc, char **argv)
{
    calls = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : calls;
    longest = argc > 3 ? 0.001 * strtod(argv[3], NULL) : longest;
    return each_row(argc > 2 ? argv[2] : "", try_calls);
}
