// SPDX-License-Identifier: BSD-2-Clause
// op_programs [PROGRAMS [NAME [NUMBER]]]: runs random programs, the same number for each operator of the list and
// PROGRAMS in total. A program has up to four operators, each applied to the results of those before it: views with
// sizes, strides and overlaps that no layer produces, numbers at the limits of their range, NaN. The sanitizers must
// find no undefined behaviour, and each view must be inside its storage. A program depends on the operator's name, the
// position in the stride (tests/sample.h) and a number, which is printed for a failure. With NUMBER, runs only that
// program and prints its calls.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/tensor.h"
#include "tests/limits/made_calls.h"

enum { MOST_STEPS = 4, TRIES = 3, MOST_LOOKED_AT = 1 << 16, DEEPEST = 4 };

static unsigned programs = 5000; // number of programs for each operator, set from argv
static long only = -1;

// ---- operators that return views; programs begin with them

static uint16_t *view_rows;
static uint32_t view_row_count;

static void find_view_rows(void)
{
    taper_arena texts;
    taper_arena_init(&texts, &taper_allocator_system);
    view_rows = malloc(taper_row_count * sizeof *view_rows);
    if (view_rows == NULL) {
        abort();
    }
    for (size_t row = 0; row < taper_row_count; row++) {
        const char *text = taper_row_text(&taper_ops[row], &texts);
        const char *result = text != NULL ? strstr(text, " -> ") : NULL;
        if (result != NULL && strstr(result, "(a") != NULL) {
            view_rows[view_row_count++] = (uint16_t)row;
        }
    }
    taper_arena_free(&texts);
}

// ---- programs

// Reads all data of a tensor, because any code may do so.
static void look_at(bench *b, taper_val value, int depth)
{
    if (value.tag == TAPER_LIST && depth < DEEPEST) { // the depth is limited, because a list may contain itself
        for (size_t i = 0; i < value.as.list->count; i++) {
            look_at(b, value.as.list->items[i], depth + 1);
        }
    } else if (value.tag == TAPER_TENSOR && taper_tensor_numel(value.as.tensor) <= MOST_LOOKED_AT) {
        taper_tensor *tensor = value.as.tensor, *view, *plain;
        check(taper_tensor_settle(tensor, b->error), b);
        check(taper_tensor_view(b->heap, tensor->storage, (taper_dtype)tensor->dtype, tensor->offset, tensor->rank,
                                tensor->sizes, tensor->strides, &view, b->error),
              b);
        check(taper_tensor_contiguous(b->heap, view, &plain, b->error), b);
        taper_obj_release(&plain->head);
        taper_obj_release(&view->head);
    }
}

static bool run_program(bench *b, const taper_op *target)
{
    const uint32_t steps = 1 + draw(b, MOST_STEPS), place = draw(b, steps);
    bool good = true;
    b->kept[b->kept_count++] = any_tensor(b);
    for (uint32_t step = 0; step < steps && good; step++) {
        const taper_op *op = step == place     ? target
                             : draw(b, 2) == 0 ? &taper_ops[view_rows[draw(b, view_row_count)]]
                                               : &taper_ops[draw(b, taper_row_count)];
        const taper_schema *schema = NULL;
        check(taper_registry_schema(b->registry, op, &schema, b->error), b);
        good = schema->arg_count <= MOST_ARGUMENTS && schema->ret_count <= MOST_RESULTS;
        taper_status status = TAPER_ERROR_ARGUMENT;
        for (int i = 0; i < TRIES && status != TAPER_OK && good; i++) {
            good = call_row(b, op, schema, true, &status);
            if (status == TAPER_OK && step == place) {
                row_worked();
            }
        }
    }
    for (size_t i = 0; i < b->kept_count; i++) {
        look_at(b, b->kept[i], 0);
    }
    drop_kept(b);
    return good;
}

static bool try_programs(const taper_op *op, const char *text)
{
    static bench b;
    bench_open(&b, text);
    b.hostile = true;
    b.verbose = only >= 0;
    bool good = true;
    for (unsigned i = only >= 0 ? (unsigned)only : 0; good && (only >= 0 ? i == (unsigned)only : i < programs); i++) {
        row_progress(i);
        bench_seed(&b, text, i + 1);
        good = run_program(&b, op);
    }
    return bench_close(&b) && good;
}

int main(int argc, char **argv)
{
    const unsigned wanted = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : programs;
    programs = argc > 2 ? wanted : (wanted + taper_row_count - 1) / taper_row_count;
    only = argc > 3 ? strtol(argv[3], NULL, 10) : -1;
    find_view_rows();
    return each_row(argc > 2 ? argv[2] : "", try_programs);
}
