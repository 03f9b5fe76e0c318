// SPDX-License-Identifier: BSD-2-Clause
// Writes the completion for fish: one line for each command and option.
#include <string.h>

#include "manual/manual.h"

static void put_quoted(FILE *file, const char *text)
{
    fputc('\'', file);
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' || *text == '\\' ? "\\" : "", file);
        fputc(*text, file);
    }
    fputc('\'', file);
}

static void put_option(FILE *file, const manual *m, const manual_verb *verb, const arg_option *option)
{
    usage_entry entry;
    char summary[160], words[256];
    if (!usage_find(verb->usage, option->name, &entry)) {
        return;
    }
    usage_summary(&entry, summary, sizeof summary);
    fprintf(file, "complete -c %s", m->program);
    if (m->has_verbs) {
        fprintf(file, " -n '__fish_seen_subcommand_from %s'", verb->name);
    }
    if (option->letter != 0) {
        fprintf(file, " -s %c", option->letter);
    }
    fprintf(file, " -l %s", option->name + 2);
    switch (value_kind_of(verb, option, words, sizeof words)) {
    case VALUE_NONE:
        break;
    case VALUE_FILE:
        fputs(" -r -F", file);
        break;
    case VALUE_FOLDER:
        fputs(" -x -a '(__fish_complete_directories)'", file);
        break;
    case VALUE_WORDS:
        fprintf(file, " -x -a '%s'", words);
        break;
    case VALUE_OTHER:
        fputs(" -x", file);
        break;
    }
    fputs(" -d ", file);
    put_quoted(file, summary);
    fputs("\n", file);
}

void put_fish(FILE *file, const manual *m)
{
    fprintf(file, "# SPDX-License-Identifier: BSD-2-Clause\n# Completion of %s for fish.\n", m->program);
    for (size_t i = 0; m->has_verbs && i < m->verb_count; i++) {
        fprintf(file, "complete -c %s -f -n __fish_use_subcommand -a %s -d ", m->program, m->verbs[i].name);
        put_quoted(file, m->verbs[i].summary);
        fprintf(file, "\ncomplete -c %s -f -n '__fish_seen_subcommand_from help' -a %s\n", m->program,
                m->verbs[i].name);
    }
    if (m->has_verbs) {
        fprintf(file, "complete -c %s -f -n __fish_use_subcommand -a help -d 'explain a command'\n", m->program);
        fprintf(file, "complete -c %s -f -n __fish_use_subcommand -a version -d 'print the version'\n", m->program);
    }
    for (size_t i = 0; i < m->verb_count; i++) {
        for (size_t k = 0; k < m->verbs[i].option_count; k++) {
            put_option(file, m, &m->verbs[i], &m->verbs[i].options[k]);
        }
    }
}
