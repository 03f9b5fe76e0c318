// SPDX-License-Identifier: BSD-2-Clause
// Adds the backend for tests to every context of a program, as away_everywhere.h describes.
#include "tests/backend/away_everywhere.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/cpu_backend.h"
#include "runtime/device.h"
#include "tests/backend/away.h"
#include "tests/backend/failing.h"
#include "tests/backend/validate.h"

static away_backend away;
static failing fails;
static validator valid;
static taper_backend cpu;
static const taper_backend *const backends[] = {&valid.layer.table, &cpu, NULL};

static taper_status claim_nothing(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    (void)device, (void)region, (void)claim, (void)error;
    return TAPER_DECLINED;
}

static void end(void)
{
    if (getenv("TAPER_AWAY_TALK") != NULL) {
        fprintf(stderr, "away: %zu segments of %zu nodes, %zu runs, %zu declined, %zu stored, %zu fetched\n",
                atomic_load(&away.segments), atomic_load(&away.nodes), atomic_load(&away.runs),
                atomic_load(&away.declined), atomic_load(&away.stored), atomic_load(&away.fetched));
        if (fails.at != 0) {
            fprintf(stderr, "away: %zu times %s, fails at %zu\n", atomic_load(&fails.seen),
                    layer_call_names[fails.call], fails.at);
        }
    }
    if (!validator_is_content(&valid) || atomic_load(&away.memories) != 0) {
        fprintf(stderr, "away: %zu complaints; %zu devices, %zu recordings, %zu tensors are left\n",
                atomic_load(&valid.complaints), atomic_load(&valid.devices), atomic_load(&valid.recordings),
                atomic_load(&valid.memories));
        fflush(NULL);
        _Exit(99);
    }
}

// Returns the text after the word in TAPER_AWAY, or NULL if the word is missing.
static const char *has(const char *word)
{
    const char *words = getenv("TAPER_AWAY");
    const char *at = words != NULL ? strstr(words, word) : NULL;
    return at != NULL ? at + strlen(word) : NULL;
}

static void begin(void)
{
    away_claims claims = AWAY_EVERYTHING;
    for (int i = 0; i < AWAY_CLAIMS; i++) {
        claims = has(away_claims_name((away_claims)i)) ? (away_claims)i : claims;
    }
    away_init(&away, claims, has("records") != NULL);
    away.declines = has("declines") ? 3 : 0;
    away.always_away = has("always") != NULL;
    away.keeps_layout = has("plain") != NULL;
    failing_init(&fails, &away.table);
    for (int i = 0; i < LAYER_CALLS; i++) {
        char word[64];
        snprintf(word, sizeof word, "fails-at-%s-", layer_call_names[i]);
        const char *at = has(word);
        if (at != NULL) {
            failing_arm(&fails, (layer_call)i, strtoul(at, NULL, 10), has("lost") ? TAPER_DEVICE_LOST : TAPER_DECLINED);
        }
    }
    validator_init(&valid, &fails.layer.table);
    cpu = taper_backend_cpu;
    cpu.claim = has("plain") ? claim_nothing : cpu.claim;
    (void)atexit(end);
}

taper_status away_context_create(const taper_context_options *options, taper_context **context, taper_error *error)
{
    if (away.table.name == NULL) { // needs no lock, because programs make their first context before they start threads
        begin();
    }
    taper_status status = taper_context_create(options, context, error);
    if (status == TAPER_OK) {
        status = taper_context_set_backends(*context, backends, error);
        if (status != TAPER_OK) {
            taper_context_release(*context);
            *context = NULL;
        }
    }
    return status;
}

static taper_load_options with_device(const taper_load_options *options)
{
    taper_load_options o = {.struct_size = sizeof o};
    if (options != NULL) {
        o = *options;
    }
    o.device = o.device != NULL ? o.device : &away_choice;
    return o;
}

taper_status away_model_load(taper_context *context, const char *path, const taper_load_options *options,
                             taper_model **model, taper_error *error)
{
    const taper_load_options o = with_device(options);
    return taper_model_load(context, path, &o, model, error);
}

taper_status away_model_load_memory(taper_context *context, const void *bytes, size_t size, void (*release)(void *user),
                                    void *user, const taper_load_options *options, taper_model **model,
                                    taper_error *error)
{
    const taper_load_options o = with_device(options);
    return taper_model_load_memory(context, bytes, size, release, user, &o, model, error);
}
