// SPDX-License-Identifier: BSD-2-Clause
// The limit on sizes of pictures and in settings.
#ifndef TAPER_APP_SETTINGS_H
#define TAPER_APP_SETTINGS_H

enum { TAPER_PICTURE_SIDE = 16384 }; // pixels of a side; a picture has at most 2^28

#endif
