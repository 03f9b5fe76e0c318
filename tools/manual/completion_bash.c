// SPDX-License-Identifier: BSD-2-Clause
// Writes the completion for bash. The completion runs in bash 3.2, without the bash-completion package.
#include "manual/manual.h"

static void put_verb(FILE *file, const manual_verb *verb)
{
    static const char *const how[] = {
        [VALUE_FILE] = "files", [VALUE_FOLDER] = "folders", [VALUE_WORDS] = "words", [VALUE_OTHER] = "nothing"};
    char words[256];
    fputs("        case $previous in\n", file);
    for (size_t i = 0; i < verb->option_count; i++) {
        const arg_option *option = &verb->options[i];
        const value_kind kind = value_kind_of(verb, option, words, sizeof words);
        if (kind == VALUE_NONE) {
            continue;
        }
        fprintf(file, "            %s", option->name);
        if (option->letter != 0) {
            fprintf(file, "|-%c", option->letter);
        }
        fprintf(file, ") %s%s%s%s; return ;;\n", how[kind], words[0] != '\0' ? " '" : "", words,
                words[0] != '\0' ? "'" : "");
    }
    fputs("        esac\n        options='", file);
    for (size_t i = 0; i < verb->option_count; i++) {
        fprintf(file, "%s ", verb->options[i].name);
    }
    fputs("--help'\n", file);
}

void put_bash(FILE *file, const manual *m)
{
    fprintf(file, "# SPDX-License-Identifier: BSD-2-Clause\n# Completion of %s for bash.\n", m->program);
    fprintf(
        file,
        "_%s() {\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options='' IFS=$' \\t\\n'\n"
        "    words() { COMPREPLY=($(compgen -W \"$1\" -- \"$current\")); }\n"
        "    files() { local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$current\")); compopt -o filenames 2>/dev/null; "
        "}\n"
        "    folders() { local IFS=$'\\n'; COMPREPLY=($(compgen -d -- \"$current\")); compopt -o filenames "
        "2>/dev/null; }\n"
        "    nothing() { COMPREPLY=(); }\n"
        "    # --name=value are three words here\n"
        "    if [ \"$current\" = = ]; then\n"
        "        current=''\n"
        "    elif [ \"$previous\" = = ]; then\n"
        "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "    fi\n",
        m->program);
    if (m->has_verbs) {
        fputs("    if [ \"$COMP_CWORD\" -eq 1 ] || { [ \"$COMP_CWORD\" -eq 2 ] && [ \"${COMP_WORDS[1]}\" = help ]; }; "
              "then\n"
              "        words '",
              file);
        for (size_t i = 0; i < m->verb_count; i++) {
            fprintf(file, "%s ", m->verbs[i].name);
        }
        fputs("help version --help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", file);
        for (size_t i = 0; i < m->verb_count; i++) {
            fprintf(file, "    %s)\n", m->verbs[i].name);
            put_verb(file, &m->verbs[i]);
            fputs("        ;;\n", file);
        }
        fputs("    esac\n", file);
    } else {
        put_verb(file, &m->verbs[0]);
    }
    fprintf(file,
            "    case $current in\n"
            "        -*) words \"$options\" ;;\n"
            "        *) files ;;\n"
            "    esac\n"
            "}\n"
            "complete -F _%s %s\n",
            m->program, m->program);
}
