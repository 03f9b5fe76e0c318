// SPDX-License-Identifier: BSD-2-Clause
// Divides output pixels into strips, see conv_strips.h. Tap k of an axis reads inside the input for outputs in [padding
// - k * dilation, size + padding - k * dilation), so ranges begin and end at these outputs.
#include "backends/cpu/conv_strips.h"

enum {
    STRIP_OVERHEAD = 2, // each strip loads all weights, which costs as much as STRIP_OVERHEAD more pixels
    LEAST_IMAGES = 4,   // smallest number of images in a strip across images
    MOST_WIDE = 64,     // longest axis for which every output is examined
    // largest number of taps along an axis for which an image is divided into regions; the table of regions has room
    // for three ranges per axis
    MOST_TAPS = 7,
};

// Strips across images are chosen only if they cost less than this factor times the cost of other strips, because the
// pixels of such a strip are further apart in memory than consecutive pixels.
static const double WORTH = 0.94;

typedef struct range {
    size_t first, end, taps; // outputs [first, end); number of taps that are inside the input for these outputs
} range;

typedef struct axis {
    size_t in, out, kernel, dilation, stride;
    int64_t padding;
} axis;

static axis axis_of(const taper_conv2d *job, bool down)
{
    return down ? (axis){job->in_h, job->out_h, job->kernel_h, job->dilation_h, job->stride_h, job->pad_top}
                : (axis){job->in_w, job->out_w, job->kernel_w, job->dilation_w, job->stride_w, job->pad_left};
}

static bool is_inside(const axis *a, size_t out, size_t tap)
{
    const int64_t at = (int64_t)(out * a->stride + tap * a->dilation) - a->padding;
    return at >= 0 && at < (int64_t)a->in;
}

// Returns the first output after `out` at which a tap enters or leaves the input.
static size_t next_change(const axis *a, size_t out)
{
    int64_t next = (int64_t)a->out;
    for (size_t tap = 0; tap < a->kernel; tap++) {
        const int64_t enters = a->padding - (int64_t)(tap * a->dilation), leaves = enters + (int64_t)a->in;
        next = enters > (int64_t)out && enters < next ? enters : next;
        next = leaves > (int64_t)out && leaves < next ? leaves : next;
    }
    return (size_t)next;
}

// Fills the ranges and returns their number. If there are too many ranges, returns one more than the table can contain.
static size_t ranges_of(const axis *a, range *ranges)
{
    size_t count = 0;
    for (size_t out = 0; out < a->out; count++) {
        if (count == TAPER_CONV_RANGES) {
            return count + 1;
        }
        range *r = &ranges[count];
        *r = (range){.first = out, .end = next_change(a, out)};
        for (size_t tap = 0; tap < a->kernel; tap++) {
            r->taps += is_inside(a, out, tap);
        }
        out = r->end;
    }
    return count;
}

static double cost_of(double pixels, double strips, double taps)
{
    return (pixels + STRIP_OVERHEAD * strips) * taps;
}

// Returns the approximate cost of an image that is divided into strips of consecutive pixels. If `joined` is set, a
// strip of a narrow image continues in the next row. A tap counts for a part of a row if it is inside the input for at
// least one pixel of that part.
static double plain_cost(const axis *down, const axis *across, size_t mr, bool joined)
{
    // Number of strips that a part of a row needs: 1, or less than 1 if a strip continues in the next row.
    const double strips = joined && across->out < mr ? (double)across->out / (double)mr : 1;
    const size_t parts = (across->out - 1) / mr + 1;
    // rows: number of pairs of a row and a tap that is inside the input. columns: sum of the costs of all parts of a
    // row, each multiplied by the number of taps that are inside the input for at least one pixel of the part.
    double rows = 0, columns = 0;
    for (size_t y = 0; y < down->out; y++) {
        for (size_t tap = 0; tap < down->kernel; tap++) {
            rows += is_inside(down, y, tap);
        }
    }
    for (size_t part = 0; part < parts; part++) {
        const size_t first = across->out * part / parts, end = across->out * (part + 1) / parts;
        for (size_t tap = 0; tap < across->kernel; tap++) {
            bool any = false;
            for (size_t x = first; x < end && !any; x++) {
                any = is_inside(across, x, tap);
            }
            columns += any ? cost_of((double)(end - first), strips, 1) : 0;
        }
    }
    return rows * columns;
}

// Returns the cost of the image if it is divided into regions (conv_strips.h). Writes the regions to `strips` unless
// `strips` is NULL.
static double region_cost(const range *down, size_t down_count, const range *across, size_t across_count, size_t mr,
                          taper_conv_strips *strips)
{
    double cost = 0;
    size_t total = 0, region = 0;
    for (size_t i = 0; i < down_count; i++) {
        for (size_t j = 0; j < across_count; j++, region++) {
            const size_t h = down[i].end - down[i].first, w = across[j].end - across[j].first;
            const bool columns = h > w;
            const size_t length = columns ? h : w, lines = columns ? w : h, parts = (length - 1) / mr + 1;
            cost += cost_of((double)(h * w), (double)(lines * parts), (double)(down[i].taps * across[j].taps));
            if (strips != NULL) {
                strips->regions[region] = (taper_conv_region){.first = (uint32_t)total,
                                                              .y = (uint32_t)down[i].first,
                                                              .x = (uint32_t)across[j].first,
                                                              .length = (uint32_t)length,
                                                              .parts = (uint32_t)parts,
                                                              .down = columns};
            }
            total += lines * parts;
        }
    }
    if (strips != NULL) {
        strips->per_image = total;
        strips->region_count = region;
    }
    return cost;
}

static bool has_ranges(const taper_conv2d *job)
{
    return job->stride_h == 1 && job->stride_w == 1 && job->kernel_h <= MOST_TAPS && job->kernel_w <= MOST_TAPS &&
           job->kernel_h * job->kernel_w > 1 && (job->dilation_h > 1 || job->dilation_w > 1) &&
           job->out_h <= UINT16_MAX && job->out_w <= UINT16_MAX;
}

// Returns the cost of strips across images, where no tap in the padding is multiplied. The caller has checked that the
// images are small.
static double images_cost(const axis *down, const axis *across, size_t batch, size_t mr)
{
    double rows = 0, columns = 0;
    for (size_t y = 0; y < down->out; y++) {
        for (size_t tap = 0; tap < down->kernel; tap++) {
            rows += is_inside(down, y, tap);
        }
    }
    for (size_t x = 0; x < across->out; x++) {
        for (size_t tap = 0; tap < across->kernel; tap++) {
            columns += is_inside(across, x, tap);
        }
    }
    return cost_of((double)batch, (double)((batch - 1) / mr + 1), rows * columns) / (double)batch;
}

// Returns true if strips that are parts of columns, or strips across images, cost clearly less than *cost. Then *cost
// receives the lower cost, and `strips` the better strips unless `strips` is NULL.
static bool cut_evenly(const taper_conv2d *job, const axis *down, const axis *across, size_t mr,
                       taper_conv_strips *strips, double *cost)
{
    const double columns = job->kernel_w > 1 && job->out_w <= MOST_WIDE ? plain_cost(across, down, mr, false) : *cost;
    const bool many = job->batch >= LEAST_IMAGES && job->kernel_h * job->kernel_w > 1 && job->out_h <= MOST_WIDE &&
                      job->out_w <= MOST_WIDE;
    const double images = many ? images_cost(down, across, job->batch, mr) : *cost;
    const bool by_images = images <= columns;
    const double least = by_images ? images : columns;
    if (least >= WORTH * *cost) {
        return false;
    }
    *cost = least;
    if (strips != NULL) {
        strips->way = by_images ? TAPER_CONV_IMAGES : TAPER_CONV_DOWN;
        strips->parts = ((by_images ? job->batch : job->out_h) - 1) / mr + 1;
        strips->per_image = job->out_w * strips->parts * (by_images ? job->out_h : 1);
    }
    return true;
}

// Finds the best strips. Returns false if they cost no less than strips of consecutive pixels. *cost receives the
// lowest cost.
static bool cut(const taper_conv2d *job, size_t mr, taper_conv_strips *strips, double *cost)
{
    range down[TAPER_CONV_RANGES], across[TAPER_CONV_RANGES];
    const axis y = axis_of(job, true), x = axis_of(job, false);
    const size_t rows = has_ranges(job) ? ranges_of(&y, down) : 0, columns = rows != 0 ? ranges_of(&x, across) : 0;
    *cost = plain_cost(&y, &x, mr, true);
    const bool evenly = cut_evenly(job, &y, &x, mr, strips, cost);
    if (columns == 0 || rows > TAPER_CONV_RANGES || columns > TAPER_CONV_RANGES ||
        region_cost(down, rows, across, columns, mr, NULL) >= *cost) {
        return evenly;
    }
    *cost = region_cost(down, rows, across, columns, mr, strips);
    if (strips != NULL) {
        strips->parts = 0;
    }
    return true;
}

bool taper_conv_strips_make(const taper_conv2d *job, size_t mr, taper_conv_strips *strips)
{
    double cost;
    *strips = (taper_conv_strips){.count = 0};
    const bool are_cut = cut(job, mr, strips, &cost);
    const bool all = strips->parts != 0 && strips->way == TAPER_CONV_IMAGES;
    return are_cut && taper_mul_size(strips->per_image, all ? 1 : job->batch, &strips->count);
}

double taper_conv_strips_share(const taper_conv2d *job, size_t mr)
{
    double cost;
    (void)cut(job, mr, NULL, &cost);
    const size_t strips = job->out_h * ((job->out_w - 1) / mr + 1);
    return cost / cost_of((double)(job->out_h * job->out_w), (double)strips, (double)(job->kernel_h * job->kernel_w));
}

taper_conv_strip taper_conv_strip_at(const taper_conv_strips *strips, const taper_conv2d *job, size_t index)
{
    if (strips->parts != 0) {
        const bool images = strips->way == TAPER_CONV_IMAGES;
        const size_t plane = job->out_h * job->out_w, all = images ? job->batch : job->out_h;
        const size_t part = index % strips->parts, line = index / strips->parts;
        const size_t first = all * part / strips->parts, count = all * (part + 1) / strips->parts - first;
        // A line is one pixel of all images, or a column of one image.
        const size_t pixel =
            images ? first * plane + line : line / job->out_w * plane + first * job->out_w + line % job->out_w;
        return (taper_conv_strip){
            .pixel = pixel, .count = count, .step = images ? plane : job->out_w, .way = strips->way};
    }
    const size_t image = index / strips->per_image, own = index % strips->per_image;
    const taper_conv_region *r = &strips->regions[strips->region_count - 1];
    while (r->first > own) {
        r--;
    }
    const size_t line = (own - r->first) / r->parts, part = (own - r->first) % r->parts;
    const size_t first = (size_t)r->length * part / r->parts, end = (size_t)r->length * (part + 1) / r->parts;
    const size_t y = r->y + (r->down ? first : line), x = r->x + (r->down ? line : first);
    return (taper_conv_strip){.pixel = (image * job->out_h + y) * job->out_w + x,
                              .count = end - first,
                              .step = r->down ? job->out_w : 1,
                              .way = r->down ? TAPER_CONV_DOWN : TAPER_CONV_ALONG};
}
