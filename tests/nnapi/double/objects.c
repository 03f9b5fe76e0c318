// SPDX-License-Identifier: BSD-2-Clause
// Handles and their objects. The memory of handles is kept until the library is unloaded, so that no new handle has the
// address of a freed handle.
#include <stdlib.h>

#include "double.h"

typedef struct object {
    struct object *next;
    double_kind kind;
    double_body *body; // NULL after the handle was freed
} object;

enum { BUCKETS = 1024 };
static object *table[BUCKETS];
static uint32_t bodies;

static const char *const kind_names[] = {"memory", "memory descriptor", "model", "compilation", "execution", "burst",
                                         "event"};

static object **bucket_of(const void *handle)
{
    return &table[((uintptr_t)handle >> 4) % BUCKETS];
}

static object *look_up(const void *handle)
{
    object *at = *bucket_of(handle);
    while (at != NULL && at != handle) {
        at = at->next;
    }
    return at;
}

void *double_object(double_kind kind, void *body, void (*destroy)(void *body))
{
    object *made = malloc(sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    double_body *head = body;
    head->holders = 1;
    head->id = ++bodies;
    head->destroy = destroy;
    object **bucket = bucket_of(made);
    *made = (object){.next = *bucket, .kind = kind, .body = head};
    *bucket = made;
    return made;
}

int double_find(const void *handle, double_kind kind, void *body)
{
    void **to = body;
    *to = NULL;
    if (handle == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "the %s is NULL", kind_names[kind]);
    }
    const object *found = look_up(handle);
    if (found == NULL) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "what should be a %s is nothing of this library",
                             kind_names[kind]);
    }
    if (found->kind != kind) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "what should be a %s is a %s", kind_names[kind],
                             kind_names[found->kind]);
    }
    if (found->body == NULL) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "the %s was freed", kind_names[kind]);
    }
    *to = found->body;
    return ANEURALNETWORKS_NO_ERROR;
}

int double_end(void *handle, double_kind kind, void *body)
{
    if (handle == NULL) {
        return ANEURALNETWORKS_UNEXPECTED_NULL; // not a misuse: NULL may be freed
    }
    const int code = double_find(handle, kind, body);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        look_up(handle)->body = NULL;
    }
    return code;
}

void double_hold(void *body)
{
    double_body *head = body;
    head->holders++;
}

void double_drop(void *body)
{
    double_body *head = body;
    if (head != NULL && --head->holders == 0) {
        head->destroy(head);
    }
}

// Reports leaked objects and frees everything. Objects that refer to other objects are freed first.
__attribute__((destructor)) static void forget(void)
{
    static const double_kind order[] = {DOUBLE_EVENT,       DOUBLE_BURST, DOUBLE_EXECUTION, DOUBLE_MEMORY_DESC,
                                        DOUBLE_COMPILATION, DOUBLE_MODEL, DOUBLE_MEMORY};
    double_resume("unload");
    for (size_t k = 0; k < sizeof order / sizeof order[0]; k++) {
        for (size_t i = 0; i < BUCKETS; i++) {
            for (object *at = table[i]; at != NULL; at = at->next) {
                if (at->kind == order[k] && at->body != NULL) {
                    (void)double_misuse(0, "a %s was not freed", kind_names[at->kind]);
                    double_drop(at->body);
                }
            }
        }
    }
    for (size_t i = 0; i < BUCKETS; i++) {
        for (object *at = table[i], *next; at != NULL; at = next) {
            next = at->next;
            free(at);
        }
        table[i] = NULL;
    }
    double_leave();
}
