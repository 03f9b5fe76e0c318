// SPDX-License-Identifier: BSD-2-Clause
// Writes pages for man(1): taper.1, a page for each command, and speed_benchmark_torch.1. Pages have no date, so that a
// rebuild makes identical files.
#include <ctype.h>
#include <string.h>

#include <taper/taper.h>

#include "manual/manual.h"

static void put_text(FILE *file, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\') {
            fputs("\\e", file);
        } else if (text[i] == '-') {
            fputs("\\-", file);
        } else if (text[i] == '\'' || text[i] == '`') {
            fputs(text[i] == '\'' ? "\\(aq" : "\\(ga", file);
        } else if (text[i] == '.' && i == 0) {
            fputs("\\&.", file);
        } else {
            fputc(text[i], file);
        }
    }
}

static void put_word(FILE *file, const char *text)
{
    put_text(file, text, strlen(text));
}

static void put_head(FILE *file, const char *name, const char *summary)
{
    fputs(".\\\" SPDX-License-Identifier: BSD-2-Clause\n.TH \"", file);
    for (const char *c = name; *c != '\0'; c++) {
        fputc(toupper((unsigned char)*c), file);
    }
    fprintf(file, "\" 1 \"\" \"taper %s\" \"User Commands\"\n.ad l\n.SH NAME\n", taper_version());
    put_word(file, name);
    fputs(" \\- ", file);
    put_word(file, summary);
    fputs("\n", file);
}

static void put_synopsis(FILE *file, const char *text, const char *end)
{
    const char *line;
    fputs(".SH SYNOPSIS\n.nf\n", file);
    for (long length; (length = usage_line(&text, end, &line)) > 0;) {
        const size_t skipped = strlen("usage: ");
        put_text(file, line + skipped, (size_t)length - skipped);
        fputs("\n", file);
    }
    fputs(".fi\n", file);
}

// Writes a description. Its paragraphs are filled, and its indented lines are not changed.
static void put_description(FILE *file, const char *text, const char *end)
{
    const char *line;
    bool kept = false;
    fputs(".SH DESCRIPTION\n", file);
    for (long length; (length = usage_line(&text, end, &line)) >= 0;) {
        const bool keep = length > 0 && line[0] == ' ';
        if (keep != kept) {
            fputs(keep ? ".PP\n.nf\n" : ".fi\n", file);
            kept = keep;
        }
        if (length == 0) {
            fputs(text < end ? ".PP\n" : "", file);
            continue;
        }
        put_text(file, line, (size_t)length);
        fputs("\n", file);
    }
    fputs(kept ? ".fi\n" : "", file);
}

static void put_option(FILE *file, const manual_verb *verb, const arg_option *option)
{
    usage_entry entry;
    if (!usage_find(verb->usage, option->name, &entry)) {
        return; // cannot happen, because main has checked that the usage text has each option
    }
    fputs(".TP\n", file);
    if (option->letter != 0) {
        fprintf(file, "\\fB\\-%c\\fR, ", option->letter);
    }
    fputs("\\fB", file);
    put_word(file, option->name);
    fputs("\\fR", file);
    put_text(file, entry.choice, entry.choice_length);
    if (entry.value_length != 0) {
        fputs(" \\fI", file);
        put_text(file, entry.value, entry.value_length);
        fputs("\\fR", file);
    }
    fputs("\n", file);
    const char *text = entry.help, *line;
    for (long length; (length = usage_line(&text, entry.end, &line)) >= 0;) {
        const char *word = line;
        while (word < line + length && *word == ' ') {
            word++;
        }
        put_text(file, word, (size_t)(line + length - word));
        fputs("\n", file);
    }
}

static void put_status(FILE *file)
{
    fputs(".SH EXIT STATUS\n.TP\n0\nDone.\n.TP\n1\nThe work failed; the first line on standard error says what did.\n"
          ".TP\n2\nWrong usage.\n",
          file);
}

void put_man_verb(FILE *file, const manual *m, const manual_verb *verb)
{
    const char *synopsis, *description, *options;
    char name[128];
    snprintf(name, sizeof name, m->has_verbs ? "%s-%s" : "%s", m->has_verbs ? m->program : verb->name, verb->name);
    usage_parts(verb->usage, &synopsis, &description, &options);
    put_head(file, name, verb->summary);
    put_synopsis(file, synopsis, description);
    put_description(file, description, options);
    fputs(".SH OPTIONS\n", file);
    for (size_t i = 0; i < verb->option_count; i++) {
        put_option(file, verb, &verb->options[i]);
    }
    put_status(file);
    fputs(m->has_verbs ? ".SH SEE ALSO\n\\fBtaper\\fR(1)\n" : ".SH SEE ALSO\n\\fBtaper\\-bench\\fR(1)\n", file);
}

void put_man_program(FILE *file, const manual *m)
{
    put_head(file, m->program, "run and prepare the models that PyTorch saved for mobile");
    fputs(".SH SYNOPSIS\n\\fBtaper\\fR \\fICOMMAND\\fR …\n.SH DESCRIPTION\n"
          "Runs, shows, prepares and measures files of TorchScript, of PyTorch\\(aqs lite interpreter and of "
          "torch.export.\n"
          ".SH COMMANDS\n",
          file);
    for (size_t i = 0; i < m->verb_count; i++) {
        fprintf(file, ".TP\n\\fBtaper\\-%s\\fR(1)\n", m->verbs[i].name);
        put_word(file, m->verbs[i].summary);
        fputs("\n", file);
    }
    fputs(".TP\n\\fBtaper help\\fR \\fICOMMAND\\fR\nexplain a command\n.TP\n\\fBtaper version\\fR\nprint the version\n",
          file);
    put_status(file);
    fputs(".SH ENVIRONMENT\n.TP\nTAPER_CPU_MASK\nInstruction sets to use where \\fB\\-\\-cpu\\fR is not given.\n"
          ".SH SEE ALSO\n",
          file);
    for (size_t i = 0; i < m->verb_count; i++) {
        fprintf(file, "\\fBtaper\\-%s\\fR(1),\n", m->verbs[i].name);
    }
    fputs("\\fBspeed_benchmark_torch\\fR(1)\n", file);
}
