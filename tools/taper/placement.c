// SPDX-License-Identifier: BSD-2-Clause
#include "taper/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Returns the item of the value, or NULL. A later report about a value replaces its item: the conversion may first put
// an operator in an NNAPI module and later return it to the CPU.
static placement_item *find(const placement *p, uint32_t value)
{
    return value < p->last_count && p->last[value] != 0 ? &p->items[p->last[value] - 1] : NULL;
}

static bool remember(placement *p, uint32_t value)
{
    if (value >= p->last_count) {
        const size_t count = 2 * ((size_t)value + 1);
        size_t *last = realloc(p->last, count * sizeof *last);
        if (last == NULL) {
            return false;
        }
        memset(last + p->last_count, 0, (count - p->last_count) * sizeof *last);
        p->last = last;
        p->last_count = count;
    }
    p->last[value] = p->count;
    return true;
}

void placement_add(void *user, const taper_placement *told)
{
    placement *p = user;
    const char *op = told->operator_name;
    const uint32_t value = told->value;
    placement_item *item = find(p, value);
    if (item == NULL) {
        if (p->count == p->capacity) {
            const size_t capacity = p->capacity == 0 ? 64 : 2 * p->capacity;
            placement_item *items = realloc(p->items, capacity * sizeof *items);
            if (items == NULL) {
                p->failed = true;
                return;
            }
            p->items = items;
            p->capacity = capacity;
        }
        char *copy = malloc(strlen(op) + 1);
        if (copy == NULL) {
            p->failed = true;
            return;
        }
        strcpy(copy, op);
        item = &p->items[p->count++];
        item->op = copy;
        item->value = value;
        p->failed = !remember(p, value) || p->failed;
    }
    item->segment = told->segment;
    item->why = told->segment < 0 && told->reason == NULL ? "" : told->reason;
    item->work = told->work;
}

static int compare(const void *a, const void *b)
{
    const placement_item *x = a, *y = b;
    const int op = strcmp(x->op, y->op);
    return op != 0 ? op : strcmp(x->why, y->why);
}

static void print_reasons(const placement *p)
{
    placement_item *rest = malloc((p->count + 1) * sizeof *rest);
    size_t count = 0;
    for (size_t i = 0; rest != NULL && i < p->count; i++) {
        if (p->items[i].segment < 0) {
            rest[count++] = p->items[i];
        }
    }
    if (count != 0) {
        qsort(rest, count, sizeof *rest, compare);
    }
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && compare(&rest[i], &rest[i + same]) == 0; same++) {
        }
        printf("  CPU  %4zu x %-32s %s\n", same, rest[i].op, rest[i].why);
    }
    free(rest);
}

void placement_print(const placement *p, bool every)
{
    double all = 0, taken = 0;
    size_t inside = 0;
    int modules = 0;
    for (size_t i = 0; i < p->count; i++) {
        const placement_item *item = &p->items[i];
        all += item->work;
        taken += item->segment >= 0 ? item->work : 0;
        inside += item->segment >= 0;
        modules = item->segment >= modules ? item->segment + 1 : modules;
        if (every && item->segment >= 0) {
            printf("  NNAPI %d  %%%u %s\n", item->segment, item->value, item->op);
        } else if (every) {
            printf("  CPU      %%%u %s: %s\n", item->value, item->op, item->why);
        }
    }
    printf("NNAPI: %d modules with %zu of %zu operators", modules, inside, p->count);
    if (all > 0) {
        printf(", %.1f %% of the multiplications", 100 * taken / all);
    }
    putchar('\n');
    if (!every) {
        print_reasons(p);
    }
}

void placement_free(placement *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->items[i].op);
    }
    free(p->items);
    free(p->last);
}
