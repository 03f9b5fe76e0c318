// SPDX-License-Identifier: BSD-2-Clause
// manual DIR: writes man/*.1, bash/, zsh/, fish/ and commands.md to DIR. For this program the commands are compiled a
// second time, with args_parse and flags_parse replaced by the functions below, which record the tables and parse
// nothing. Thus the options are listed only once in the sources.
#include <stdlib.h>
#include <string.h>

#include "manual/manual.h"
#include "speed_benchmark_torch/flags.h"
#include "taper/commands.h"

int manual_args_parse(const arg_table *table, int argc, char **argv);
bool manual_flags_parse(const flag *flags, size_t count, int argc, char **argv, bool *help);
void manual_flags_put_help(const flag *flags, size_t count);
int speed_benchmark_main(int argc, char **argv);

// The recorded tables are global, because the replaced functions have no argument for passing them.
static manual program = {.program = "taper", .has_verbs = true};
static manual benchmark = {.program = "speed_benchmark_torch"};
static char benchmark_usage[8192];

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "manual: error: %s: %s\n", name, what);
    exit(1);
}

// Checks that the usage text has exactly the options of the table.
static void check(const manual_verb *verb)
{
    usage_entry entry;
    if (verb->usage == NULL) {
        fail("it has parsed no options", verb->name);
    }
    for (size_t i = 0; i < verb->option_count; i++) {
        const arg_option *option = &verb->options[i];
        char subject[128];
        snprintf(subject, sizeof subject, "%s %s", verb->name, option->name);
        if (!usage_find(verb->usage, option->name, &entry)) {
            fail("the usage does not speak of it", subject);
        }
        if ((entry.value_length != 0) != takes_value(option)) {
            fail("usage and table disagree whether it takes a value", subject);
        }
    }
    if (usage_count(verb->usage) != verb->option_count) {
        fail("the usage speaks of options that the table lacks", verb->name);
    }
}

int manual_args_parse(const arg_table *table, int argc, char **argv)
{
    (void)argc;
    manual_verb *verb = &program.verbs[program.verb_count - 1];
    if (table->option_count > MANUAL_OPTIONS) {
        fail("it has too many options", argv[0]);
    }
    verb->usage = table->usage;
    verb->option_count = table->option_count;
    memcpy(verb->options, table->options, table->option_count * sizeof *table->options);
    return 0;
}

bool manual_flags_parse(const flag *flags, size_t count, int argc, char **argv, bool *help)
{
    (void)argc;
    (void)argv;
    *help = true; // makes the program stop before it runs anything
    manual_verb *verb = &benchmark.verbs[0];
    size_t used =
        (size_t)snprintf(benchmark_usage, sizeof benchmark_usage,
                         "usage: speed_benchmark_torch --model=FILE [--NAME=VALUE]…\n\n"
                         "Measures a model as PyTorch's program of this name does, with its flags and its lines.\n\n");
    for (size_t i = 0; i < count; i++) {
        if (flags[i].summary == NULL) { // skipped: a flag without a summary has no effect
            continue;
        }
        char name[64];
        snprintf(name, sizeof name, "--%s", flags[i].name);
        verb->options[verb->option_count++] =
            (arg_option){.name = strdup(name), .kind = flags[i].kind == FLAG_BOOL ? ARG_FLAG : ARG_TEXT};
        used += (size_t)snprintf(benchmark_usage + used, sizeof benchmark_usage - used, "  --%s%s  %s\n", flags[i].name,
                                 flags[i].kind == FLAG_BOOL            ? ""
                                 : flags[i].kind == FLAG_INT           ? " N"
                                 : strcmp(flags[i].name, "model") == 0 ? " FILE"
                                                                       : " VALUE",
                                 flags[i].summary);
        if (used >= sizeof benchmark_usage || verb->option_count == MANUAL_OPTIONS ||
            verb->options[verb->option_count - 1].name == NULL) {
            fail("it has too many flags", benchmark.program);
        }
    }
    verb->usage = benchmark_usage;
    return true;
}

void manual_flags_put_help(const flag *flags, size_t count)
{
    (void)flags;
    (void)count;
}

static FILE *create(const char *folder, const char *name)
{
    char path[4096];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path) {
        file = fopen(path, "w");
    }
    if (file == NULL) {
        fail("cannot be written", name);
    }
    return file;
}

static void done(FILE *file, const char *name)
{
    if (ferror(file) != 0 || fclose(file) != 0) {
        fail("cannot be written", name);
    }
}

static void put_completions(const char *folder, const manual *m)
{
    static const struct {
        const char *name;
        void (*put)(FILE *file, const manual *m);
    } shells[] = {{"bash/%s", put_bash}, {"zsh/_%s", put_zsh}, {"fish/%s.fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        char name[128];
        snprintf(name, sizeof name, shells[i].name, m->program);
        FILE *file = create(folder, name);
        shells[i].put(file, m);
        done(file, name);
    }
}

static void put_all(const char *folder)
{
    FILE *file = create(folder, "man/taper.1");
    put_man_program(file, &program);
    done(file, "man/taper.1");
    for (size_t i = 0; i < program.verb_count; i++) {
        char name[128];
        snprintf(name, sizeof name, "man/taper-%s.1", program.verbs[i].name);
        file = create(folder, name);
        put_man_verb(file, &program, &program.verbs[i]);
        done(file, name);
    }
    file = create(folder, "man/speed_benchmark_torch.1");
    put_man_verb(file, &benchmark, &benchmark.verbs[0]);
    done(file, "man/speed_benchmark_torch.1");
    put_completions(folder, &program);
    put_completions(folder, &benchmark);
    file = create(folder, "commands.md");
    fputs("# Every command\n\n<!-- made of the programs' tables of options -->\n", file);
    put_markdown(file, &program);
    put_markdown(file, &benchmark);
    done(file, "commands.md");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: manual DIR\n", stderr);
        return 2;
    }
#define MANUAL_VERB(verb, text)                                                                                        \
    program.verbs[program.verb_count++] = (manual_verb){.name = #verb, .summary = text};                               \
    command_##verb(1, (char *[]){(char[]){#verb}, NULL});                                                              \
    check(&program.verbs[program.verb_count - 1]);
    TAPER_COMMANDS(MANUAL_VERB)
#undef MANUAL_VERB
    benchmark.verbs[0] =
        (manual_verb){.name = benchmark.program, .summary = "measure a model as PyTorch's program of this name does"};
    benchmark.verb_count = 1;
    if (freopen("/dev/null", "w", stdout) == NULL) { // discards the output of --help
        fail("cannot be opened", "/dev/null");
    }
    speed_benchmark_main(1, (char *[]){(char[]){"speed_benchmark_torch"}, NULL});
    check(&benchmark.verbs[0]);
    put_all(argv[1]);
    for (size_t i = 0; i < benchmark.verbs[0].option_count; i++) {
        free((char *)(size_t)benchmark.verbs[0].options[i].name);
    }
    return 0;
}
