// SPDX-License-Identifier: BSD-2-Clause
// The pass list, and the compiler's face to the runtime and the public.
#include <taper/taper_compile.h>

#include "compiler/pass.h"

typedef struct pass {
    const char *name, *summary;
    taper_pass_function run;
} pass;

// In order. A name may stand twice; disabling it disables both.
static const pass passes[] = {
    {"freeze", "attributes that no method sets become constants", taper_pass_freeze},
    {"constant_lists", "lists of constants that nobody changes become constants", taper_pass_constant_lists},
    {"fold_constants", "operators on constants are computed, branches on constants taken", taper_pass_fold_constants},
    {"dead_code", "what nobody uses is removed", taper_pass_dead_code}, // most of it: the rest has less to look at
    {"constant_lists", "lists of constants that nobody changes become constants", taper_pass_constant_lists},
    {"known_ranks", "numbers of dimensions that were checked before are known", taper_pass_known_ranks},
    {"known_devices", "tensors are known to be on the CPU", taper_pass_known_devices},
    {"fold_constants", "operators on constants are computed, branches on constants taken", taper_pass_fold_constants},
    {"remove_dropout", "dropout outside training is nothing", taper_pass_remove_dropout},
    {"unroll", "short loops of a constant number of trips become their trips", taper_pass_unroll},
    {"remove_mutation", "what is written in place though nobody else looks at it is made anew",
     taper_pass_remove_mutation},
    {"constant_lists", "lists of constants that nobody changes become constants", taper_pass_constant_lists},
    {"peephole", "results that are at hand already are taken", taper_pass_peephole},
    {"fold_tensors", "small tensors that follow from constants are computed", taper_pass_fold_tensors},
    {"cse", "what was computed before is not computed again", taper_pass_cse},
    {"dead_code", "what nobody uses is removed", taper_pass_dead_code},
    {"fuse_epilogue", "batch norm, sum and activation are done where their input is computed",
     taper_pass_fuse_epilogue},
};

enum { PASSES = sizeof passes / sizeof passes[0] };

static bool is_disabled(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        const size_t item = strcspn(at, ",");
        if (item == length && memcmp(at, name, length) == 0) {
            return true;
        }
        at += item + (at[item] == ',');
    }
    return false;
}

static taper_status run_passes(taper_compilation *compilation)
{
    for (size_t p = 0; p < PASSES; p++) {
        if (is_disabled(compilation->disabled, passes[p].name)) {
            continue;
        }
        for (size_t g = 0; g < compilation->count; g++) {
            taper_graph *graph = compilation->graphs[g];
            if (graph == NULL) {
                continue;
            }
            TAPER_TRY(passes[p].run(compilation, graph));
            const taper_status status = taper_graph_verify(graph, compilation->error);
            if (status != TAPER_OK) {
                taper_error_prefix(compilation->error, "after pass %s: ", passes[p].name);
                return status;
            }
        }
    }
    return TAPER_OK;
}

static taper_status optimize(taper_compilation *compilation)
{
    const taper_status status = run_passes(compilation);
    taper_pass_freeze_end(compilation);
    return status;
}

static const struct taper_compiler compiler = {.optimize = optimize};

const struct taper_compiler *taper_compiler(void)
{
    return &compiler;
}

taper_pass_function taper_pass_find(const char *name)
{
    for (size_t p = 0; p < PASSES; p++) {
        if (strcmp(passes[p].name, name) == 0) {
            return passes[p].run;
        }
    }
    return NULL;
}

size_t taper_compiler_pass_count(void)
{
    return PASSES;
}

const char *taper_compiler_pass_name(size_t index)
{
    return index < PASSES ? passes[index].name : NULL;
}

const char *taper_compiler_pass_summary(size_t index)
{
    return index < PASSES ? passes[index].summary : NULL;
}
