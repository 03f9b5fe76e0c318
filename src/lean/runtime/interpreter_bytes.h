// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/runtime/interpreter_bytes.h in small builds, which do not count bytes, because they do not measure the
// peak.
#ifndef TAPER_RUNTIME_INTERPRETER_BYTES_H
#define TAPER_RUNTIME_INTERPRETER_BYTES_H

static inline void count_bytes(taper_profile_site *site, const taper_call *call)
{
    (void)site, (void)call;
}

#endif
