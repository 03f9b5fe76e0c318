// SPDX-License-Identifier: BSD-2-Clause
// Boxes of the `_caffe2::` detection operators, and their suppression. A box is float32 and either upright (x1, y1, x2,
// y2) or rotated (centre x, centre y, width, height, and the angle in degrees, counter-clockwise). Arithmetic is
// float32, as in Caffe2.
#ifndef TAPER_OPS_CAFFE2_BOXES_H
#define TAPER_OPS_CAFFE2_BOXES_H

#include "ops/call/call.h"

enum { BOX_UPRIGHT = 4, BOX_ROTATED = 5 };

// The options that say how boxes are read and changed.
typedef struct taper_box_rule {
    size_t columns;   // number of elements of a box: BOX_UPRIGHT or BOX_ROTATED
    float plus;       // 1 if x2 and y2 are the last pixels inside the box (legacy_plus_one), otherwise 0
    float weights[4]; // divisors of the first four deltas
    bool bound;       // for rotated boxes: true if angles are brought between low and high, in degrees
    float low, high;
    float clip_angle; // a rotated box is clipped to the image if its angle is at most this many degrees
} taper_box_rule;

// Memory blocks and tensor references of one call. taper_box_free frees all of them, also after a failure.
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

// Reads argument `at`, a float32 tensor of this rank (0: any rank), as a contiguous tensor. scratch owns it, so *tensor
// and *data stay valid until taper_box_free.
TAPER_MUST_USE taper_status taper_box_arg(const taper_call *call, taper_box_scratch *scratch, size_t at, size_t rank,
                                          const taper_tensor **tensor, const float **data);
// Does what taper_box_arg does, for any float32 tensor. `name` is the tensor's name in messages.
TAPER_MUST_USE taper_status taper_box_floats(const taper_call *call, taper_box_scratch *scratch, taper_tensor *given,
                                             const char *name, const taper_tensor **tensor, const float **data);
// Reads angle_bound_on, angle_bound_lo, angle_bound_hi, clip_angle_thresh and legacy_plus_one, which are the arguments
// from `at` on. rule->columns must be set.
TAPER_MUST_USE taper_status taper_box_rule_args(const taper_call *call, size_t at, taper_box_rule *rule);

// Sets out to the box that results from applying the deltas to box. All three have rule->columns elements.
void taper_box_transform(const taper_box_rule *rule, const float *box, const float *deltas, float *out);
void taper_box_clip(const taper_box_rule *rule, int64_t height, int64_t width, float *box);
// Returns true if both sides of the box are at least `least` and its centre is left of the image's right edge and above
// its lower edge.
bool taper_box_fits(const taper_box_rule *rule, const float *box, float least, float height, float width);
// Returns the intersection over union of two boxes, which is NaN if the union is empty.
float taper_box_overlap(const taper_box_rule *rule, const float *a, const float *b);
// Converts an image's height or width to an int of at most 2 to the 30; NaN and negative sizes give 0.
int64_t taper_box_pixels(double size);

// Fills order with the indices 0 to count - 1, sorted by descending score. Equal scores keep the order of their
// indices. The score of item i is scores[i * stride]. spare is scratch memory for count indices.
void taper_box_sort(const float *scores, size_t stride, int32_t *order, int32_t *spare, size_t count);
// Sorts as taper_box_sort does, but starts from the indices that order already contains.
void taper_box_sort_given(const float *scores, size_t stride, int32_t *order, int32_t *spare, size_t count);
// Goes through the sorted indices and keeps a box if it overlaps no kept box by more than threshold. The kept indices,
// at most `most` of them (0: any number), replace the first indices of order, and *count becomes their number. The box
// of index i is at boxes + i * stride.
TAPER_MUST_USE taper_status taper_box_suppress(const taper_call *call, const taper_box_rule *rule, const float *boxes,
                                               size_t stride, float threshold, size_t most, int32_t *order,
                                               size_t *count);

#endif
