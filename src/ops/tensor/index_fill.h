// SPDX-License-Identifier: BSD-2-Clause
// index_put with one value and one mask: a single pass over both, in place.
#ifndef TAPER_OPS_TENSOR_INDEX_FILL_H
#define TAPER_OPS_TENSOR_INDEX_FILL_H

#include "ops/call/call.h"

taper_status taper_index_fill_where(taper_run *run, taper_tensor *self, const taper_tensor *mask, const void *value);

#endif
