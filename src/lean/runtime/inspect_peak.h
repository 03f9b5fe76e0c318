// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/runtime/inspect_peak.h in small builds, which do not measure the peak.
#ifndef TAPER_RUNTIME_INSPECT_PEAK_H
#define TAPER_RUNTIME_INSPECT_PEAK_H

static inline void measure_peak(taper_session *session)
{
    (void)session;
}

static inline void say_peak(const taper_session *session, const taper_profile_site *site, taper_profile_item *item)
{
    (void)session, (void)site, (void)item;
}

#endif
