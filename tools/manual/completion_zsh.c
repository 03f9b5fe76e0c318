// SPDX-License-Identifier: BSD-2-Clause
// Writes the completion for zsh. The completion calls zsh's function _arguments.
#include <string.h>

#include "manual/manual.h"

// Writes text inside single quotes, as a part of an argument of _arguments. Unquoted brackets and colons would end this
// part.
static void put_quoted(FILE *file, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'') {
            fputs("'\\''", file);
        } else if (strchr("[]:\\", text[i]) != NULL) {
            fprintf(file, "\\%c", text[i]);
        } else {
            fputc(text[i], file);
        }
    }
}

static void put_option(FILE *file, const manual_verb *verb, const arg_option *option)
{
    usage_entry entry;
    char summary[160], words[256];
    if (!usage_find(verb->usage, option->name, &entry)) {
        return;
    }
    usage_summary(&entry, summary, sizeof summary);
    const value_kind kind = value_kind_of(verb, option, words, sizeof words);
    const bool many = option->kind == ARG_TEXTS;
    fputs("            ", file);
    if (option->letter != 0) {
        if (many) {
            fputs("'*'", file);
        } else {
            fprintf(file, "'(-%c %s)'", option->letter, option->name);
        }
        fprintf(file, "{-%c,%s}'[", option->letter, option->name);
    } else {
        fprintf(file, "'%s%s[", many ? "*" : "", option->name);
    }
    put_quoted(file, summary, strlen(summary));
    fputs("]", file);
    if (kind != VALUE_NONE) {
        fputs(":", file);
        put_quoted(file, entry.value, entry.value_length);
        fputs(kind == VALUE_FILE     ? ":_files"
              : kind == VALUE_FOLDER ? ":_files -/"
              : kind == VALUE_WORDS  ? ":("
                                     : ": ",
              file);
        fputs(words, file);
        fputs(kind == VALUE_WORDS ? ")" : "", file);
    }
    fputs("' \\\n", file);
}

static void put_verb(FILE *file, const manual_verb *verb)
{
    fputs("        _arguments \\\n", file);
    for (size_t i = 0; i < verb->option_count; i++) {
        put_option(file, verb, &verb->options[i]);
    }
    fputs("            '--help[explain it]' '*:file:_files'\n", file);
}

void put_zsh(FILE *file, const manual *m)
{
    fprintf(file, "#compdef %s\n# SPDX-License-Identifier: BSD-2-Clause\n# Completion of %s for zsh.\n", m->program,
            m->program);
    if (!m->has_verbs) {
        put_verb(file, &m->verbs[0]);
        return;
    }
    fputs("local -a verbs\nverbs=(\n", file);
    for (size_t i = 0; i < m->verb_count; i++) {
        fprintf(file, "    '%s:", m->verbs[i].name);
        put_quoted(file, m->verbs[i].summary, strlen(m->verbs[i].summary));
        fputs("'\n", file);
    }
    fputs("    'help:explain a command'\n    'version:print the version'\n)\n"
          "if ((CURRENT == 2)) || [[ CURRENT -eq 3 && $words[2] == help ]]; then\n"
          "    _describe command verbs\n"
          "else\n"
          "    local verb=$words[2]\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $verb in\n",
          file);
    for (size_t i = 0; i < m->verb_count; i++) {
        fprintf(file, "    %s)\n", m->verbs[i].name);
        put_verb(file, &m->verbs[i]);
        fputs("        ;;\n", file);
    }
    fputs("    esac\nfi\n", file);
}
