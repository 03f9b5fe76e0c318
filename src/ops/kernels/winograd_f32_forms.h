// SPDX-License-Identifier: BSD-2-Clause
// How many vectors of channels the transforms of inputs take at once.
#ifndef TAPER_OPS_KERNELS_WINOGRAD_F32_FORMS_H
#define TAPER_OPS_KERNELS_WINOGRAD_F32_FORMS_H

enum { TAPER_WINOGRAD_VECTORS = 2 };

#endif
