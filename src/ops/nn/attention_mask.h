// SPDX-License-Identifier: BSD-2-Clause
// The masks of scaled dot product attention: which keys a block of rows sees, and the masked softmax of its scores.
#ifndef TAPER_OPS_ATTENTION_MASK_H
#define TAPER_OPS_ATTENTION_MASK_H

#include "ops/call/call.h"

// The mask of one call. Scores have the sizes [.., rows, keys].
typedef struct taper_attention_mask {
    bool causal;       // row r sees the keys 0 to r
    bool given;        // true if the call has a mask
    taper_tensor mask; // bool, where true means that the key is visible; or numbers of the working dtype, which are
                       // added to the scores. The mask has the rank of the scores. A dimension along which it is
                       // broadcast has size 1 and stride 0.
} taper_attention_mask;

// A block of the scores: the rows [row, row + rows) of every head, and the keys [key, key + keys).
typedef struct taper_attention_block {
    int64_t row, rows, key, keys;
} taper_attention_block;

// Sets the mask, which the caller owns and must not drop before the last use. Returns false if the mask does not expand
// to scores of these sizes. NULL means no mask.
bool taper_attention_mask_open(taper_attention_mask *own, const taper_tensor *mask, bool causal, size_t rank,
                               const int64_t *sizes);
// Sets the keys of the block to a range within [0, keys). The range contains every key that some row of the block sees.
// The range is empty if no row sees a key.
void taper_attention_visible(const taper_attention_mask *own, int64_t keys, taper_attention_block *block);
// Applies the mask to the scores of the block, a contiguous tensor of a working dtype, and computes their softmax in
// place. A row that sees no key becomes zeros, as in PyTorch 2.
TAPER_MUST_USE taper_status taper_attention_softmax(taper_run *run, const taper_attention_mask *own,
                                                    const taper_attention_block *block, taper_tensor *scores);

#endif
