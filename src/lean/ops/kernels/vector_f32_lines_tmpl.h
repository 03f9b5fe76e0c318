// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_LINES_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_LINES_TMPL_H

#endif
