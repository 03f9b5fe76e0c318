// SPDX-License-Identifier: BSD-2-Clause
// The numbers of rows for which a gemm has tiles. Each number has its own code.
#ifndef TAPER_OPS_KERNELS_STRIPS_H
#define TAPER_OPS_KERNELS_STRIPS_H

// Macros for a tile of mr rows, of which `real` exist. TAPER_ROW is the number of the row that row i of the tile
// computes. TAPER_ROW_STEP is the distance from the results of one row to the results of the next row. TAPER_STRIP is
// the index of a tile's function in a table. Strips are multiples of TAPER_STRIP_UNIT rows.
#define TAPER_ROW(i, mr, real) (i)
#define TAPER_ROW_STEP(i, mr, real, step) (step)
#define TAPER_STRIP(mr) ((mr)-1)
#define TAPER_ODD_MR(x) x
enum { TAPER_STRIP_UNIT = 1 };

#endif
