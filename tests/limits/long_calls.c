// SPDX-License-Identifier: BSD-2-Clause
// long_calls [CALLS [ROW-NAME [MILLISECONDS]]]: calls every row of the operator list with arguments that would keep it
// busy for long: tensors of 10^12 elements that are one number repeated, large matrices, long texts and lists, large
// counts. In the middle of a call its host wants it to end, or its budget of work is spent; it must then end, and with
// an error. What is held against the limit is the processor time of the thread between two looks at the clock, so that
// a busy machine changes nothing. Each row runs in a process of its own. The numbers are made from the row's name and
// are the same in every run.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/cpu/cpu_backend.h"
#include "base/budget.h"
#include "ops/packs.h"
#include "ops/random.h"
#include "ops/registry.h"
#include "platform/platform.h"
#include "tests/api/fixture.h"

enum { MEMORY = 128 << 20, STEPS = 20000000, MOST_ARGUMENTS = 40, MOST_RESULTS = 16 };
static const double CALL_TIME = 0.02; // after which the host wants the call to end
static double longest = 1.0;          // between two looks, and for a call that has STEPS

typedef struct bench {
    taper_allocator allocator;
    taper_types *types;
    taper_registry *registry;
    taper_packs *packs;
    taper_heap *heap;
    taper_error *error;
    taper_budget *budget;
    taper_rng rng;
    taper_run run;
    bool stopped;
    uint64_t seed;
    uint32_t theme; // of the call at hand: which shapes go together
    size_t tensors; // that it has so far
} bench;

static double begun, looked; // processor time of the call's begin and of the last look
static const char *current_row = "";
static taper_text current_call;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t draw(bench *b, uint32_t below) // xorshift64*
{
    b->seed ^= b->seed >> 12;
    b->seed ^= b->seed << 25;
    b->seed ^= b->seed >> 27;
    return (uint32_t)((b->seed * UINT64_C(2685821657736338717)) >> 33) % below;
}

static void report(const char *what)
{
    fprintf(stderr, "%s: %s; called with %s\n", current_row, what, taper_text_get(&current_call));
}

static taper_status stop(taper_run *run, double ahead)
{
    bench *b = (bench *)(void *)((char *)run - offsetof(bench, run));
    const double t = now();
    if (b->run.budget != NULL) {
        return TAPER_OK;
    }
    looked = t;
    b->stopped = b->stopped || t - begun + ahead > CALL_TIME;
    return b->stopped ? TAPER_ERROR_RESOURCE : TAPER_OK;
}

static void quiet(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

// Every 50 ms of processor time. Not safe in a handler in general; the process ends here.
static void tick(int number)
{
    (void)number;
    if (begun > 0 && now() - looked > longest) {
        report("does not look at the clock");
        _exit(3);
    }
}

// ---- values

#define PICK(b, array) ((array)[draw((b), (uint32_t)(sizeof(array) / sizeof *(array)))])

static taper_val of(void *object)
{
    if (object == NULL) {
        fprintf(stderr, "the test itself is out of memory\n");
        abort();
    }
    return TAPER_VAL(object);
}

static void check(taper_status status, const bench *b)
{
    if (status != TAPER_OK) {
        fprintf(stderr, "the test itself: %s\n", taper_error_message(b->error));
        abort();
    }
}

static bool has(const char *name, const char *part)
{
    return strstr(name, part) != NULL;
}

typedef struct shape {
    size_t rank;
    int64_t sizes[5];
    bool dense; // its numbers lie in memory and are random; otherwise it is one number
} shape;

enum { HUGE_SIDE = 1 << 20 };

// A row a theme: what the call's first, second and further tensors look like.
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
};

static taper_val any_tensor(bench *b, const char *name)
{
    const shape *s = &themes[b->theme][b->tensors < 2 ? b->tensors : 2];
    b->tensors++;
    const bool whole = has(name, "ind") || has(name, "target") || has(name, "offset") || has(name, "length") ||
                       has(name, "repeats") || has(name, "segment") || has(name, "bucket");
    static const taper_dtype floats[] = {TAPER_F32, TAPER_F32, TAPER_F32,  TAPER_F64, TAPER_F16, TAPER_C64,
                                         TAPER_I64, TAPER_U8,  TAPER_BOOL, TAPER_I32, TAPER_QU8, TAPER_QI8};
    static taper_dtype chosen;
    if (b->tensors == 1 || draw(b, 8) == 0) {
        chosen = PICK(b, floats);
    }
    const taper_dtype dtype = has(name, "mask") || has(name, "condition") ? TAPER_BOOL : whole ? TAPER_I64 : chosen;
    static const int64_t ones[5] = {1, 1, 1, 1, 1};
    taper_tensor *tensor, *wide;
    check(taper_tensor_new(b->heap, dtype, s->rank, s->dense ? s->sizes : ones, NULL, &tensor, b->error), b);
    const int64_t count = taper_tensor_numel(tensor);
    char *bytes = taper_tensor_mutable(tensor);
    const bool wild = draw(b, 2) == 0;
    enum { PERIOD = 1 << 14 }; // numbers repeat, which takes less time than drawing them
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
                         large[] = {1000, 65536, 1 << 22, 100000000, (int64_t)1 << 33, (int64_t)1 << 40};
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

static taper_val typed(bench *b, const taper_type *type, const char *name, int depth);

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
        const bool same = !number && i > 2; // what is large is there once
        const size_t tensors = b->tensors;
        list.as.list->items[i] = same ? taper_val_retain(list.as.list->items[0]) : typed(b, element, name, depth + 1);
        list.as.list->count = i + 1;
        b->tensors = tensors; // of one shape
    }
    return list;
}

// A value of the type, as far as the type says.
static taper_val typed(bench *b, const taper_type *type, const char *name, int depth)
{
    switch (type->kind) {
    case TAPER_TYPE_TENSOR:
        return any_tensor(b, name);
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
        return draw(b, 2) == 0 ? taper_val_none() : typed(b, type->items[0], name, depth);
    case TAPER_TYPE_LIST:
        return list_of(b, type->items[0], name, depth);
    case TAPER_TYPE_DICT: {
        const taper_val dict = of(taper_dict_new(b->heap, type->items[0], type->items[1]));
        for (int64_t n = draw(b, 2) == 0 ? 3 : 300000; n > 0; n--) {
            const taper_val key = type->items[0]->kind == TAPER_TYPE_STRING ? any_string(b, "mode") : taper_val_int(n);
            check(taper_dict_set(dict.as.dict, key, typed(b, type->items[1], name, depth + 1), b->error), b);
        }
        return dict;
    }
    default:
        switch (draw(b, 4)) {
        case 0:
            return any_tensor(b, name);
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
    const taper_schema_arg *a = &schema->args[i];
    return a->has_default && draw(b, 2) == 0 ? taper_val_retain(a->default_value) : typed(b, a->type, a->name, 0);
}

// What the executor does with a call; alternate calls are stopped by the host and by their budget.
static taper_status run_kernel(bench *b, taper_call *call, bool budgeted)
{
    b->stopped = false;
    b->run.work_left = 0;
    b->run.ended = TAPER_OK;
    b->run.current = call->op;
    if (budgeted) {
        check(taper_budget_create(&taper_allocator_system, 1, UINT64_MAX, STEPS, &b->budget, b->error), b);
        b->run.budget = b->budget;
    }
    taper_error_clear(b->error);
    taper_heap_set_limit(b->heap, MEMORY);
    const taper_kernel fast = budgeted ? NULL : taper_cpu_kernel(call->op, b->run.cpu);
    looked = now();
    begun = looked;
    taper_status status = fast != NULL ? taper_call_kernel(call, fast) : TAPER_DECLINED;
    if (status == TAPER_DECLINED) {
        status = taper_call_kernel(call, taper_row_kernel(call->op));
    }
    const double end = now();
    const double last = looked;
    begun = 0;
    taper_heap_set_limit(b->heap, 0);
    if (budgeted) {
        taper_budget_release(b->budget);
        b->run.budget = NULL;
    }
    if (end - last > longest) {
        report("takes long to end");
        _exit(3);
    }
    return status;
}

static bool call_row(bench *b, const taper_op *op, const taper_schema *schema, bool budgeted)
{
    taper_val args[MOST_ARGUMENTS], rets[MOST_RESULTS];
    const size_t count = schema->vararg ? draw(b, 5) : schema->arg_count;
    const size_t results = schema->varret ? 1 : schema->ret_count;
    b->theme = draw(b, sizeof themes / sizeof *themes);
    b->tensors = 0;
    static const taper_type any = {.kind = TAPER_TYPE_ANY};
    for (size_t i = 0; i < count; i++) {
        args[i] = i < schema->arg_count ? argument(b, schema, i) : typed(b, &any, "", 0);
    }
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        rets[i] = taper_val_none();
    }
    taper_text_free(&current_call);
    current_call = taper_text_make(&taper_allocator_system);
    taper_call_describe(schema, args, count, &current_call);
    void *state = NULL;
    taper_call call = {.run = &b->run,
                       .op = op,
                       .param = taper_row_param(op),
                       .schema = schema,
                       .args = args,
                       .arg_count = count,
                       .rets = rets,
                       .ret_count = results,
                       .state = &state};
    const taper_status status = run_kernel(b, &call, budgeted);
    const bool good = !b->stopped || status != TAPER_OK;
    if (!good) {
        report("was stopped and has results");
    }
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        taper_val_release(rets[i]);
    }
    for (size_t i = 0; i < count; i++) {
        taper_val_release(args[i]);
    }
    return good;
}

static bool run_row(const taper_op *op, const char *text, unsigned calls)
{
    static bench b;
    memset(&b, 0, sizeof b);
    b.error = taper_error_create();
    b.seed = UINT64_C(88172645463325252);
    for (const char *c = text; *c != '\0' && *c != '('; c++) {
        b.seed = b.seed * 31 + (unsigned char)*c;
    }
    current_row = text;
    const taper_allocator *allocator = &taper_allocator_system;
    const taper_schema *schema = NULL;
    check(taper_types_create(allocator, &b.types, b.error), &b);
    check(taper_registry_create(allocator, b.types, &b.registry, b.error), &b);
    check(taper_packs_create(allocator, &b.packs, b.error), &b);
    check(taper_heap_create(allocator, b.types, &b.heap, b.error), &b);
    check(taper_registry_schema(b.registry, op, &schema, b.error), &b);
    taper_rng_seed(&b.rng, 1);
    b.run = (taper_run){.heap = b.heap,
                        .cpu = taper_cpu_features(),
                        .error = b.error,
                        .registry = b.registry,
                        .packs = b.packs,
                        .rng = &b.rng,
                        .fast = &taper_cpu_fast,
                        .log = quiet,
                        .stop = stop};
    bool good = schema->arg_count <= MOST_ARGUMENTS && schema->ret_count <= MOST_RESULTS;
    const struct itimerval every = {{0, 50000}, {0, 50000}};
    setitimer(ITIMER_PROF, &every, NULL);
    for (unsigned i = 0; i < calls && good; i++) {
        good = call_row(&b, op, schema, i % 2 != 0);
    }
    return good; // what is left goes with the process
}

static bool try_row(const taper_op *op, const char *text, unsigned calls)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(1);
    }
    if (child == 0) {
        const struct sigaction ticking = {.sa_handler = tick, .sa_flags = SA_RESTART};
        sigaction(SIGPROF, &ticking, NULL);
        _exit(run_row(op, text, calls) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        printf("FAILED %s: signal %d\n", text, WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        printf("FAILED %s\n", text);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    const unsigned calls = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
    longest = argc > 3 ? 0.001 * strtod(argv[3], NULL) : longest;
    unsigned passed = 0, failed = 0;
    taper_arena texts;
    taper_arena_init(&texts, &taper_allocator_system);
    for (size_t row = 0; row < TAPER_ROW_COUNT; row++) {
        const taper_op *op = &taper_ops[row];
        const char *text = taper_row_text(op, &texts);
        if (text == NULL) {
            perror("memory");
            return 1;
        }
        if (argc > 2 && strncmp(text, argv[2], strlen(argv[2])) != 0) {
            continue;
        }
        if (try_row(op, text, calls)) {
            passed++;
        } else {
            failed++;
        }
    }
    taper_arena_free(&texts);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
