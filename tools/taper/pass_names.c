// SPDX-License-Identifier: BSD-2-Clause
#include "taper/pass_names.h"

#include <stdlib.h>
#include <string.h>

#include <taper/taper_compile.h>

#include "common/errors.h"
#include "common/suggest.h"

int passes_check(const arg_texts *disable, const char *usage)
{
    for (size_t i = 0; i < disable->count; i++) {
        for (const char *name = disable->items[i]; *name != '\0';) {
            const size_t length = strcspn(name, ",");
            if (length != 0 && !taper_compiler_has_pass(name, length)) {
                suggestion near = suggest_for(name, length);
                for (size_t k = 0; k < taper_compiler_pass_count(); k++) {
                    suggest_among(&near, taper_compiler_pass_name(k));
                }
                return error_usage(usage, "--disable: there is no pass \"%.*s\"%s", (int)length, name,
                                   near.best != NULL ? suggest_text(&near)
                                                     : "; `taper optimize --list-passes` lists them");
            }
            name += length + (name[length] == ',');
        }
    }
    return ARGS_GO_ON;
}

bool pass_names_read(const arg_texts *disable, const char *also, pass_names *names)
{
    size_t bytes = 1, most = 1;
    for (size_t i = 0; i < disable->count; i++) {
        const size_t length = strlen(disable->items[i]);
        bytes += length + 1;
        most += length / 2 + 1; // upper bound: each name takes at least a letter and a comma
    }
    *names = (pass_names){.items = calloc(most, sizeof *names->items), .text = malloc(bytes)};
    if (names->items == NULL || names->text == NULL) {
        pass_names_free(names);
        return false;
    }
    char *to = names->text;
    for (size_t i = 0; i < disable->count; i++) {
        for (const char *name = disable->items[i]; *name != '\0';) {
            const size_t length = strcspn(name, ",");
            if (length != 0) {
                names->items[names->count++] = memcpy(to, name, length);
                to[length] = '\0';
                to += length + 1;
            }
            name += length + (name[length] == ',');
        }
    }
    if (also != NULL) {
        names->items[names->count++] = also;
    }
    return true;
}

void pass_names_free(pass_names *names)
{
    free((void *)names->items);
    free(names->text);
    *names = (pass_names){0};
}
