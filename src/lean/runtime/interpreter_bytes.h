// SPDX-License-Identifier: BSD-2-Clause
// Small builds count no bytes, as they know no peak.
#ifndef TAPER_RUNTIME_INTERPRETER_BYTES_H
#define TAPER_RUNTIME_INTERPRETER_BYTES_H

static inline void count_bytes(taper_profile_site *site, const taper_call *call)
{
    (void)site, (void)call;
}

#endif
