// SPDX-License-Identifier: BSD-2-Clause
// The limit on the sides of all pictures, including the pictures that taper.json describes.
#ifndef TAPER_APP_SETTINGS_H
#define TAPER_APP_SETTINGS_H

enum { TAPER_PICTURE_SIDE = 16384 }; // longest side in pixels; a picture has at most 2^28 pixels

#endif
