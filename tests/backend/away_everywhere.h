// SPDX-License-Identifier: BSD-2-Clause
// Runs unmodified programs with the backend for tests: each context has this backend, and each model for which no
// device is named runs on it. The build renames the library's functions to the functions below. The environment
// variable TAPER_AWAY contains words: everything, every-second or odd-pairs; records; declines; always (on the device);
// plain (the CPU has no chains and inputs keep their layout, so that results equal those of the CPU without chains bit
// for bit); fails-at-CALL-N (the N-th call of a kind in layer.h is declined); lost (the device is lost at that call).
// The program ends with status 99 if the validating layer has complaints or objects of the device are not freed.
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
