// SPDX-License-Identifier: BSD-2-Clause
#include "taper/calls.h"

#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/files.h"

char *calls_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) : 0;
    char *folder = slash != NULL ? malloc(length + 1) : NULL;
    if (folder != NULL) {
        memcpy(folder, path, length);
        folder[length] = '\0';
    }
    return folder;
}

static bool check_calls(const char *path, const json_value *calls)
{
    if (calls->kind != JSON_ARRAY) {
        return error_report(path, "must hold an array of {\"method\": NAME, \"inputs\": […]}");
    }
    for (size_t i = 0; i < calls->count; i++) {
        const json_value *method = json_member(&calls->items[i], "method"),
                         *inputs = json_member(&calls->items[i], "inputs");
        if (calls->items[i].kind != JSON_OBJECT || (method != NULL && method->kind != JSON_TEXT) ||
            (inputs != NULL && inputs->kind != JSON_ARRAY)) {
            return error_report(path, "call %zu must be {\"method\": NAME, \"inputs\": […]}", i);
        }
    }
    return true;
}

const char *call_method(const json_value *call)
{
    const json_value *method = json_member(call, "method");
    return method != NULL ? method->text : NULL;
}

const json_value *call_items(const json_value *call)
{
    static const json_value none = {.kind = JSON_ARRAY};
    const json_value *items = json_member(call, "inputs");
    return items != NULL ? items : &none;
}

bool calls_read(const char *path, json_value **calls)
{
    unsigned char *text;
    size_t size;
    *calls = NULL;
    if (!file_read(path, (size_t)1 << 30, &text, &size)) {
        return false;
    }
    *calls = json_parse(path, (const char *)text, size);
    free(text);
    return *calls != NULL && check_calls(path, *calls);
}
