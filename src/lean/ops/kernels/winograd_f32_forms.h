// SPDX-License-Identifier: BSD-2-Clause
// The number of vectors of channels that Winograd's input transforms process together in small builds.
#ifndef TAPER_OPS_KERNELS_WINOGRAD_F32_FORMS_H
#define TAPER_OPS_KERNELS_WINOGRAD_F32_FORMS_H

enum { TAPER_WINOGRAD_VECTORS = 1 };

#endif
