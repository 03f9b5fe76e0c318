// SPDX-License-Identifier: BSD-2-Clause
// op_arguments [CALLS [ROW-NAME]]: throws wrong arguments at every row of the operator list: wrong kinds, ranks,
// dtypes, dimensions, negative sizes, empty tensors, huge sizes, NaN. A call may work or fail with a message; it may
// not crash, hang, leak, write behind its memory (sanitizers) or fail without saying why. Each row runs in a process of
// its own, so that one bad row does not hide others. The numbers are made from the row's name and are the same in every
// run.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/cpu_backend.h"
#include "ops/packs.h"
#include "ops/random.h"
#include "ops/registry.h"
#include "platform/platform.h"
#include "tests/api/fixture.h"

enum { MEMORY = 256 << 20, SECONDS_PER_CALL = 20, SECONDS_PER_ROW = 120 };
static const double LONGEST_CALL = 0.25; // what long loops are asked to stop after

typedef struct bench {
    test_allocator memory;
    taper_types *types;
    taper_registry *registry;
    taper_packs *packs;
    taper_heap *heap;
    taper_error *error;
    taper_rng rng;
    taper_run run;
    double deadline;
    uint64_t seed;
} bench;

static uint32_t draw(bench *b, uint32_t below) // xorshift64*
{
    b->seed ^= b->seed >> 12;
    b->seed ^= b->seed << 25;
    b->seed ^= b->seed >> 27;
    return (uint32_t)((b->seed * UINT64_C(2685821657736338717)) >> 33) % below;
}

static taper_status stop(taper_run *run, double ahead)
{
    const bench *b = (const bench *)(const void *)((const char *)run - offsetof(bench, run));
    return taper_clock() + ahead > b->deadline ? TAPER_ERROR_RESOURCE : TAPER_OK;
}

static void quiet(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)user, (void)level, (void)text, (void)length;
}

// ---- values

#define PICK(b, array) ((array)[draw((b), (uint32_t)(sizeof(array) / sizeof *(array)))])

static int64_t any_int(bench *b)
{
    static const int64_t usual[] = {0, 1, 1, 2, 2, 3, -1, -2};
    static const int64_t odd[] = {4,
                                  5,
                                  7,
                                  11,
                                  16,
                                  -3,
                                  -5,
                                  64,
                                  1000,
                                  65536,
                                  -65536,
                                  INT32_MAX,
                                  INT32_MIN,
                                  (int64_t)1 << 32,
                                  (int64_t)1 << 40,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_MAX - 1,
                                  (int64_t)1 << 62};
    return draw(b, 4) != 0 ? PICK(b, usual) : PICK(b, odd);
}

static double any_double(bench *b)
{
    static const double numbers[] = {0, 1,     0.5,    -1,     2,    1e-5,     0.1,       -0.0,
                                     3, 1e308, -1e308, 1e-320, 1e19, INFINITY, -INFINITY, NAN};
    return PICK(b, numbers);
}

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

static taper_val any_tensor(bench *b)
{
    static const int64_t shapes[][TAPER_MAX_RANK] = {{2, 3, 4, 4},
                                                     {4, 3, 3, 3},
                                                     {2, 3},
                                                     {3},
                                                     {3, 3},
                                                     {1},
                                                     {2, 3, 4},
                                                     {1, 1, 1, 1},
                                                     {0},
                                                     {0, 3},
                                                     {2, 0, 4, 4},
                                                     {2, 3, 4, 5, 2},
                                                     {2, 1, 3, 1, 2, 1, 2},
                                                     {17},
                                                     {4, 4},
                                                     {3, 0},
                                                     {1, 3, 8, 8},
                                                     {4},
                                                     {5},
                                                     {8, 2}};
    static const size_t ranks[] = {4, 4, 2, 1, 2, 1, 3, 4, 1, 2, 4, 5, 7, 1, 2, 2, 4, 1, 1, 2};
    static const taper_dtype dtypes[] = {TAPER_F32, TAPER_F32,  TAPER_F32, TAPER_F32, TAPER_I64,  TAPER_I64, TAPER_BOOL,
                                         TAPER_F64, TAPER_U8,   TAPER_I32, TAPER_F16, TAPER_BF16, TAPER_C64, TAPER_I8,
                                         TAPER_I16, TAPER_C128, TAPER_QU8, TAPER_QI8, TAPER_QI32};
    const size_t shape = draw(b, 8) == 0 ? SIZE_MAX : draw(b, sizeof ranks / sizeof *ranks);
    const taper_dtype dtype = PICK(b, dtypes);
    const size_t rank = shape == SIZE_MAX ? 0 : ranks[shape];
    const int64_t *sizes = shape == SIZE_MAX ? NULL : shapes[shape];
    taper_tensor *tensor;
    check(taper_tensor_new(b->heap, dtype, rank, sizes, NULL, &tensor, b->error), b);
    uint8_t *bytes = taper_tensor_mutable(tensor);
    const size_t count = tensor->storage->bytes;
    if (dtype == TAPER_I64 || dtype == TAPER_I32) {
        // Indices, mostly good ones.
        const bool good = draw(b, 2) == 0;
        for (int64_t i = 0; i < taper_tensor_numel(tensor); i++) {
            const int64_t number = good ? (int64_t)draw(b, 3) : any_int(b);
            if (dtype == TAPER_I64) {
                memcpy(bytes + i * 8, &number, 8);
            } else {
                const int32_t small = (int32_t)(uint32_t)(uint64_t)number;
                memcpy(bytes + i * 4, &small, 4);
            }
        }
    } else if (dtype == TAPER_F32 && draw(b, 4) != 0) {
        for (int64_t i = 0; i < taper_tensor_numel(tensor); i++) {
            const float number = draw(b, 16) == 0 ? (float)any_double(b) : (float)draw(b, 100) / 25.0f - 2.0f;
            memcpy(bytes + i * 4, &number, 4);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            bytes[i] = dtype == TAPER_BOOL ? (uint8_t)draw(b, 2) : (uint8_t)draw(b, 256);
        }
    }
    if (dtype == TAPER_QU8 || dtype == TAPER_QI8 || dtype == TAPER_QI32) {
        const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = 0.5, .zero_point = 3};
        check(taper_tensor_set_quantizer(tensor, &quantizer, b->error), b);
    }
    // Now and then a view: transposed, expanded (huge, too), every second element.
    taper_tensor *view = NULL;
    int64_t size[TAPER_MAX_RANK], stride[TAPER_MAX_RANK];
    memcpy(size, tensor->sizes, sizeof size);
    memcpy(stride, tensor->strides, sizeof stride);
    switch (draw(b, 8)) {
    case 0:
        if (rank >= 2) {
            const int64_t t = size[0], s = stride[0];
            size[0] = size[rank - 1], stride[0] = stride[rank - 1];
            size[rank - 1] = t, stride[rank - 1] = s;
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    case 1:
        if (rank >= 1 && size[0] == 1) {
            static const int64_t lengths[] = {2, 3, 7, 100000, (int64_t)1 << 33};
            size[0] = PICK(b, lengths);
            stride[0] = 0;
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    case 2:
        if (rank >= 1 && size[rank - 1] >= 2) {
            size[rank - 1] = (size[rank - 1] + 1) / 2;
            stride[rank - 1] = 2 * stride[rank - 1];
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    case 3:
        if (rank == 4) {
            taper_strides_channels_last(rank, size, stride);
            check(taper_tensor_alias(b->heap, tensor, 0, rank, size, stride, &view, b->error), b);
        }
        break;
    default:
        break;
    }
    if (view != NULL) {
        taper_obj_release(&tensor->head);
        tensor = view;
    }
    return TAPER_VAL(tensor);
}

static taper_val any_string(bench *b)
{
    static const char *const texts[] = {"",          "mean",  "sum",   "none",    "reflect", "constant",  "fro",
                                        "nuc",       "left",  "floor", "trunc",   "linear",  "a",         "abc",
                                        "ij,jk->ik", "ii->i", "...",   "{}",      "{} {:d}", "%d",        "\xc3\xa9",
                                        "\xff\xfe",  "-12",   "1e5",   "reduced", "amax",    "none,none", "tanh"};
    const char *text = PICK(b, texts);
    return of(taper_string_new(b->heap, text, strlen(text)));
}

static taper_val any_value(bench *b, int depth);

static taper_val list_of(bench *b, const taper_type *element, int depth);

// A value of the type, as far as the type says.
static taper_val typed(bench *b, const taper_type *type, int depth)
{
    switch (type->kind) {
    case TAPER_TYPE_TENSOR:
        return any_tensor(b);
    case TAPER_TYPE_INT:
        return taper_val_int(any_int(b));
    case TAPER_TYPE_FLOAT:
        return taper_val_double(any_double(b));
    case TAPER_TYPE_BOOL:
        return taper_val_bool(draw(b, 2) == 0);
    case TAPER_TYPE_COMPLEX:
        return of(taper_complex_new(b->heap, any_double(b), any_double(b)));
    case TAPER_TYPE_NUMBER:
        return draw(b, 2) == 0 ? taper_val_int(any_int(b)) : taper_val_double(any_double(b));
    case TAPER_TYPE_STRING:
        return any_string(b);
    case TAPER_TYPE_DEVICE:
        return taper_val_device((int)draw(b, 4), (int)draw(b, 3) - 1);
    case TAPER_TYPE_OPTIONAL:
        return draw(b, 3) == 0 ? taper_val_none() : typed(b, type->items[0], depth);
    case TAPER_TYPE_LIST:
        return list_of(b, type->items[0], depth);
    case TAPER_TYPE_DICT: {
        taper_val dict = of(taper_dict_new(b->heap, type->items[0], type->items[1]));
        for (uint32_t n = draw(b, 4); n > 0 && depth < 3; n--) {
            const taper_val key = type->items[0]->kind == TAPER_TYPE_VARIABLE ? taper_val_int(any_int(b))
                                                                              : typed(b, type->items[0], depth + 1);
            check(taper_dict_set(dict.as.dict, key, typed(b, type->items[1], depth + 1), b->error), b);
        }
        return dict;
    }
    case TAPER_TYPE_VARIABLE:
    case TAPER_TYPE_ANY:
        return any_value(b, depth + 1);
    case TAPER_TYPE_NONE:
        return taper_val_none();
    default:
        return any_value(b, depth + 1);
    }
}

static taper_val list_of(bench *b, const taper_type *element, int depth)
{
    static const uint32_t counts[] = {0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 9, 70};
    uint32_t count = depth > 2 ? 0 : PICK(b, counts);
    taper_val list = of(taper_list_new(b->heap, element, count));
    const taper_type any = {.kind = TAPER_TYPE_ANY};
    for (uint32_t i = 0; i < count; i++) {
        list.as.list->items[i] = typed(b, element != NULL ? element : &any, depth + 1);
        list.as.list->count = i + 1;
    }
    return list;
}

// A value of any kind, most probably a wrong one.
static taper_val any_value(bench *b, int depth)
{
    switch (draw(b, depth > 2 ? 6 : 9)) {
    case 0:
        return taper_val_none();
    case 1:
        return taper_val_int(any_int(b));
    case 2:
        return taper_val_double(any_double(b));
    case 3:
        return taper_val_bool(draw(b, 2) == 0);
    case 4:
        return any_string(b);
    case 5:
        return any_tensor(b);
    case 6:
        return list_of(b, NULL, depth + 1);
    case 7: {
        taper_val tuple = of(taper_tuple_new(b->heap, NULL, 2));
        tuple.as.tuple->items[0] = any_value(b, depth + 1);
        tuple.as.tuple->items[1] = any_value(b, depth + 1);
        return tuple;
    }
    default:
        return of(taper_dict_new(b->heap, NULL, NULL));
    }
}

// ---- calls

static const char *current_row = "";
static taper_text current_call;

static void report(const char *what)
{
    fprintf(stderr, "%s: %s; called with %s\n", current_row, what, taper_text_get(&current_call));
}

static void died(int number)
{
    // Not safe in a handler in general; the process ends here.
    report(number == SIGALRM ? "hangs" : "crashes");
    _exit(3);
}

enum { MOST_ARGUMENTS = 40, MOST_RESULTS = 16 };

static taper_val argument(bench *b, const taper_schema *schema, size_t i)
{
    const taper_schema_arg *a = &schema->args[i];
    if (a->has_default && draw(b, 2) == 0) {
        return taper_val_retain(a->default_value);
    }
    return draw(b, 12) == 0 ? any_value(b, 0) : typed(b, a->type, 0);
}

static bool call_row(bench *b, const taper_op *op, const taper_schema *schema)
{
    taper_val args[MOST_ARGUMENTS], rets[MOST_RESULTS];
    // The executor passes as many arguments as the schema has, and at least those without a default.
    size_t count = schema->arg_count;
    if (schema->vararg) {
        count = taper_min_size(draw(b, 5), MOST_ARGUMENTS);
    }
    const size_t results = schema->varret ? 1 : schema->ret_count;
    for (size_t i = 0; i < count; i++) {
        args[i] = i < schema->arg_count ? argument(b, schema, i) : any_value(b, 0);
    }
    // Half the time the tensors go together: one shape and dtype for most of them.
    if (draw(b, 2) == 0 && count > 1) {
        for (size_t i = 1; i < count; i++) {
            if (args[0].tag == TAPER_TENSOR && args[i].tag == TAPER_TENSOR && draw(b, 3) != 0) {
                taper_val_replace(&args[i], taper_val_retain(args[0]));
            }
        }
    }
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        rets[i] = taper_val_none();
    }
    taper_text_free(&current_call);
    current_call = taper_text_make(&taper_allocator_system);
    taper_call_describe(schema, args, count, &current_call);
    void *state = NULL;
    taper_error_clear(b->error);
    taper_call call = {.run = &b->run,
                       .op = op,
                       .param = taper_row_param(op),
                       .schema = schema,
                       .args = args,
                       .arg_count = count,
                       .rets = rets,
                       .ret_count = results,
                       .state = &state};
    const taper_kernel fast = taper_cpu_kernel(op, b->run.cpu);
    b->deadline = taper_clock() + LONGEST_CALL;
    b->run.current = op;
    b->run.ended = TAPER_OK;
    b->run.work_left = 0;
    alarm(SECONDS_PER_CALL);
    taper_status status = fast != NULL ? taper_call_kernel(&call, fast) : TAPER_DECLINED;
    if (status == TAPER_DECLINED) {
        status = taper_call_kernel(&call, taper_row_kernel(op));
    }
    alarm(SECONDS_PER_ROW);
    bool good = true;
    if (status != TAPER_OK && taper_error_message(b->error)[0] == '\0') {
        report("fails without a message");
        good = false;
    }
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        if (i >= results && rets[i].tag != TAPER_NONE) {
            report("leaves more results than its schema has");
            good = false;
        }
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
    test_allocator_init(&b.memory);
    b.error = taper_error_create();
    b.seed = UINT64_C(88172645463325252);
    for (const char *c = text; *c != '\0' && *c != '('; c++) {
        b.seed = b.seed * 31 + (unsigned char)*c;
    }
    current_row = text;
    const taper_allocator *allocator = &b.memory.allocator;
    const taper_schema *schema = NULL;
    check(taper_types_create(allocator, &b.types, b.error), &b);
    check(taper_registry_create(allocator, b.types, &b.registry, b.error), &b);
    check(taper_packs_create(allocator, &b.packs, b.error), &b);
    check(taper_heap_create(allocator, b.types, &b.heap, b.error), &b);
    check(taper_registry_schema(b.registry, op, &schema, b.error), &b);
    taper_heap_set_limit(b.heap, MEMORY);
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
    for (unsigned i = 0; i < calls && good; i++) {
        good = call_row(&b, op, schema);
    }
    taper_heap_close(b.heap);
    taper_packs_destroy(b.packs);
    taper_registry_destroy(b.registry);
    taper_types_release(b.types);
    taper_error_destroy(b.error);
    if (good && atomic_load(&b.memory.blocks) != 0) {
        report("leaks in one of the calls");
        good = false;
    }
    taper_text_free(&current_call);
    return good;
}

int main(int argc, char **argv)
{
    const unsigned calls = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
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
        fflush(NULL);
        const pid_t child = fork();
        if (child < 0) {
            perror("fork");
            return 1;
        }
        if (child == 0) {
            static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
            for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
                signal(signals[i], died);
            }
            exit(run_row(op, text, calls) ? 0 : 1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            passed++;
        } else {
            failed++;
            if (!WIFEXITED(status)) {
                printf("FAILED %s: signal %d\n", text, WTERMSIG(status));
            } else {
                printf("FAILED %s\n", text);
            }
        }
    }
    taper_arena_free(&texts);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
