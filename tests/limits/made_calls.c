// SPDX-License-Identifier: BSD-2-Clause
// The bench, the call of an operator as the executor makes it, and the processes in which operators are tested.
#include "tests/limits/made_calls.h"
#include "ir/tensor.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/cpu/cpu_kernels.h"
#include "platform/isa.h"
#include "platform/platform.h"
#include "tests/cpu_mask.h"
#include "tests/sample.h"

enum { MEMORY = 256 << 20, SECONDS_PER_CALL = 20, SECONDS_PER_ROW = 120 };
static const double LONGEST_CALL = 0.25; // seconds after which long loops are asked to stop

static const char *current_row = "";
static taper_text current_call;

uint32_t draw(bench *b, uint32_t below) // uses xorshift64*
{
    b->seed ^= b->seed >> 12;
    b->seed ^= b->seed << 25;
    b->seed ^= b->seed >> 27;
    return (uint32_t)((b->seed * UINT64_C(2685821657736338717)) >> 33) % below;
}

void bench_seed(bench *b, const char *text, uint64_t number)
{
    b->seed = UINT64_C(88172645463325252);
    for (const char *c = text; *c != '\0' && *c != '('; c++) {
        b->seed = b->seed * 31 + (unsigned char)*c;
    }
    b->seed ^= (number + ((uint64_t)sample_first() << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    b->seed += b->seed == 0;
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

void check(taper_status status, const bench *b)
{
    if (status != TAPER_OK) {
        fprintf(stderr, "the test itself: %s\n", taper_error_message(b->error));
        abort();
    }
}

void report(const char *what)
{
    fprintf(stderr, "%s: %s; called with %s\n", current_row, what, taper_text_get(&current_call));
}

// ---- opening and closing a bench

void bench_open(bench *b, const char *text)
{
    const uint64_t cpu_mask = test_cpu_mask();
    memset(b, 0, sizeof *b);
    current_row = text;
    test_allocator_init(&b->memory);
    b->error = taper_error_create();
    bench_seed(b, text, 0);
    const taper_allocator *allocator = &b->memory.allocator;
    check(taper_types_create(allocator, &b->types, b->error), b);
    check(taper_registry_create(allocator, b->types, &b->registry, b->error), b);
    check(taper_packs_create(allocator, &b->packs, b->error), b);
    check(taper_heap_create(allocator, b->types, &b->heap, b->error), b);
    taper_heap_set_limit(b->heap, MEMORY);
    taper_rng_seed(&b->rng, 1);
    b->run = (taper_run){.heap = b->heap,
                         .cpu = cpu_mask != 0 ? taper_cpu_features() & cpu_mask : taper_cpu_features(),
                         .error = b->error,
                         .registry = b->registry,
                         .packs = b->packs,
                         .rng = &b->rng,
                         .log = quiet,
                         .stop = stop};
}

bool bench_close(bench *b)
{
    drop_kept(b);
    taper_heap_close(b->heap);
    taper_packs_destroy(b->packs);
    taper_registry_destroy(b->registry);
    taper_types_release(b->types);
    taper_error_destroy(b->error);
    const bool good = atomic_load(&b->memory.blocks) == 0;
    if (!good) {
        report("leaks in one of the calls");
    }
    taper_text_free(&current_call);
    current_call = taper_text_make(&taper_allocator_system);
    return good;
}

// ---- making calls

static taper_val argument(bench *b, const taper_schema *schema, size_t i)
{
    const taper_schema_arg *a = &schema->args[i];
    if (a->has_default && draw(b, 2) == 0) {
        return taper_val_retain(a->default_value);
    }
    return draw(b, b->hostile ? 60 : 12) == 0 ? any_value(b, 0) : typed(b, a->type, 0);
}

static size_t made_arguments(bench *b, const taper_schema *schema, taper_val *args)
{
    // The executor passes at most the arguments of the schema, and at least those without a default.
    size_t count = schema->arg_count;
    if (schema->vararg) {
        count = taper_min_size(draw(b, 5), MOST_ARGUMENTS);
    }
    for (size_t i = 0; i < count; i++) {
        args[i] = b->make != NULL         ? b->make(b, schema, i)
                  : i < schema->arg_count ? argument(b, schema, i)
                                          : any_value(b, 0);
    }
    // In half of the calls the tensors fit together: most tensors have the shape and dtype of the first.
    if (draw(b, 2) == 0 && count > 1) {
        for (size_t i = 1; i < count; i++) {
            if (args[0].tag == TAPER_TENSOR && args[i].tag == TAPER_TENSOR && draw(b, 3) != 0) {
                taper_val_replace(&args[i], taper_val_retain(args[0]));
            }
        }
    }
    return count;
}

// Makes a tensor with hidden_nhwc contiguous, as the executor does for operators without TAPER_OP_NHWC.
static taper_status reveal(taper_val value, taper_error *error)
{
    if (value.tag == TAPER_TENSOR) {
        return taper_tensor_settle(value.as.tensor, error);
    }
    for (size_t i = 0; value.tag == TAPER_LIST && i < value.as.list->count; i++) {
        if (value.as.list->items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_tensor_settle(value.as.list->items[i].as.tensor, error));
        }
    }
    return TAPER_OK;
}

taper_status call_kernels(bench *b, taper_call *call)
{
    const taper_kernel fast = taper_cpu_kernel(NULL, call->op);
    b->run.work_left = 0;
    b->run.ended = TAPER_OK;
    b->run.current = call->op;
    const taper_status status = fast != NULL ? taper_call_kernel(call, fast) : TAPER_DECLINED;
    return status != TAPER_DECLINED ? status : taper_call_kernel(call, taper_row_kernel(call->op));
}

static taper_status run_call(bench *b, taper_call *call)
{
    b->deadline = taper_clock() + LONGEST_CALL;
    alarm(SECONDS_PER_CALL);
    const taper_status status = b->call != NULL ? b->call(b, call) : call_kernels(b, call);
    alarm(SECONDS_PER_ROW);
    return status;
}

void drop_kept(bench *b)
{
    for (size_t i = 0; i < b->kept_count; i++) {
        taper_val_release(b->kept[i]);
    }
    b->kept_count = 0;
}

bool call_row(bench *b, const taper_op *op, const taper_schema *schema, bool keep, taper_status *ended)
{
    taper_val args[MOST_ARGUMENTS], rets[MOST_RESULTS];
    const size_t count = made_arguments(b, schema, args);
    const size_t results = schema->varret ? 1 : schema->ret_count;
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        rets[i] = taper_val_none();
    }
    taper_text_free(&current_call);
    current_call = taper_text_make(&taper_allocator_system);
    taper_call_describe(schema, args, count, &current_call);
    if (b->verbose) {
        fprintf(stderr, "%s\n    %s\n", schema->text, taper_text_get(&current_call));
    }
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
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK && !taper_op_has(op, TAPER_OP_NHWC); i++) {
        status = reveal(args[i], b->error);
    }
    if (status == TAPER_OK) {
        status = run_call(b, &call);
    }
    bool good = true;
    if (status != TAPER_OK && taper_error_message(b->error)[0] == '\0') {
        report("fails without a message");
        good = false;
    }
    if (b->verbose && status != TAPER_OK) {
        fprintf(stderr, "    failed: %s\n", taper_error_message(b->error));
    }
    for (size_t i = 0; i < MOST_RESULTS; i++) {
        if (i >= results && rets[i].tag != TAPER_NONE) {
            report("leaves more results than its schema has");
            good = false;
        }
        if (keep && status == TAPER_OK && rets[i].tag != TAPER_NONE && b->kept_count < MOST_KEPT) {
            b->kept[b->kept_count++] = rets[i];
        } else {
            taper_val_release(rets[i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        taper_val_release(args[i]);
    }
    *ended = status;
    return good;
}

// ---- testing operators in child processes
// The state that a process reports: the current operator and part, and the number of operators that worked.
typedef struct note {
    size_t row;
    unsigned part, worked;
    enum { NOTE_AT, NOTE_PASSED, NOTE_FAILED } what;
} note;

static int notes = -1;
static note current_note;

static void tell(void)
{
    if (write(notes, &current_note, sizeof current_note) != (ssize_t)sizeof current_note) {
        _exit(4);
    }
}

void row_worked(void)
{
    current_note.worked++;
}

void row_progress(unsigned part)
{
    current_note.part = part;
    tell();
}

static void died(int number)
{
    // The handler calls functions that are not async-signal-safe, which is allowed because it ends the process.
    report(number == SIGALRM ? "hangs" : "crashes");
    _exit(3);
}

static bool row_is_meant(const taper_op *op, const char *prefix, taper_arena *arena, const char **text)
{
    *text = taper_row_text(op, arena);
    if (*text == NULL) {
        perror("memory");
        exit(1);
    }
    return strncmp(*text, prefix, strlen(prefix)) == 0;
}

// Tests the operators from index `first` on. Does not return.
static void try_rows(size_t first, const char *prefix, try_row *test)
{
#ifdef __SANITIZE_ADDRESS__ // a sanitizer reports these signals itself, with the location
    static const int signals[] = {SIGALRM};
#else
    static const int signals[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#endif
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal(signals[i], died);
    }
    taper_arena texts;
    taper_arena_init(&texts, &taper_allocator_system);
    for (size_t row = first; row < taper_row_count; row++) {
        const char *text;
        if (row_is_meant(&taper_ops[row], prefix, &texts, &text)) {
            current_note = (note){.row = row, .what = NOTE_AT};
            tell();
            current_note.what = test(&taper_ops[row], text) ? NOTE_PASSED : NOTE_FAILED;
            tell();
        }
    }
    taper_arena_free(&texts);
    exit(0);
}

int each_row(const char *prefix, try_row *test)
{
    unsigned passed = 0, failed = 0, worked = 0, calls = 0;
    taper_arena texts;
    taper_arena_init(&texts, &taper_allocator_system);
    size_t row = 0;
    bool more = true;
    while (more) {
        int ends[2];
        fflush(NULL);
        if (pipe(ends) != 0) {
            perror("pipe");
            return 1;
        }
        const pid_t child = fork();
        if (child < 0) {
            perror("fork");
            return 1;
        }
        if (child == 0) {
            close(ends[0]);
            notes = ends[1];
            try_rows(row, prefix, test);
        }
        close(ends[1]);
        note last = {.what = NOTE_PASSED}, got;
        while (read(ends[0], &got, sizeof got) == (ssize_t)sizeof got) {
            last = got;
            passed += got.what == NOTE_PASSED;
            worked += got.what == NOTE_PASSED && got.worked != 0;
            calls += got.what == NOTE_AT ? 0 : got.worked;
            failed += got.what == NOTE_FAILED;
            if (got.what == NOTE_FAILED) {
                printf("FAILED %s (part %u)\n", taper_row_text(&taper_ops[got.row], &texts), got.part);
            }
        }
        close(ends[0]);
        int status = 0;
        waitpid(child, &status, 0);
        more = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        if (more && last.what == NOTE_AT) {
            failed++;
            printf("FAILED %s (part %u): the process ends with %s %d\n", taper_row_text(&taper_ops[last.row], &texts),
                   last.part, WIFEXITED(status) ? "status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
            row = last.row + 1;
        } else if (more) {
            printf("FAILED between rows\n");
            failed++;
            more = false;
        }
    }
    taper_arena_free(&texts);
    printf("%u calls worked, of %u rows at least one\n%u passed, %u failed\n", calls, worked, passed, failed);
    return failed != 0 || passed == 0;
}
