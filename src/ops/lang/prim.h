// SPDX-License-Identifier: BSD-2-Clause
// Codes of the prim operators that share a kernel.
#ifndef TAPER_OPS_PRIM_H
#define TAPER_OPS_PRIM_H

typedef enum taper_prim_code {
    TAPER_PRIM_FALSE,
    TAPER_PRIM_TRUE,
    TAPER_PRIM_IS,
    TAPER_PRIM_ISNOT,
    TAPER_PRIM_SQUEEZE,
    TAPER_PRIM_UNSQUEEZE
} taper_prim_code;

#endif
