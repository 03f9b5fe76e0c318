// SPDX-License-Identifier: BSD-2-Clause
// torchvision::box_iou_rotated: the intersection over union of rotated rectangles. A rectangle is given by its centre,
// width, height and angle in degrees.
#include <math.h>

#include "ops/call/call.h"
#include "ops/engine/volume.h"

enum { CORNERS = 4, MOST_CORNERS = 2 * CORNERS };

typedef struct point {
    double x, y;
} point;

typedef struct turned_box {
    point at[CORNERS];
    double area;
} turned_box;

// Reads a box and computes its corners relative to `around`. The corners are in order, turning from the x axis towards
// the y axis, so that side() is positive inside the box.
static turned_box read_box(const taper_tensor *boxes, int64_t row, point around)
{
    double v[5];
    for (int64_t k = 0; k < 5; k++) {
        v[k] = taper_number_load((taper_dtype)boxes->dtype, taper_tensor_data(boxes),
                                 row * boxes->strides[0] + k * boxes->strides[1]);
    }
    const double angle = v[4] * (3.14159265358979323846 / 180.0), c = cos(angle) / 2.0, s = sin(angle) / 2.0;
    turned_box box = {.area = v[2] * v[3]};
    static const int8_t sides[CORNERS][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
    for (int i = 0; i < CORNERS; i++) {
        const double w = v[2] * sides[i][0], h = v[3] * sides[i][1];
        box.at[i] = (point){v[0] - around.x + c * w + s * h, v[1] - around.y - s * w + c * h};
    }
    return box;
}

// Returns a positive number if p is on the inner side of the line from a to b, a negative number if p is on the outer
// side, and 0 on the line.
static double side(point a, point b, point p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

// Clips the polygon to the inner side of the line from a to b. Returns the number of corners that remain, which is at
// most count + 1.
static int clip(const point *from, int count, point a, point b, point *to)
{
    int made = 0;
    for (int i = 0; i < count; i++) {
        const point p = from[i], q = from[i + 1 < count ? i + 1 : 0];
        const double at_p = side(a, b, p), at_q = side(a, b, q);
        if (at_p >= 0 && made < MOST_CORNERS) {
            to[made++] = p;
        }
        if ((at_p > 0) != (at_q > 0) && at_p != 0 && at_q != 0 && made < MOST_CORNERS) {
            const double part = at_p / (at_p - at_q);
            to[made++] = (point){p.x + part * (q.x - p.x), p.y + part * (q.y - p.y)};
        }
    }
    return made;
}

static double shared_area(const turned_box *a, const turned_box *b)
{
    point polygons[2][MOST_CORNERS], *polygon = polygons[0], *next = polygons[1];
    int count = CORNERS;
    memcpy(polygon, a->at, sizeof a->at);
    for (int i = 0; i < CORNERS && count > 0; i++) {
        count = clip(polygon, count, b->at[i], b->at[(i + 1) % CORNERS], next);
        point *const swap = polygon;
        polygon = next;
        next = swap;
    }
    double twice = 0.0;
    for (int i = 1; i + 1 < count; i++) {
        twice += side(polygon[0], polygon[i], polygon[i + 1]);
    }
    return twice / 2.0;
}

TAPER_KERNEL(taper_op_box_iou_rotated)
{
    enum { WORK = 400 }; // work of one pair of boxes, in nanoseconds
    taper_error *error = call->run->error;
    taper_tensor *boxes[2], *y;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_arg_tensor(call, i, &boxes[i]));
        if (boxes[i]->rank != 2 || boxes[i]->sizes[1] != 5) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "boxes%zu should have the sizes N, 5", i + 1);
        }
        if ((boxes[i]->dtype != TAPER_F32 && boxes[i]->dtype != TAPER_F64) || boxes[i]->dtype != boxes[0]->dtype) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "boxes1 and boxes2 should be of one dtype, float32 or float64");
        }
    }
    const int64_t sizes[] = {boxes[0]->sizes[0], boxes[1]->sizes[0]};
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 2, sizes, NULL, &y));
    for (int64_t i = 0; i < sizes[0]; i++) {
        for (int64_t j = 0; j < sizes[1] && taper_run_goes_on(call->run, WORK); j++) {
            // Corners are relative to the first box's centre, so that boxes far from the origin keep their precision.
            point around;
            const char *data = taper_tensor_data(boxes[0]);
            around.x = taper_number_load((taper_dtype)boxes[0]->dtype, data, i * boxes[0]->strides[0]);
            around.y =
                taper_number_load((taper_dtype)boxes[0]->dtype, data, i * boxes[0]->strides[0] + boxes[0]->strides[1]);
            const turned_box a = read_box(boxes[0], i, around), b = read_box(boxes[1], j, around);
            const double shared = a.area < 1e-14 || b.area < 1e-14 ? 0.0 : shared_area(&a, &b);
            const double iou = shared > 0.0 ? shared / (a.area + b.area - shared) : 0.0;
            ((float *)taper_tensor_mutable(y))[i * y->strides[0] + j * y->strides[1]] = (float)iou;
        }
    }
    return TAPER_OK;
}
