// SPDX-License-Identifier: BSD-2-Clause
// Implements the recording layer that replay.h describes.
#include "tests/backend/replay.h"

#include <stdio.h>
#include <stdlib.h>

enum { LONGEST = 4096 };

typedef struct line {
    char text[LONGEST];
    size_t length;
} line;

static void add(line *to, const char *text)
{
    const size_t room = LONGEST - 1 - to->length, length = strlen(text);
    const size_t count = length < room ? length : room;
    memcpy(to->text + to->length, text, count);
    to->length += count;
    to->text[to->length] = '\0';
}

static void add_tensor(line *to, const taper_tensor *x)
{
    char number[32];
    add(to, " ");
    add(to, taper_dtype_name((taper_dtype)x->dtype));
    for (size_t d = 0; d < x->rank; d++) {
        snprintf(number, sizeof number, "%c%lld", d == 0 ? '[' : ',', (long long)x->sizes[d]);
        add(to, number);
    }
    add(to, x->rank != 0 ? "]" : "");
    add(to, taper_tensor_is_away(x) ? "@" : "");
    add(to, x->hidden_nhwc ? "'" : "");
}

static void add_values(line *to, const taper_val *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[48];
        if (values[i].tag == TAPER_TENSOR) {
            add_tensor(to, values[i].as.tensor);
            continue;
        }
        if (values[i].tag == TAPER_INT) {
            snprintf(text, sizeof text, " %lld", (long long)values[i].as.i);
        } else {
            snprintf(text, sizeof text, " %s", taper_val_kind_name(values[i]));
        }
        add(to, text);
    }
}

static void put(replay *r, const line *l)
{
    if (r->replaying) {
        const char *wanted = r->text + r->at;
        const size_t length = strcspn(wanted, "\n");
        if (length != l->length || memcmp(wanted, l->text, length) != 0) {
            if (r->mismatches++ == 0) {
                snprintf(r->wanted, sizeof r->wanted, "%.*s", (int)length, wanted);
                snprintf(r->got, sizeof r->got, "%.255s", l->text);
            }
            return;
        }
        r->at += length + (wanted[length] == '\n');
        return;
    }
    if (r->length + l->length + 2 > r->capacity) {
        r->capacity = 2 * (r->length + l->length + 2);
        r->text = realloc(r->text, r->capacity);
        if (r->text == NULL) {
            abort();
        }
    }
    memcpy(r->text + r->length, l->text, l->length);
    r->length += l->length;
    r->text[r->length++] = '\n';
    r->text[r->length] = '\0';
    r->lines++;
}

static void add_segment(line *to, const taper_segment *segment)
{
    char text[64];
    snprintf(text, sizeof text, " %u:", segment->node->blocks[1]->first->outputs[0].id);
    add(to, text);
    for (const taper_node *node = segment->node->blocks[1]->first; node != NULL; node = node->next) {
        add(to, " ");
        add(to, node->schema->name);
    }
}

static void after(layer *l, const layer_event *event)
{
    line to = {.length = 0};
    add(&to, layer_call_names[event->call]);
    char text[64];
    switch (event->call) {
    case LAYER_CLAIM:
        snprintf(text, sizeof text, " %zu of %zu from %zu", event->claim->count, event->region->count,
                 event->region->from);
        add(&to, text);
        break;
    case LAYER_PLAN:
        add_segment(&to, event->segment);
        break;
    case LAYER_FORGET:
        add_segment(&to, event->run_segment);
        break;
    case LAYER_RECORD:
    case LAYER_RUN:
        snprintf(text, sizeof text, " %u", event->run_segment->node->blocks[1]->first->outputs[0].id);
        add(&to, text);
        add_values(&to, event->args->args, event->args->arg_count);
        add(&to, " ->");
        add_values(&to, event->args->rets, event->args->ret_count);
        break;
    case LAYER_STORE:
    case LAYER_FETCH:
        add_tensor(&to, event->tensor);
        break;
    default:
        break;
    }
    snprintf(text, sizeof text, " = %d", (int)event->status);
    add(&to, text);
    put((replay *)l, &to);
}

void replay_init(replay *r, const taper_backend *inner)
{
    memset(r, 0, sizeof *r);
    layer_init(&r->layer, inner);
    r->layer.after = after;
}

void replay_begin(replay *r, size_t from)
{
    r->replaying = true;
    r->at = from;
    r->mismatches = 0;
}

bool replay_is_done(const replay *r, size_t to)
{
    if (r->mismatches != 0) {
        fprintf(stderr, "replay: %zu calls differ, first: %s\ninstead of: %s\n", r->mismatches, r->got, r->wanted);
    } else if (r->at != to) {
        fprintf(stderr, "replay: %zu characters of calls did not come\n", to - r->at);
    }
    return r->mismatches == 0 && r->at == to;
}

void replay_free(replay *r)
{
    free(r->text);
    r->text = NULL;
}
