// SPDX-License-Identifier: BSD-2-Clause
// What the `_caffe2::` detection operators share: boxes of float32, upright (x1, y1, x2, y2) or rotated (centre x,
// centre y, width, height, angle in degrees, counter-clockwise), and their suppression. Arithmetic is float32, as in
// Caffe2.
#ifndef TAPER_OPS_CAFFE2_BOXES_H
#define TAPER_OPS_CAFFE2_BOXES_H

#include "ops/call/call.h"

enum { BOX_UPRIGHT = 4, BOX_ROTATED = 5 };

// How boxes are read and changed.
typedef struct taper_box_rule {
    size_t columns;   // BOX_UPRIGHT or BOX_ROTATED
    float plus;       // 1 where x2 and y2 are the last pixels (legacy_plus_one), otherwise 0
    float weights[4]; // that the deltas are divided by
    bool bound;       // rotated: angles are brought between low and high
    float low, high;
    float clip_angle; // rotated: boxes this near to upright are clipped to the image
} taper_box_rule;

// Blocks and references of one call, let go together.
typedef struct taper_box_scratch {
    taper_heap *heap;
    size_t count;
    void *blocks[12];
    size_t bytes[12];
    taper_tensor *held[12];
} taper_box_scratch;

TAPER_MUST_USE taper_status taper_box_alloc(const taper_call *call, taper_box_scratch *scratch, size_t count,
                                            size_t item, void **block);
void taper_box_free(taper_box_scratch *scratch);

// Argument at: a float32 tensor of this rank (0: any), contiguous; its elements stay valid until taper_box_free.
TAPER_MUST_USE taper_status taper_box_arg(const taper_call *call, taper_box_scratch *scratch, size_t at, size_t rank,
                                          const taper_tensor **tensor, const float **data);
// The same for any float32 tensor; name is for the message.
TAPER_MUST_USE taper_status taper_box_floats(const taper_call *call, taper_box_scratch *scratch, taper_tensor *given,
                                             const char *name, const taper_tensor **tensor, const float **data);
// Arguments at, at + 1, at + 2: angle_bound_on, angle_bound_lo, angle_bound_hi; at + 3: clip_angle_thresh; at + 4:
// legacy_plus_one.
TAPER_MUST_USE taper_status taper_box_rule_args(const taper_call *call, size_t at, taper_box_rule *rule);

// The box that deltas make of box; both have rule->columns elements.
void taper_box_transform(const taper_box_rule *rule, const float *box, const float *deltas, float *out);
void taper_box_clip(const taper_box_rule *rule, int64_t height, int64_t width, float *box);
// Whether both sides are at least `least` and the centre lies within the image.
bool taper_box_fits(const taper_box_rule *rule, const float *box, float least, float height, float width);
// Intersection over union of two boxes; NaN where the union is empty.
float taper_box_overlap(const taper_box_rule *rule, const float *a, const float *b);
// An image's size as an int; 0 for what is none.
int64_t taper_box_pixels(double size);

// Fills order with the indices 0 … count - 1, the best score first, equal ones in their order. spare has count items.
// score: of item i is scores[i * stride].
void taper_box_sort(const float *scores, size_t stride, int32_t *order, int32_t *spare, size_t count);
// The same for indices that stand in order already.
void taper_box_sort_given(const float *scores, size_t stride, int32_t *order, int32_t *spare, size_t count);
// Keeps, in place, those of the sorted indices whose boxes overlap no kept one by more than threshold, at most `most`
// (0: any number). The box of index i is at boxes + i * stride.
TAPER_MUST_USE taper_status taper_box_suppress(const taper_call *call, const taper_box_rule *rule, const float *boxes,
                                               size_t stride, float threshold, size_t most, int32_t *order,
                                               size_t *count);

#endif
