// SPDX-License-Identifier: BSD-2-Clause
// The limit that pictures and what is said of them share.
#ifndef TAPER_APP_SETTINGS_H
#define TAPER_APP_SETTINGS_H

enum { TAPER_PICTURE_SIDE = 16384 }; // pixels, 256 million in all

#endif
