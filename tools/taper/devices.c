// SPDX-License-Identifier: BSD-2-Clause
// taper devices: lists the devices that models can run on, and the cached data of their drivers.
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include <taper/taper_device.h>

#include "common/args.h"
#include "common/errors.h"
#include "common/json_value.h"
#include "taper/commands.h"

static const char usage[] =
    "usage: taper devices [--cache DIR] [--json]\n\n"
    "Lists what models can run on, by the names that --device takes: what each calls itself, what it\n"
    "can do, how it is used and why, or why it is not there.\n\n"
    "  --cache DIR         count what is kept there of devices: verdicts, what drivers compiled\n"
    "  --json              the same as JSON\n";

typedef struct listing {
    bool json, first;
} listing;

static void put_words(const char *text) // prints each part of the text on its own line, below the name
{
    while (*text != '\0') {
        const size_t length = strcspn(text, ";");
        printf("    %.*s\n", (int)length, text);
        text += length;
        text += strspn(text, "; ");
    }
}

static void put_json(const char *before, const char *text)
{
    fputs(before, stdout);
    json_put_text(stdout, text, strlen(text));
}

static int put_device(void *user, const taper_device_info *info)
{
    listing *list = user;
    const char *problem = info->problem != NULL ? info->problem : "";
    if (list->json) {
        fputs(list->first ? "" : ", ", stdout);
        put_json("{\"name\": ", info->name);
        put_json(", \"kind\": ", taper_device_kind_name(info->kind));
        put_json(", \"called\": ", info->title);
        put_json(", \"facts\": ", info->description);
        printf(", \"available\": %s", info->problem == NULL ? "true" : "false");
        put_json(", \"why\": ", problem);
        putchar('}');
    } else {
        const char *what = info->problem != NULL ? problem : info->title;
        printf("%s%s%s\n", info->name, *what != '\0' ? "  " : "", what);
        put_words(info->description);
    }
    list->first = false;
    return 0;
}

// Prints the keys that --device-options accepts.
static void put_options(void)
{
    static const taper_device_kind kinds[] = {TAPER_DEVICE_NNAPI, TAPER_DEVICE_VULKAN, TAPER_DEVICE_METAL};
    static const char *const words[] = {"flag", "number", "choice"};
    const taper_option_info *option;
    fputs(", \"options\": [", stdout);
    for (size_t i = 0; (option = taper_device_option(i)) != NULL; i++) {
        put_json(i == 0 ? "{\"name\": " : ", {\"name\": ", option->name);
        fputs(", \"devices\": [", stdout);
        for (size_t k = 0, put = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if ((option->devices & TAPER_DEVICE_BIT(kinds[k])) != 0) {
                put_json(put++ == 0 ? "" : ", ", taper_device_kind_name(kinds[k]));
            }
        }
        put_json("], \"kind\": ", words[option->kind]);
        fputs(", \"values\": [", stdout);
        for (size_t v = 0; v < option->value_count; v++) {
            put_json(v == 0 ? "" : ", ", option->values[v]);
        }
        printf("], \"least\": %lld, \"most\": %lld, \"default\": ", (long long)option->least, (long long)option->most);
        if (option->initial < 0) {
            fputs("null", stdout); // prints null, because this option's default depends on the device
        } else {
            printf("%lld", (long long)option->initial);
        }
        put_json(", \"help\": ", option->help);
        putchar('}');
    }
    fputs("]", stdout);
}

typedef struct kept {
    unsigned verdicts, compiled, tried;
} kept;

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length >= tail && strcmp(name + length - tail, end) == 0;
}

static bool count_kept(const char *folder, kept *counts)
{
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return error_report(folder, "the folder cannot be opened");
    }
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        const char *name = entry->d_name;
        if (strncmp(name, "gpu-", 4) != 0) {
            continue;
        }
        counts->tried += ends_with(name, ".trying");
        counts->compiled += ends_with(name, ".ok") && strncmp(name, "gpu-compiled-", 13) == 0;
        counts->verdicts += ends_with(name, ".ok") && strncmp(name, "gpu-compiled-", 13) != 0;
    }
    closedir(dir);
    return true;
}

static bool list_devices(bool json, const char *cache)
{
    taper_error *error = taper_error_create();
    taper_context *context = NULL;
    const taper_context_options options = {.struct_size = sizeof options, .cache_dir = cache};
    listing list = {.json = json, .first = true};
    kept counts = {0};
    bool done = cache == NULL || count_kept(cache, &counts);
    if (done && (taper_context_create(&options, &context, error) != TAPER_OK)) {
        done = error_report_library("devices", error);
    }
    if (done) {
        fputs(json ? "{\"devices\": [" : "", stdout);
        done = taper_context_devices(context, put_device, &list, error) == TAPER_OK ||
               error_report_library("devices", error);
        fputs(json ? "]" : "", stdout);
        if (json) {
            put_options();
        }
    }
    if (done && cache != NULL && json) {
        printf(", \"kept\": {\"verdicts\": %u, \"compiled\": %u, \"tried\": %u}", counts.verdicts, counts.compiled,
               counts.tried);
    } else if (done && cache != NULL) {
        printf("kept: %u recordings found right, compiled code of %u drivers, %u tries not come back from\n",
               counts.verdicts, counts.compiled, counts.tried);
    }
    fputs(json && done ? "}\n" : "", stdout);
    taper_context_release(context);
    taper_error_destroy(error);
    return done;
}

int command_devices(int argc, char **argv)
{
    bool json = false;
    const char *cache = NULL;
    const arg_option rows[] = {{"--cache", 0, ARG_TEXT, &cache, 0, 0}, {"--json", 0, ARG_JSON, &json, 0, 0}};
    arg_texts positional = {0};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 0, 0, "", &positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = list_devices(json, cache) ? 0 : EXIT_WORK_FAILED;
    }
    args_release(&table);
    return status;
}
