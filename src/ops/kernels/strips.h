// SPDX-License-Identifier: BSD-2-Clause
// Which numbers of rows the tiles of a gemm have: each its own code.
#ifndef TAPER_OPS_KERNELS_STRIPS_H
#define TAPER_OPS_KERNELS_STRIPS_H

// Of a tile of mr rows, of which `real` exist: TAPER_ROW is the row that row i stands for, TAPER_ROW_STEP what is
// between its results and those of the next one. TAPER_STRIP is the place of a tile's code in a table. Rows are cut by
// TAPER_STRIP_UNIT.
#define TAPER_ROW(i, mr, real) (i)
#define TAPER_ROW_STEP(i, mr, real, step) (step)
#define TAPER_STRIP(mr) ((mr)-1)
#define TAPER_ODD_MR(x) x
enum { TAPER_STRIP_UNIT = 1 };

#endif
