// SPDX-License-Identifier: BSD-2-Clause
// Boxes of the `_caffe2::` detection operators: regression deltas, clipping, overlap, sorting, suppression.
#include "ops/vision/caffe2_boxes.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"

// ---- memory and arguments

taper_status taper_box_alloc(const taper_call *call, taper_box_scratch *scratch, size_t count, size_t item,
                             void **block)
{
    size_t bytes;
    assert(scratch->count < sizeof scratch->blocks / sizeof *scratch->blocks);
    scratch->heap = call->run->heap;
    if (!taper_mul_size(taper_max_size(count, 1), item, &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    *block = taper_heap_alloc(scratch->heap, bytes);
    if (*block == NULL) {
        return taper_fail_memory(call->run->error);
    }
    scratch->held[scratch->count] = NULL;
    scratch->bytes[scratch->count] = bytes;
    scratch->blocks[scratch->count++] = *block;
    return TAPER_OK;
}

void taper_box_free(taper_box_scratch *scratch)
{
    for (size_t i = 0; i < scratch->count; i++) {
        if (scratch->held[i] != NULL) {
            taper_obj_release(&scratch->held[i]->head);
        } else {
            taper_heap_free(scratch->heap, scratch->blocks[i], scratch->bytes[i]);
        }
    }
    scratch->count = 0;
}

taper_status taper_box_floats(const taper_call *call, taper_box_scratch *scratch, taper_tensor *given, const char *name,
                              const taper_tensor **tensor, const float **data)
{
    if (given->dtype != TAPER_F32) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s must be a float32 tensor", name);
    }
    assert(scratch->count < sizeof scratch->blocks / sizeof *scratch->blocks);
    taper_tensor *flat;
    TAPER_TRY(taper_run_contiguous(call->run, given, &flat));
    scratch->held[scratch->count++] = flat;
    *tensor = flat;
    *data = taper_tensor_data(flat);
    return TAPER_OK;
}

taper_status taper_box_arg(const taper_call *call, taper_box_scratch *scratch, size_t at, size_t rank,
                           const taper_tensor **tensor, const float **data)
{
    taper_tensor *given;
    TAPER_TRY(taper_arg_tensor(call, at, &given));
    if (rank != 0 && given->rank != rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s must have %zu dimensions, but has %u",
                   taper_arg_name(call, at), rank, (unsigned)given->rank);
    }
    return taper_box_floats(call, scratch, given, taper_arg_name(call, at), tensor, data);
}

taper_status taper_box_rule_args(const taper_call *call, size_t at, taper_box_rule *rule)
{
    static const int64_t most = 1 << 20; // bound for degrees; such integers are exact in float
    int64_t low, high;
    double clip;
    bool legacy;
    TAPER_TRY(taper_arg_bool(call, at, &rule->bound));
    TAPER_TRY(taper_arg_int(call, at + 1, &low));
    TAPER_TRY(taper_arg_int(call, at + 2, &high));
    TAPER_TRY(taper_arg_double(call, at + 3, &clip));
    TAPER_TRY(taper_arg_bool(call, at + 4, &legacy));
    if (rule->columns == BOX_ROTATED && rule->bound &&
        (low < -most || high > most || high <= low || (high - low) % 180 != 0)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "angle_bound_hi must be a multiple of 180 above angle_bound_lo, but they are %lld and %lld",
                   (long long)high, (long long)low);
    }
    rule->low = (float)low;
    rule->high = (float)high;
    rule->clip_angle = (float)clip;
    rule->plus = legacy ? 1.0f : 0.0f;
    return TAPER_OK;
}

// ---- changing one box

static inline float least_of(float a, float b)
{
    return a < b ? a : b;
}

static inline float most_of(float a, float b)
{
    return a > b ? a : b;
}

// Returns the scaled side. The factor is at most 1000 / 16, so that no delta makes the side infinite.
static float scaled(float delta, float weight, float side)
{
    const float most = 4.135166556742356f; // log(1000 / 16)
    return expf(least_of(delta / weight, most)) * side;
}

void taper_box_transform(const taper_box_rule *rule, const float *box, const float *deltas, float *out)
{
    const float dx = deltas[0] / rule->weights[0], dy = deltas[1] / rule->weights[1];
    if (rule->columns == BOX_ROTATED) {
        const float degrees = deltas[4] * 180.0f / 3.14159265358979323846f;
        float angle = degrees + box[4];
        if (rule->bound && angle < rule->low) {
            angle += rule->high - rule->low;
        } else if (rule->bound && angle > rule->high) {
            angle -= rule->high - rule->low;
        }
        out[0] = dx * box[2] + box[0];
        out[1] = dy * box[3] + box[1];
        out[2] = scaled(deltas[2], rule->weights[2], box[2]);
        out[3] = scaled(deltas[3], rule->weights[3], box[3]);
        out[4] = angle;
        return;
    }
    const float wide = box[2] - box[0] + rule->plus, high = box[3] - box[1] + rule->plus;
    const float x = dx * wide + (box[0] + 0.5f * wide), y = dy * high + (box[1] + 0.5f * high);
    const float half_wide = 0.5f * scaled(deltas[2], rule->weights[2], wide);
    const float half_high = 0.5f * scaled(deltas[3], rule->weights[3], high);
    out[0] = x - half_wide;
    out[1] = y - half_high;
    out[2] = x + half_wide - rule->plus;
    out[3] = y + half_high - rule->plus;
}

static void clip_corners(float plus, int64_t height, int64_t width, float corners[4])
{
    for (int i = 0; i < 4; i++) {
        const float last = (float)(i % 2 == 0 ? width : height) - plus;
        corners[i] = most_of(least_of(corners[i], last), 0.0f);
    }
}

void taper_box_clip(const taper_box_rule *rule, int64_t height, int64_t width, float *box)
{
    if (rule->columns == BOX_UPRIGHT) {
        clip_corners(rule->plus, height, width, box);
        return;
    }
    // A box that is rotated by more than clip_angle is unchanged, because there is more than one method to clip such a
    // box.
    if (!(fabsf(box[4]) <= rule->clip_angle)) {
        return;
    }
    const float half_wide = (box[2] - rule->plus) / 2.0f, half_high = (box[3] - rule->plus) / 2.0f;
    float corners[4] = {box[0] - half_wide, box[1] - half_high, box[0] + half_wide, box[1] + half_high};
    clip_corners(rule->plus, height, width, corners);
    box[0] = (corners[0] + corners[2]) / 2.0f;
    box[1] = (corners[1] + corners[3]) / 2.0f;
    box[2] = corners[2] - corners[0] + rule->plus;
    box[3] = corners[3] - corners[1] + rule->plus;
}

bool taper_box_fits(const taper_box_rule *rule, const float *box, float least, float height, float width)
{
    if (rule->columns == BOX_ROTATED) {
        return box[2] >= least && box[3] >= least && box[0] < width && box[1] < height;
    }
    const float wide = box[2] - box[0] + rule->plus, high = box[3] - box[1] + rule->plus;
    return wide >= least && high >= least && box[0] + wide / 2.0f < width && box[1] + high / 2.0f < height;
}

int64_t taper_box_pixels(double size)
{
    const double most = 1 << 30;
    return size > 0.0 ? (int64_t)(size < most ? size : most) : 0; // a NaN gives 0
}

// ---- overlap of boxes

enum { MOST_CORNERS = 16 }; // a rectangle cut by four lines has at most 8 corners

typedef struct point {
    double x, y;
} point;

// Computes the corners in order around the box. Sides are taken as positive. The y axis points down, so a
// counter-clockwise angle is negative.
static void corners_of(const float *box, point corners[4])
{
    static const double sign[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    const double angle = -(double)box[4] * (3.14159265358979323846 / 180.0), c = cos(angle), s = sin(angle);
    const double wide = fabs((double)box[2]), high = fabs((double)box[3]);
    for (int i = 0; i < 4; i++) {
        const double x = sign[i][0] * wide, y = sign[i][1] * high;
        corners[i] = (point){(double)box[0] + x * c - y * s, (double)box[1] + x * s + y * c};
    }
}

// Returns a number that is positive if p is inside the line from a to b, negative if it is outside, and 0 on the line.
static double side_of(point a, point b, point p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// Returns the area that two rotated boxes share. The polygon of `a` is cut by the sides of `b`, one after the other.
static double shared_area(const float *a, const float *b)
{
    point polygon[MOST_CORNERS], next[MOST_CORNERS], cut[4];
    corners_of(a, polygon);
    corners_of(b, cut);
    size_t count = 4;
    for (size_t k = 0; k < 4 && count > 0; k++) {
        const point from = cut[k], to = cut[(k + 1) % 4];
        size_t made = 0;
        for (size_t i = 0; i < count && made + 2 <= MOST_CORNERS; i++) {
            const point p = polygon[i], q = polygon[(i + 1) % count];
            const double sp = side_of(from, to, p), sq = side_of(from, to, q);
            if (sp >= 0.0) {
                next[made++] = p;
            }
            if ((sp > 0.0 && sq < 0.0) || (sp < 0.0 && sq > 0.0)) {
                const double t = sp / (sp - sq);
                next[made++] = (point){p.x + t * (q.x - p.x), p.y + t * (q.y - p.y)};
            }
        }
        memcpy(polygon, next, made * sizeof *next);
        count = made;
    }
    double twice = 0.0;
    for (size_t i = 2; i < count; i++) {
        twice += side_of(polygon[0], polygon[i - 1], polygon[i]);
    }
    return fabs(twice) / 2.0;
}

float taper_box_overlap(const taper_box_rule *rule, const float *a, const float *b)
{
    if (rule->columns == BOX_ROTATED) {
        const float shared = (float)shared_area(a, b);
        return shared / (a[2] * a[3] + b[2] * b[3] - shared);
    }
    const float plus = rule->plus;
    const float wide = least_of(a[2], b[2]) - most_of(a[0], b[0]) + plus;
    const float high = least_of(a[3], b[3]) - most_of(a[1], b[1]) + plus;
    const float shared = most_of(wide, 0.0f) * most_of(high, 0.0f);
    const float area_a = (a[2] - a[0] + plus) * (a[3] - a[1] + plus);
    const float area_b = (b[2] - b[0] + plus) * (b[3] - b[1] + plus);
    return shared / (area_a + area_b - shared);
}

// ---- sorting and suppressing boxes

// Returns true if score a comes after score b. NaN comes last.
static bool comes_after(float a, float b)
{
    return a < b || (a != a && b == b);
}

void taper_box_sort_given(const float *scores, size_t stride, int32_t *order, int32_t *spare, size_t count)
{
    int32_t *from = order, *to = spare;
    for (size_t width = 1; width < count; width *= 2) { // a stable merge sort
        for (size_t first = 0; first < count; first += 2 * width) {
            const size_t middle = taper_min_size(first + width, count), end = taper_min_size(first + 2 * width, count);
            size_t a = first, b = middle;
            for (size_t out = first; out < end; out++) {
                const bool take_b = a >= middle || (b < end && comes_after(scores[(size_t)from[a] * stride],
                                                                           scores[(size_t)from[b] * stride]));
                to[out] = take_b ? from[b++] : from[a++];
            }
        }
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != order) {
        memcpy(order, from, count * sizeof *order);
    }
}

void taper_box_sort(const float *scores, size_t stride, int32_t *order, int32_t *spare, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        order[i] = (int32_t)i;
    }
    taper_box_sort_given(scores, stride, order, spare, count);
}

taper_status taper_box_suppress(const taper_call *call, const taper_box_rule *rule, const float *boxes, size_t stride,
                                float threshold, size_t most, int32_t *order, size_t *count)
{
    size_t left = *count, kept = 0;
    while (left > kept && (most == 0 || kept < most)) {
        const float *best = boxes + (size_t)order[kept++] * stride;
        size_t stay = kept;
        TAPER_TRY(taper_run_spend(call->run, (left - kept) * 10));
        for (size_t i = kept; i < left; i++) {
            // A box whose overlap is NaN is dropped.
            if (taper_box_overlap(rule, best, boxes + (size_t)order[i] * stride) <= threshold) {
                order[stay++] = order[i];
            }
        }
        left = stay;
    }
    *count = kept;
    return TAPER_OK;
}
