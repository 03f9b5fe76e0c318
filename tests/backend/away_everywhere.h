// SPDX-License-Identifier: BSD-2-Clause
// Programs as they are, with the backend for tests in every context and as the device of every model that names none:
// the build gives the names of these functions to what they stand for. The environment variable TAPER_AWAY has words:
// everything, every-second or odd-pairs; records; declines; always (with the device); plain (the CPU
// has no chains, inputs keep their layout: then results are the CPU's without chains bit for bit); fails-at-CALL-N: the
// N-th call of a kind (layer.h) is declined, with lost: the device is lost there.
// The program ends with status 99 where the validating layer has complaints, or something of the device is left.
#ifndef TAPER_TESTS_AWAY_EVERYWHERE_H
#define TAPER_TESTS_AWAY_EVERYWHERE_H

#include <taper/taper.h>

taper_status away_context_create(const taper_context_options *options, taper_context **context, taper_error *error);
taper_status away_model_load(taper_context *context, const char *path, const taper_load_options *options,
                             taper_model **model, taper_error *error);
taper_status away_model_load_memory(taper_context *context, const void *bytes, size_t size, void (*release)(void *user),
                                    void *user, const taper_load_options *options, taper_model **model,
                                    taper_error *error);

#endif
