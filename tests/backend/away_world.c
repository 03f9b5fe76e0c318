// SPDX-License-Identifier: BSD-2-Clause
// Makes the contexts that away_world.h describes.
#include "tests/backend/away_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backends/cpu/cpu_backend.h"
#include "runtime/device.h"

static taper_status claim_nothing(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    (void)device, (void)region, (void)claim, (void)error;
    return TAPER_DECLINED;
}

void open_world(world *w, away_claims claims, bool records, unsigned declines)
{
    memset(w, 0, sizeof *w);
    away_init(&w->away, claims, records);
    w->away.declines = declines;
    failing_init(&w->failing, &w->away.table);
    validator_init(&w->validator, &w->failing.layer.table);
    w->backends[0] = &w->validator.layer.table;
    w->cpu = taper_backend_cpu;
    w->cpu.claim = claim_nothing;
    w->backends[1] = &w->cpu;
    test_allocator_init(&w->allocator);
    w->error = taper_error_create();
    w->context = test_context(&w->allocator, 1);
    assert_int_equal(taper_context_set_backends(w->context, w->backends, w->error), TAPER_OK);
}

void close_world(world *w, const char *what)
{
    taper_context_release(w->context);
    taper_error_destroy(w->error);
    if (!validator_is_content(&w->validator)) {
        fail_msg("%s (%s): %zu complaints; %zu devices, %zu recordings, %zu tensors left", what,
                 away_claims_name(w->away.claims), atomic_load(&w->validator.complaints),
                 atomic_load(&w->validator.devices), atomic_load(&w->validator.recordings),
                 atomic_load(&w->validator.memories));
    }
    if (atomic_load(&w->allocator.blocks) != 0 || atomic_load(&w->away.memories) != 0) {
        fail_msg("%s: %zu blocks, %zu tensors of the device are left", what, atomic_load(&w->allocator.blocks),
                 atomic_load(&w->away.memories));
    }
}

taper_status world_load(taper_context *context, const char *file, taper_model **model, taper_error *error)
{
    char path[1024];
    test_path(file, path, sizeof path);
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .device = &away_choice};
    return taper_model_load(context, path, &options, model, error);
}
