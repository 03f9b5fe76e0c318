// SPDX-License-Identifier: BSD-2-Clause
// In small builds, the tiles of a matrix product have 1, 2, 4, 6, ... rows.
#ifndef TAPER_OPS_KERNELS_STRIPS_H
#define TAPER_OPS_KERNELS_STRIPS_H

// If the last row of a tile does not exist, the tile computes the row before it twice.
#define TAPER_ROW(i, mr, real) ((mr) > 2 && (i) + 1 == (mr) && (real) < (mr) ? (i)-1 : (i))
#define TAPER_ROW_STEP(i, mr, real, step) ((mr) > 2 && (i) + 2 == (mr) && (real) < (mr) ? 0 : (step))
#define TAPER_STRIP(mr) ((mr) == 1 ? 0 : ((mr) + 1) / 2)
#define TAPER_ODD_MR(x)
enum { TAPER_STRIP_UNIT = 2 };

#endif
