// SPDX-License-Identifier: BSD-2-Clause
// Files of the backend in the cache directory, if there is one. They contain verdicts on drivers, code that a driver
// compiled, and a mark while a driver is tried. If a process finds such a mark, an earlier process crashed in that
// driver. A damaged file, or a file of another program or driver, is ignored.
#ifndef TAPER_BACKENDS_GPU_KEPT_H
#define TAPER_BACKENDS_GPU_KEPT_H

#include "backends/gpu/gpu_state.h"

// These functions read and store the verdict that results are correct. `hash` identifies the subject of the verdict,
// and names its file.
bool taper_gpu_is_trusted(const char *cache_dir, uint64_t hash);
void taper_gpu_trust(const char *cache_dir, uint64_t hash);

// These functions read and store what was clearly faster for a recording: the segment's nodes on the CPU (*plain is
// true) or the device. `hash` identifies the recording's program and the number of CPU threads. The first function
// returns false if this is not known.
bool taper_gpu_knows_faster(const char *cache_dir, uint64_t hash, bool *plain);
void taper_gpu_keep_faster(const char *cache_dir, uint64_t hash, bool plain);

// Reads and writes the corrections of estimates (gpu_estimate.h) for this device and driver. The caller holds the lock,
// or no other thread has the device yet.
void taper_gpu_take_learned(taper_gpu_state *state, const char *cache_dir);
void taper_gpu_keep_learned(const taper_gpu_state *state, const char *cache_dir);

// Gives the device the code that it compiled in an earlier process, and stores the code that it has compiled since.
void taper_gpu_take_compiled(taper_gpu_state *state, const char *cache_dir);
void taper_gpu_keep_compiled(taper_gpu_state *state, const char *cache_dir);

// Returns true if an earlier process of this build ended while it tried this interface. *driver is
// taper_gpu_driver_hash of the device, or 0 if the device was being opened.
bool taper_gpu_has_crashed(const taper_gpu_state *state, const char *cache_dir, uint64_t *driver);
uint64_t taper_gpu_driver_hash(const taper_gpu_state *state);
// taper_gpu_try marks the device as tried, and taper_gpu_tried removes the mark. Both may be called repeatedly.
void taper_gpu_try(taper_gpu_state *state, const char *cache_dir);
void taper_gpu_tried(taper_gpu_state *state, const char *cache_dir);

#endif
