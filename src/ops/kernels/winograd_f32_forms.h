// SPDX-License-Identifier: BSD-2-Clause
// The number of channel vectors that an input transform handles together.
#ifndef TAPER_OPS_KERNELS_WINOGRAD_F32_FORMS_H
#define TAPER_OPS_KERNELS_WINOGRAD_F32_FORMS_H

enum { TAPER_WINOGRAD_VECTORS = 2 };

#endif
