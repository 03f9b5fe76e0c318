// SPDX-License-Identifier: BSD-2-Clause
// taper optimize: what torch.utils.mobile_optimizer.optimize_for_mobile and _save_for_lite_interpreter do together.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/errors.h"
#include "taper/commands.h"
#include "taper/opened_draft.h"
#include "taper/opened_model.h"

static const char usage[] =
    "usage: taper optimize MODEL -o OUT [options]\n"
    "       taper optimize --list-passes\n\n"
    "Prepares a TorchScript or lite model for phones: folds batch norm and constants, packs weights for a backend, "
    "fuses\n"
    "activations, and writes a model for the lite interpreter.\n\n"
    "  --backend NAME      whose packed weights: cpu (XNNPACK), vulkan or metal (default: cpu); every such file also\n"
    "                      runs on the CPU\n"
    "  --preserve METHOD   keep this method too, besides forward and those of bundled inputs\n"
    "  --disable PASS,…    leave out passes; PyTorch's names (CONV_BN_FUSION, …) are known too\n"
    "  --list-passes       print the names of the passes in their order\n"
    "  --operators         print the operators before and after\n"
    "  --graph             print the graph of forward before and after\n" SAVE_OPTION_USAGE;

typedef struct optimize_arguments {
    arg_texts positional, preserve, disable;
    save_arguments save;
    const char *backend;
    bool list_passes, operators, graph;
} optimize_arguments;

static void put_passes(void)
{
    for (size_t i = 0; i < taper_compiler_pass_count(); i++) {
        const int stages = taper_compiler_pass_stages(i);
        printf("%-18s %s%s\n", taper_compiler_pass_name(i), taper_compiler_pass_summary(i),
               stages == TAPER_PASS_AT_LOAD    ? " (at load)"
               : stages == TAPER_PASS_IN_DRAFT ? ""
                                               : " (and at load)");
    }
}

static bool put_operators(const opened_draft *opened, const char *title)
{
    size_t count;
    if (taper_draft_operators(opened->draft, &count, opened->error) != TAPER_OK) {
        return error_report_library(opened->path, opened->error);
    }
    printf("%s:\n", title);
    for (size_t i = 0; i < count; i++) {
        const char *name = taper_draft_operator_name(opened->draft, i);
        printf("  %6zu  ", taper_draft_operator_calls(opened->draft, i));
        text_put(stdout, name, strlen(name), false);
        fputc('\n', stdout);
    }
    return true;
}

static int put_text(void *user, const void *text, size_t length)
{
    text_put(user, text, length, true);
    return 0;
}

static bool put_state(const optimize_arguments *arguments, const opened_draft *opened, const char *title)
{
    if (arguments->graph) {
        printf("%s:\n", title);
        if (taper_draft_print(opened->draft, NULL, put_text, stdout, opened->error) != TAPER_OK) {
            return error_report_library(opened->path, opened->error);
        }
    }
    return !arguments->operators || put_operators(opened, title);
}

static bool optimize(const optimize_arguments *arguments, const opened_draft *opened, const taper_save_options *save)
{
    char *disabled = passes_join(&arguments->disable);
    if (disabled == NULL && arguments->disable.count != 0) {
        return error_report_memory(opened->path);
    }
    const taper_optimize_options options = {.struct_size = sizeof options,
                                            .backend = arguments->backend,
                                            .preserve = arguments->preserve.items,
                                            .preserve_count = arguments->preserve.count,
                                            .disable_passes = disabled};
    const size_t before = taper_draft_node_count(opened->draft);
    bool done = put_state(arguments, opened, "before");
    if (done && taper_draft_optimize(opened->draft, &options, opened->error) != TAPER_OK) {
        done = error_report_library(opened->path, opened->error);
    }
    free(disabled);
    done = done && put_state(arguments, opened, "after") && draft_save(opened, arguments->save.output, save);
    if (done) {
        printf("%s: %zu nodes, %zu before\n", arguments->save.output, taper_draft_node_count(opened->draft), before);
    }
    return done;
}

static int check(const optimize_arguments *arguments, taper_save_options *save)
{
    static const char *const backends[] = {"cpu", "vulkan", "metal"};
    const char *backend = arguments->backend != NULL ? arguments->backend : "cpu";
    if (arguments->list_passes) {
        put_passes();
        return 0;
    }
    if (arguments->positional.count == 0) {
        return error_usage(usage, "MODEL is missing");
    }
    if (strcmp(backend, "nnapi") == 0) {
        error_report("--backend", "nnapi is not available in this build; a model optimized for cpu runs everywhere");
        return EXIT_WORK_FAILED;
    }
    for (size_t i = 0; strcmp(backend, backends[i]) != 0;) {
        if (++i == sizeof backends / sizeof *backends) {
            return error_usage(usage, "--backend: there is no backend \"%s\"", backend);
        }
    }
    const int status = passes_check(&arguments->disable, usage);
    return status != ARGS_GO_ON ? status : save_arguments_check(&arguments->save, usage, save);
}

int command_optimize(int argc, char **argv)
{
    optimize_arguments a = {0};
    const arg_option rows[] = {{"--backend", 0, ARG_TEXT, &a.backend, 0, 0},
                               {"--preserve", 0, ARG_TEXTS, &a.preserve, 0, 0},
                               {"--disable", 0, ARG_TEXTS, &a.disable, 0, 0},
                               {"--list-passes", 0, ARG_FLAG, &a.list_passes, 0, 0},
                               {"--operators", 0, ARG_FLAG, &a.operators, 0, 0},
                               {"--graph", 0, ARG_FLAG, &a.graph, 0, 0},
                               SAVE_OPTION_ROWS(a.save)};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 0, 1, "MODEL is missing", &a.positional};
    taper_save_options save;
    opened_draft opened;
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = check(&a, &save);
    }
    if (status == ARGS_GO_ON) {
        status = EXIT_WORK_FAILED;
        // Methods that the file will not have need not be read.
        static const char *const none[] = {NULL};
        if (draft_open(&opened, a.positional.items[0], a.preserve.count != 0 ? a.preserve.items : none,
                       a.preserve.count, &a.save)) {
            status = optimize(&a, &opened, &save) ? 0 : EXIT_WORK_FAILED;
            draft_close(&opened);
        }
    }
    args_release(&table);
    return status;
}
