// SPDX-License-Identifier: BSD-2-Clause
// Writes commands.md, the page of the documentation with all commands.
#include <string.h>

#include "manual/manual.h"

static void put_verb(FILE *file, const manual *m, const manual_verb *verb)
{
    const char *synopsis, *description, *options, *line;
    usage_parts(verb->usage, &synopsis, &description, &options);
    fprintf(file, "\n## %s%s%s\n\n%c%s.\n\n```text\n", m->has_verbs ? m->program : "", m->has_verbs ? " " : "",
            verb->name, verb->summary[0] - 'a' + 'A', verb->summary + 1);
    for (long length; (length = usage_line(&synopsis, description, &line)) > 0;) {
        fprintf(file, "%.*s\n", (int)length - 7, line + 7);
    }
    fputs("\n", file);
    fwrite(description, 1, strlen(description), file);
    fputs("```\n", file);
}

void put_markdown(FILE *file, const manual *m)
{
    for (size_t i = 0; i < m->verb_count; i++) {
        put_verb(file, m, &m->verbs[i]);
    }
}
