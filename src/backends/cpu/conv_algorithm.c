// SPDX-License-Identifier: BSD-2-Clause
// Chooses the algorithm of a convolution that is not depthwise: direct products, Winograd's transforms (3x3), or sums
// over planes (few channels, or groups of few channels). The cost of an algorithm, in multiply-adds of a vector, is the
// cost of the products (a strip, the rows that a kernel computes at once, costs as much if it is not full), of the
// transforms, of the copies, and of reading the weights. Weights that exceed the cache come from memory once per run.
#include <math.h>

#include "backends/cpu/conv_strips.h"
#include "backends/cpu/conv_winograd.h"
#include "ops/list/op_features.h"

enum {
    // Smallest number of channels for Winograd's 4x4 tiles; with fewer channels, the rounding error is more than twice
    // the error of direct sums.
    LEAST_CHANNELS_FOUR = 64,
    // Smallest number of channels for Winograd's transforms; with fewer channels, the transforms cost as much as the
    // products that they save.
    LEAST_CHANNELS = 16,
    ROW_OVERHEAD = 2, // each strip of a product loads all weights, which costs as much as ROW_OVERHEAD more rows
};

typedef struct machine {
    double rows, lanes, cache;
} machine;

// Returns the cost of a matrix product with `rows` rows. depth: number of vectors of columns, times the number of
// summands of each result. The weights are read once.
static double product(const machine *m, double rows, double depth, double weights)
{
    const double strips = rows <= m->rows ? 1 : rows / m->rows, bytes = weights * sizeof(float);
    return (rows + ROW_OVERHEAD * strips) * depth + (bytes > m->cache ? bytes / 6 : 0);
}

static double winograd(const taper_conv2d *job, const machine *m, const taper_winograd_entry *entry)
{
    // Measured costs of the transforms (loads, stores and arithmetic), for one tile and one vector of channels: `into`
    // for the inputs, `out_of` for the results. A tile at an edge takes `edge` times as long as a whole tile, although
    // the tile at the edge is smaller.
    const double edge = 1.5;
    const double into = entry->stride == 2 ? 1000 : entry->outputs == 4 ? 360 : 80;
    const double out_of = entry->stride == 2 ? 480 : entry->outputs == 4 ? 250 : 70;
    const size_t side = taper_winograd_side(entry), sets = taper_winograd_sets(entry);
    const double positions = (double)(side * side), channels = (double)job->in_c;
    const taper_winograd_counts count = taper_winograd_count(job, entry);
    const double tiles = count.whole + edge * count.edges;
    const double vectors = (double)job->out_c / m->lanes;
    return positions * product(m, count.rows / positions, channels * vectors, 0) +
           product(m, 0, 0, (double)(sets * sets) * channels * (double)job->out_c) +
           tiles * (into * channels / m->lanes + out_of * vectors);
}

const taper_winograd_entry *taper_conv2d_winograd_choose(const taper_conv2d *job)
{
    const size_t stride = job->stride_h;
    if (job->kernel_h != 3 || job->kernel_w != 3 || job->stride_w != stride || stride > 2 || job->groups != 1 ||
        (stride == 2 && (job->dilation_h != 1 || job->dilation_w != 1)) || job->in_c < LEAST_CHANNELS ||
        job->out_c < LEAST_CHANNELS) {
        return NULL;
    }
    const taper_run *run = job->call->run;
    const taper_gemm_entry *entry = taper_gemm_f32_select(run->cpu);
    const taper_winograd_entry *four = taper_winograd_f32_select(run->cpu, 4, stride);
    const machine m = {.rows = entry->mr, .lanes = four->lanes, .cache = (double)taper_pool_caches(run->pool).l2};
    const double taps = 9 * (double)job->in_c, pixels = (double)(job->batch * job->out_h * job->out_w);
    // The kernel `own` may have half-precision weights, which take half the bytes of float32 weights.
    const taper_gemm_entry *own = taper_conv2d_entry(job, 1);
    const double weights = taps * (double)job->out_c / (own->precision != TAPER_PRECISION_fp32 ? 2 : 1);
    const double direct = product(&m, pixels, taps * (double)job->out_c / m.lanes * taper_gemm_cost(own), weights) *
                          taper_conv_strips_share(job, entry->mr);
    const taper_winograd_entry *best = NULL;
    double least = direct;
    for (size_t outputs = 2; outputs <= 4; outputs += 2) {
        if ((outputs == 2 && stride == 2) || (outputs == 4 && stride == 1 && job->in_c < LEAST_CHANNELS_FOUR)) {
            continue;
        }
        const taper_winograd_entry *way = taper_winograd_f32_select(run->cpu, outputs, stride);
        const double cost = winograd(job, &m, way);
        if (cost < least) {
            least = cost;
            best = way;
        }
    }
    return best;
}

// Returns true if planes cost less than a product over merged groups (several groups in one product), by measured costs
// in multiply-adds of a vector. The product also multiplies the zeros between groups, and some lanes of its vectors
// have no output. A product with a single vector of outputs is limited by the loads of its inputs. Planes use all lanes
// except between rows, but they are transposed twice.
bool taper_conv2d_planar_pays(const taper_conv2d *job)
{
    const taper_run *run = job->call->run;
    const size_t lanes = taper_planar_f32_select(run->cpu)->lanes, merged = taper_conv2d_merged_groups(job);
    const taper_gemm_entry *gemm = taper_conv2d_entry(job, merged);
    if (job->out_c / job->groups >= gemm->nr) { // true if the outputs of one group fill a panel
        return false;
    }
    const double pointer = 2, store = 10, one_vector = 1.2, row_moved = 16, slack = 20;
    // Products over pointers take a fifth longer than this cost model says. conv_stem.c and Winograd's transforms do
    // not use pointers, so `worth` is 1 for them.
    const bool stem = taper_conv2d_is_stem(job),
               transforms = TAPER_HAS_OP(winograd_k3) && taper_conv2d_winograd_choose(job) != NULL;
    const double worth = stem || transforms || (job->groups > 1 && job->stride_w == 1) ? 1 : 1.2;
    const double float_moved = job->stride_w == 1 ? 1.4 : job->stride_w != 2 ? 4 : stem ? 3 : 1.9;
    const double pixels = (double)(job->batch * job->out_h * job->out_w), groups = (double)job->groups;
    const double taps = (double)(job->kernel_h * job->kernel_w);
    const double group_in = (double)(job->in_c / job->groups), group_out = (double)(job->out_c / job->groups);
    const double vectors = ceil(group_out * (double)merged / (double)lanes);
    const double strip = (1 + ROW_OVERHEAD / (double)gemm->mr) * (vectors > 1 ? 1 : one_vector);
    // A product over merged groups multiplies mostly zeros, so omitting taps in the padding saves little.
    const double share = job->groups == 1 ? taper_conv_strips_share(job, gemm->mr) : 1;
    const double product = pixels * groups / (double)merged *
                           (taps * group_in * (double)merged * vectors * strip * taper_gemm_cost(gemm) * share +
                            pointer * taps + store * vectors);
    const double pitch = (double)(job->out_w + (job->kernel_w - 1) * job->dilation_w / job->stride_w);
    // The input has one plane for each channel and each phase of the strides (stride_h * stride_w phases). The estimate
    // includes the padding rows of every plane, and the floats after each plane that kernels may read (slack).
    const double phases = (double)(job->stride_h * job->stride_w),
                 in_planes = (double)(job->batch * job->in_c) * phases;
    const double rows = in_planes * (double)(job->out_h + (job->kernel_h - 1) * job->dilation_h / job->stride_h) +
                        (double)(job->out_c * job->out_h * job->batch);
    const double floats = (double)(job->batch * job->in_c * job->in_h * job->in_w) + pixels * (double)job->out_c;
    // With short vectors, each loaded weight is used for fewer products than with long vectors, so loads cost more.
    const double loads = lanes <= 4 ? 1.3 : 1;
    // The kernel computes at least two vectors of output pixels at a time; a single vector costs as much as two.
    const double pairs = ceil((double)job->out_h * pitch / (double)(2 * lanes)) * (double)job->batch;
    const double planes = 2 * pairs * groups * taps * group_in * group_out * loads;
    return planes + float_moved * floats + row_moved * rows + slack * in_planes < worth * product;
}

bool taper_conv2d_lines_pay(const taper_conv2d *job)
{
    const double store = 10, float_moved = 1.4;
    const taper_run *run = job->call->run;
    const taper_planar_entry *planar = taper_planar_f32_select(run->cpu);
    const size_t merged = taper_conv2d_merged_groups(job);
    const taper_gemm_entry *gemm = taper_conv2d_entry(job, merged);
    const double lanes = planar->lanes, groups = (double)job->groups, together = (double)merged;
    const double inputs = (double)(job->in_c / job->groups), outputs = (double)(job->out_c / job->groups);
    const double vectors = ceil(outputs * together / lanes);
    const double pixels = (double)job->batch * (double)job->out_w;
    const double strip = 1 + ROW_OVERHEAD / (double)gemm->mr;
    const double product = pixels * groups *
                           ((inputs * together * vectors * strip * taper_gemm_cost(gemm) + store * vectors) / together +
                            float_moved * (inputs + outputs));
    const double blocks = ceil(outputs / planar->block); // number of blocks of outputs, each of which loads all inputs
    const double lines = (double)job->batch * ceil((double)job->out_w / lanes) * groups * inputs * (outputs + blocks);
    return lines < product;
}
