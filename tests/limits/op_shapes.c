// SPDX-License-Identifier: BSD-2-Clause
// op_shapes [CALLS [NAME]]; op_shapes --list: compares the inferred sizes and dtypes of results (ir/infer.h) with those
// that the kernels return, for each operator with a rule. The arguments are generated from the schema in all dtypes,
// with all facts about them known or only some (ops/call/check_shapes.h, which debug builds use in every call). The
// operators without a rule for a tensor they return must be exactly those in no_shape_rule.txt, with a reason; --list
// prints them. To shorten the list, add a rule if a pass or a device needs the sizes, and remove the line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/call/check_shapes.h"
#include "tests/limits/made_calls.h"
#include "tests/sample.h"

static unsigned calls = 100;
static bool wrong;

static taper_status checked(bench *b, taper_call *call)
{
    taper_shape_check check;
    taper_shape_check_begin(&check, call);
    taper_status status = call_kernels(b, call);
    if (status == TAPER_OK) {
        status = taper_shape_check_end(&check, call);
        if (status != TAPER_OK && !wrong) {
            wrong = true;
            report(taper_error_message(b->error));
        }
    }
    return status;
}

// Makes an argument of the type that the schema declares, because shape rules handle no wrong types, for example a list
// instead of a number.
static taper_val foreseen(bench *b, const taper_schema *schema, size_t i)
{
    const taper_schema_arg *a = i < schema->arg_count ? &schema->args[i] : NULL;
    if (a != NULL && a->has_default && draw(b, 2) == 0) {
        return taper_val_retain(a->default_value);
    }
    return a != NULL ? typed(b, a->type, 0) : any_value(b, 0);
}

static bool try_calls(const taper_op *op, const char *text)
{
    static bench b;
    bench_open(&b, text);
    b.call = checked;
    b.make = foreseen;
    wrong = false;
    const taper_schema *schema = NULL;
    check(taper_registry_schema(b.registry, op, &schema, b.error), &b);
    bool good = schema->arg_count <= MOST_ARGUMENTS && schema->ret_count <= MOST_RESULTS;
    for (unsigned i = 0; i < calls && good; i++) {
        row_progress(i);
        taper_status status;
        good = call_row(&b, op, schema, false, &status) && !wrong;
        if (status == TAPER_OK) {
            row_worked();
        }
    }
    return bench_close(&b) && good;
}

// ---- operators without a rule for shapes
static bool is_tensor(const taper_type *type)
{
    return type->kind == TAPER_TYPE_TENSOR ||
           (type->kind == TAPER_TYPE_LIST && type->items[0]->kind == TAPER_TYPE_TENSOR);
}

// Returns true if the operator has no rule. Out forms use the rule of their functional form, unless they are in
// forms_that_differ.txt (scripts/check_rows.py).
static bool says_nothing(const taper_op *op, const taper_schema *schema)
{
    const bool resizes = taper_op_has(op, TAPER_OP_RESIZES | TAPER_OP_REPLACES);
    return schema->ret_count != 0 && is_tensor(schema->rets[0].type) && schema->out_count == 0 && !schema->vararg &&
           (!schema->in_place || resizes) && !taper_op_has(op, TAPER_OP_ELEMENTWISE | TAPER_OP_NONE) &&
           TAPER_FIELD(taper_op_facts(op), SHAPE) == TAPER_SHAPE_UNKNOWN;
}

enum { MOST_NAME = 200, MOST_LISTED = 2000 };
static char listed[MOST_LISTED][MOST_NAME];
static bool met[MOST_LISTED];
static size_t listed_count;

static void read_listed(void)
{
    char line[MOST_NAME];
    FILE *file = fopen(NO_SHAPE_RULE, "r");
    if (file == NULL) {
        perror(NO_SHAPE_RULE);
        exit(1);
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#' && listed_count < MOST_LISTED) {
            strcpy(listed[listed_count++], line);
        }
    }
    fclose(file);
}

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < listed_count; i++) {
        if (strcmp(listed[i], name) == 0) {
            met[i] = true;
            return true;
        }
    }
    return false;
}

// Checks that the operators without a rule are exactly the operators of the list. print: true to print them.
static bool check_listed(bool print)
{
    static bench b;
    bool good = true;
    bench_open(&b, "rows without a shape rule");
    for (size_t row = 0; row < taper_row_count; row++) {
        const taper_schema *schema = NULL;
        check(taper_registry_schema(b.registry, &taper_ops[row], &schema, b.error), &b);
        char name[MOST_NAME];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(schema->text, "("), schema->text);
        const bool nothing = says_nothing(&taper_ops[row], schema);
        if (print && nothing) {
            printf("%s\n", name);
        } else if (!print && nothing != is_listed(name)) {
            printf("FAILED %s %s\n", name,
                   nothing ? "has no shape rule: write one, or add it to no_shape_rule.txt with a reason"
                           : "has a shape rule: take it out of no_shape_rule.txt");
            good = false;
        }
    }
    for (size_t i = 0; i < listed_count && !print; i++) {
        if (!met[i]) {
            printf("FAILED %s of no_shape_rule.txt is no row\n", listed[i]);
            good = false;
        }
    }
    return bench_close(&b) && good;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        return check_listed(true) ? 0 : 1;
    }
    if (argc <= 2) {
        read_listed();
        if (!check_listed(false)) {
            return 1;
        }
    }
    if (argc > 1) {
        calls = (unsigned)strtoul(argv[1], NULL, 10);
    }
    calls = (calls + (unsigned)sample_stride() - 1) / (unsigned)sample_stride();
    return each_row(argc > 2 ? argv[2] : "", try_calls);
}
