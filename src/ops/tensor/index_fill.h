// SPDX-License-Identifier: BSD-2-Clause
// index_put with one value and one mask, in place, in a single pass over the mask and self.
#ifndef TAPER_OPS_TENSOR_INDEX_FILL_H
#define TAPER_OPS_TENSOR_INDEX_FILL_H

#include "ops/call/call.h"

taper_status taper_index_fill_where(taper_run *run, taper_tensor *self, const taper_tensor *mask, const void *value);

#endif
