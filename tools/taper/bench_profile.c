// SPDX-License-Identifier: BSD-2-Clause
// Where the time of a run goes, operator by operator.
#include "taper/bench_profile.h"

#include <stdlib.h>
#include <string.h>

#include <taper/taper_inspect.h>

#include "common/errors.h"
#include "common/json_value.h"

enum { MOST_ROWS = 30, BAR = 30 };

// Call sites that ran; sorted by time when by_time. *items is the caller's to free.
static bool collect(const opened_model *opened, taper_profile_item **items, size_t *count)
{
    const size_t sites = taper_profile_count(opened->session);
    *items = calloc(sites + 1, sizeof **items);
    *count = 0;
    if (*items == NULL) {
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < sites; i++) {
        taper_profile_item *item = &(*items)[*count];
        item->struct_size = sizeof *item;
        if (taper_profile_get(opened->session, i, item, NULL) == TAPER_OK && item->calls != 0) {
            ++*count;
        }
    }
    return true;
}

static int dearest_first(const void *a, const void *b)
{
    const double x = ((const taper_profile_item *)a)->seconds, y = ((const taper_profile_item *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

static double gflops(const taper_profile_item *item)
{
    return item->seconds > 0 ? item->flops * (double)item->calls / item->seconds * 1e-9 : 0;
}

bool bench_profile_print(const opened_model *opened, size_t runs)
{
    taper_profile_item *items;
    size_t count;
    if (!collect(opened, &items, &count)) {
        return false;
    }
    double total = 0;
    for (size_t i = 0; i < count; i++) {
        total += items[i].seconds;
    }
    qsort(items, count, sizeof *items, dearest_first);
    printf("\n  %9s %6s  %-34s %-16s %8s\n", "ms/run", "share", "operator", "kernel", "GFLOP/s");
    double shown = 0;
    for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
        const taper_profile_item *item = &items[i];
        const double share = total > 0 ? item->seconds / total : 0;
        char name[64], speed[32] = "";
        (void)snprintf(name, sizeof name, "%.*s%s", (int)(item->name_length < 40 ? item->name_length : 40), item->name,
                       item->fused ? " +" : "");
        if (item->flops > 0) {
            (void)snprintf(speed, sizeof speed, "%.1f", gflops(item));
        }
        printf("  %9.4f %5.1f%%  %-34s %-16s %8s  ", item->seconds * 1e3 / (double)runs, share * 100, name,
               item->kernel, speed);
        for (int b = 0; b < (int)(share * 4 * BAR + 0.5) && b < BAR; b++) {
            fputs("#", stdout);
        }
        fputc('\n', stdout);
        shown += item->seconds;
    }
    if (count > MOST_ROWS) {
        printf("  %9.4f %5.1f%%  %zu others\n", (total - shown) * 1e3 / (double)runs, (total - shown) / total * 100,
               count - MOST_ROWS);
    }
    printf("  %9.4f ms in %zu operators (+: with what follows it)\n", total * 1e3 / (double)runs, count);
    free(items);
    return true;
}

bool bench_profile_json(const opened_model *opened, size_t runs)
{
    taper_profile_item *items;
    size_t count;
    if (!collect(opened, &items, &count)) {
        return false;
    }
    fputs(", \"ops\": [", stdout);
    for (size_t i = 0; i < count; i++) {
        const taper_profile_item *item = &items[i];
        fputs(i != 0 ? ", {\"name\": " : "{\"name\": ", stdout);
        json_put_text(stdout, item->name, item->name_length);
        fputs(", \"kernel\": ", stdout);
        json_put_text(stdout, item->kernel, strlen(item->kernel));
        printf(", \"fused\": %s, \"calls\": %llu, \"ms\": %.6f, \"gflops\": %.3f}", item->fused ? "true" : "false",
               (unsigned long long)item->calls, item->seconds * 1e3 / (double)runs, gflops(item));
    }
    fputs("]", stdout);
    free(items);
    return true;
}
