// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_PAIRS_H

#define GET_PAIRS(type, read)

#endif
