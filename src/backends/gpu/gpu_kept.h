// SPDX-License-Identifier: BSD-2-Clause
// What the backend keeps in the cache directory, where there is one: verdicts over drivers, what a driver compiled, and
// a mark while a driver is tried, by which a later process knows that it crashed. A file that is damaged, somebody
// else's or another driver's is as none.
#ifndef TAPER_BACKENDS_GPU_KEPT_H
#define TAPER_BACKENDS_GPU_KEPT_H

#include "backends/gpu/gpu_state.h"

// Of what a verdict is about; its name is a hash.
bool taper_gpu_is_trusted(const char *cache_dir, uint64_t hash);
void taper_gpu_trust(const char *cache_dir, uint64_t hash);

// Which way was faster by far, of a recording in a context of so many threads. False: it is not known.
bool taper_gpu_knows_faster(const char *cache_dir, uint64_t hash, bool *plain);
void taper_gpu_keep_faster(const char *cache_dir, uint64_t hash, bool plain);

// What estimates learned (gpu_estimate.h), on this device and driver. Under the lock, or before others have the device.
void taper_gpu_take_learned(taper_gpu_state *state, const char *cache_dir);
void taper_gpu_keep_learned(const taper_gpu_state *state, const char *cache_dir);

// Gives the device what it compiled in an earlier process; keeps what it compiled since.
void taper_gpu_take_compiled(taper_gpu_state *state, const char *cache_dir);
void taper_gpu_keep_compiled(taper_gpu_state *state, const char *cache_dir);

// Whether an earlier process of this build ended while it tried this interface. driver: what taper_gpu_driver_hash said
// of the device; 0: it was opening it.
bool taper_gpu_has_crashed(const taper_gpu_state *state, const char *cache_dir, uint64_t *driver);
uint64_t taper_gpu_driver_hash(const taper_gpu_state *state);
// From here to the other one (any number of times) the device is tried.
void taper_gpu_try(taper_gpu_state *state, const char *cache_dir);
void taper_gpu_tried(taper_gpu_state *state, const char *cache_dir);

#endif
