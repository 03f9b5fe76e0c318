// SPDX-License-Identifier: BSD-2-Clause
// A run of the model as it was saved is observed up to the value before the failing operator. The line behind that
// value's in the graph is the operator, if it is one; the weights that it takes are attributes, whose path names the
// layer.
#include "taper/failing_layer.h"

#include <stdlib.h>
#include <string.h>

#include <taper/taper_inspect.h>

enum { DEEPEST = 64, TEXT_LIMIT = 1 << 26 };

typedef struct failing {
    taper_model *model;
    taper_session *session;
    const char *method;
    size_t last; // the number of the value that was computed last + 1; 0: none was
    char *text;  // of the graph
    size_t length;
    bool failed;
} failing;

static void note_last(void *user, const taper_observation *seen)
{
    failing *f = user;
    const char *dot = strrchr(seen->method, '.');
    if (dot != NULL && strcmp(dot + 1, f->method) == 0) {
        f->last = (size_t)seen->value + 1;
    }
}

static void keep_text(void *user, const char *text, size_t length)
{
    failing *f = user;
    char *grown = f->failed || length > TEXT_LIMIT - f->length ? NULL : realloc(f->text, f->length + length + 1);
    if (grown == NULL) {
        f->failed = true;
        return;
    }
    memcpy(grown + f->length, text, length);
    f->text = grown;
    f->length += length;
    grown[f->length] = '\0';
}

// The line that computes a value, or NULL: "  %3 : Tensor, %4 = …".
static const char *line_of(const failing *f, size_t value)
{
    char name[32];
    const int length = snprintf(name, sizeof name, "%%%zu", value);
    const char *line = f->text;
    while (line != NULL) {
        const char *equals = strstr(line, " = "), *end = strchr(line, '\n');
        for (const char *at = strstr(line, name);
             at != NULL && equals != NULL && at < equals && (end == NULL || at < end); at = strstr(at + 1, name)) {
            if ((at[length] < '0' || at[length] > '9') && (end == NULL || equals < end)) {
                return line;
            }
        }
        line = end != NULL && end[1] != '\0' ? end + 1 : NULL;
    }
    return NULL;
}

// The slots from self to an attribute, innermost first; 0 when the value is none.
static size_t path_of(const failing *f, size_t value, size_t slots[DEEPEST])
{
    static const char begin[] = " = prim::GetAttr[";
    size_t depth = 0;
    while (value != 0 && depth < DEEPEST) {
        const char *line = line_of(f, value), *end = line != NULL ? strchr(line, '\n') : NULL;
        const char *at = line != NULL ? strstr(line, begin) : NULL;
        if (at == NULL || (end != NULL && at > end)) {
            return 0;
        }
        char *behind;
        slots[depth++] = (size_t)strtoul(at + sizeof begin - 1, &behind, 10);
        if (strncmp(behind, "](%", 3) != 0) {
            return 0;
        }
        value = (size_t)strtoul(behind + 3, NULL, 10);
    }
    return value == 0 ? depth : 0;
}

// The names of all slots but the last, joined by dots.
static bool name_path(const failing *f, const size_t *slots, size_t depth, char *module, size_t size)
{
    taper_value *at = NULL;
    size_t used = 0;
    if (taper_session_attribute(f->session, "", &at, NULL) != TAPER_OK) {
        return false;
    }
    bool done = depth > 1;
    while (done && depth > 1) {
        const char *name = taper_value_field(at, slots[--depth]);
        taper_value *next = NULL;
        done = name != NULL && taper_value_item(at, slots[depth], &next, NULL) == TAPER_OK;
        if (done) {
            const int written = snprintf(module + used, size - used, "%s%s", used != 0 ? "." : "", name);
            done = written > 0 && (size_t)written < size - used;
            used += done ? (size_t)written : 0;
        }
        taper_value_release(at);
        at = next;
    }
    taper_value_release(at);
    return done;
}

static bool find_module(const failing *f, char *module, size_t size)
{
    const char *line = f->last != 0 ? line_of(f, f->last - 1) : f->text;
    const char *next = line != NULL ? strchr(line, '\n') : NULL;
    if (next == NULL) {
        return false;
    }
    const char *end = strchr(next + 1, '\n'), *at = strchr(next + 1, '(');
    end = end != NULL ? end : next + strlen(next);
    while (at != NULL && at < end) {
        size_t slots[DEEPEST];
        at = memchr(at, '%', (size_t)(end - at));
        const size_t depth = at != NULL ? path_of(f, (size_t)strtoul(at + 1, NULL, 10), slots) : 0;
        if (depth > 1) {
            return name_path(f, slots, depth, module, size);
        }
        at = at != NULL ? at + 1 : NULL;
    }
    return false;
}

bool failing_layer(const opened_model *opened, const char *method, const call_inputs *inputs, char *module, size_t size)
{
    failing f = {.method = method != NULL ? method : "forward"};
    const taper_load_options load = {.struct_size = sizeof load, .flags = TAPER_LOAD_EVALUATION};
    const taper_session_options limits = {.struct_size = sizeof limits, .time_budget = 10}; // to say more of an error
    taper_value *result = NULL;
    bool found = false;
    if (taper_model_load(opened->context, opened->path, &load, &f.model, NULL) == TAPER_OK &&
        taper_session_create(f.model, &limits, &f.session, NULL) == TAPER_OK) {
        taper_session_observe(f.session, note_last, &f);
        const bool fails =
            taper_session_run(f.session, method, inputs->values, inputs->count, &result, NULL) == TAPER_ERROR_ARGUMENT;
        taper_session_observe(f.session, NULL, NULL);
        taper_value_release(result);
        found = fails && taper_inspect_graph(f.model, method, keep_text, &f, NULL) == TAPER_OK && !f.failed &&
                f.text != NULL && find_module(&f, module, size);
    }
    free(f.text);
    taper_session_destroy(f.session);
    taper_model_release(f.model);
    return found;
}
