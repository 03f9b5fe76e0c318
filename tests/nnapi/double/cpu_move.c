// SPDX-License-Identifier: BSD-2-Clause
// Operations that move elements without changing them.
#include <string.h>

#include "cpu.h"

static void move_element(const tensor *to, size_t at, const tensor *from, size_t where)
{
    const size_t width = type_width(to->type);
    memcpy((char *)to->data + at * width, (const char *)from->data + where * width, width);
}

void run_copy(const call *c)
{
    memcpy(c->out[0].data, c->in[0].data, tensor_count(&c->in[0]) * type_width(c->in[0].type));
}

static bool same_count(call *c)
{
    return tensor_count(&c->in[0]) == tensor_count(&c->out[0]) ||
           refuse(c, "%zu elements cannot become %zu", tensor_count(&c->in[0]), tensor_count(&c->out[0]));
}

bool prepare_reshape(call *c)
{
    const tensor *shape = &c->in[1];
    uint32_t sizes[DOUBLE_RANK];
    size_t known = 1;
    int64_t open = -1;
    if (shape->rank != 1 || shape->sizes[0] > DOUBLE_RANK) {
        return refuse(c, "sizes should be a list");
    }
    for (uint32_t i = 0; i < shape->sizes[0]; i++) {
        const int32_t size = list_int(shape, i);
        if (size < -1 || size == 0 || (size == -1 && open >= 0)) {
            return refuse(c, "size %d", size);
        }
        open = size == -1 ? (int64_t)i : open;
        sizes[i] = size == -1 ? 1 : (uint32_t)size;
        known *= sizes[i];
    }
    if (open >= 0) {
        sizes[open] = (uint32_t)(tensor_count(&c->in[0]) / known);
    }
    set_sizes(&c->out[0], shape->sizes[0], sizes);
    return same_count(c);
}

bool prepare_squeeze(call *c)
{
    const tensor *in = &c->in[0], *list = &c->in[1];
    uint32_t rank = 0, sizes[DOUBLE_RANK];
    const bool all = list->omitted;
    memset(c->axes, 0, sizeof c->axes);
    const size_t count = all ? 0 : tensor_count(list);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t axis;
        if (!find_axis(c, list_int(list, i), in->rank, &axis)) {
            return false;
        }
        if (in->sizes[axis] != 1) {
            return refuse(c, "dimension %u has size %u", axis, in->sizes[axis]);
        }
        c->axes[axis] = true;
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        if (all ? in->sizes[i] != 1 : !c->axes[i]) {
            sizes[rank++] = in->sizes[i];
        }
    }
    if (rank == 0) {
        sizes[rank++] = 1;
    }
    set_sizes(&c->out[0], rank, sizes);
    return same_count(c);
}

bool prepare_expand(call *c)
{
    const tensor *in = &c->in[0];
    uint32_t axis, sizes[DOUBLE_RANK];
    if (in->rank >= DOUBLE_RANK || !find_axis(c, scalar_int(c, 1), in->rank + 1, &axis)) {
        return false;
    }
    for (uint32_t i = 0; i <= in->rank; i++) {
        sizes[i] = i < axis ? in->sizes[i] : i == axis ? 1 : in->sizes[i - 1];
    }
    set_sizes(&c->out[0], in->rank + 1, sizes);
    return true;
}

// ---- selection of elements: offset and steps describe the source of each

static void count_steps(const tensor *t, int64_t *steps)
{
    int64_t step = 1;
    for (uint32_t i = t->rank; i-- > 0; step *= t->sizes[i]) {
        steps[i] = step;
    }
}

void run_gather(const call *c)
{
    const tensor *out = &c->out[0];
    const size_t count = tensor_count(out);
    for (size_t i = 0; i < count; i++) {
        int64_t where = c->offset;
        size_t rest = i;
        for (uint32_t d = out->rank; d-- > 0; rest /= out->sizes[d]) {
            where += (int64_t)(rest % out->sizes[d]) * c->steps[d];
        }
        move_element(out, i, &c->in[0], (size_t)where);
    }
}

bool prepare_transpose(call *c)
{
    const tensor *in = &c->in[0], *order = &c->in[1];
    int64_t steps[DOUBLE_RANK];
    uint32_t sizes[DOUBLE_RANK];
    bool seen[DOUBLE_RANK] = {false};
    if (!order->omitted && (order->rank != 1 || order->sizes[0] != in->rank)) {
        return refuse(c, "an order of %u dimensions", in->rank);
    }
    count_steps(in, steps);
    for (uint32_t i = 0; i < in->rank; i++) {
        const int32_t from = order->omitted ? (int32_t)(in->rank - 1 - i) : list_int(order, i);
        if (from < 0 || (uint32_t)from >= in->rank || seen[from]) {
            return refuse(c, "dimension %d in an order", from);
        }
        seen[from] = true;
        sizes[i] = in->sizes[from];
        c->steps[i] = steps[from];
    }
    c->offset = 0;
    set_sizes(&c->out[0], in->rank, sizes);
    return true;
}

static bool check_list(call *c, uint32_t input, uint32_t rank)
{
    const tensor *list = &c->in[input];
    return (list->rank == 1 && list->sizes[0] == rank) || refuse(c, "input %u should be %u ints", input, rank);
}

// Prepares SLICE. The arguments are x, begins, sizes.
bool prepare_slice(call *c)
{
    const tensor *in = &c->in[0];
    uint32_t sizes[DOUBLE_RANK];
    if (!check_list(c, 1, in->rank) || !check_list(c, 2, in->rank)) {
        return false;
    }
    count_steps(in, c->steps);
    c->offset = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        const int64_t begin = list_int(&c->in[1], i), wanted = list_int(&c->in[2], i);
        const int64_t size = wanted == -1 ? in->sizes[i] - begin : wanted;
        if (begin < 0 || size < 1 || begin + size > in->sizes[i]) {
            return refuse(c, "%lld elements from %lld of %u", (long long)size, (long long)begin, in->sizes[i]);
        }
        sizes[i] = (uint32_t)size;
        c->offset += begin * c->steps[i];
    }
    set_sizes(&c->out[0], in->rank, sizes);
    return true;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

// Prepares STRIDED_SLICE. The arguments are x, begins, ends, steps, masks of begins and ends to ignore, mask of
// dimensions to remove.
bool prepare_strided(call *c)
{
    const tensor *in = &c->in[0];
    int64_t steps[DOUBLE_RANK];
    uint32_t sizes[DOUBLE_RANK], rank = 0;
    if (!check_list(c, 1, in->rank) || !check_list(c, 2, in->rank) || !check_list(c, 3, in->rank)) {
        return false;
    }
    count_steps(in, steps);
    c->offset = 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        const int64_t size = in->sizes[i], step = list_int(&c->in[3], i);
        int64_t begin = list_int(&c->in[1], i), end = list_int(&c->in[2], i);
        if (step == 0) {
            return refuse(c, "a step of 0");
        }
        begin = clamp(begin < 0 ? begin + size : begin, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
        end = clamp(end < 0 ? end + size : end, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
        if ((scalar_int(c, 4) >> i & 1) != 0) {
            begin = step > 0 ? 0 : size - 1;
        }
        if ((scalar_int(c, 5) >> i & 1) != 0) {
            end = step > 0 ? size : -1;
        }
        const bool gone = (scalar_int(c, 6) >> i & 1) != 0;
        end = gone ? begin + (step > 0 ? 1 : -1) : end;
        const int64_t made = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
        if (made < 1 || begin < 0 || begin >= size) {
            return refuse(c, "nothing is left of dimension %u", i);
        }
        c->offset += begin * steps[i];
        if (!gone) {
            c->steps[rank] = steps[i] * step;
            sizes[rank++] = (uint32_t)made;
        }
    }
    if (rank == 0) {
        c->steps[rank] = 0;
        sizes[rank++] = 1;
    }
    set_sizes(&c->out[0], rank, sizes);
    return true;
}

bool prepare_split(call *c)
{
    const tensor *in = &c->in[0];
    const int32_t parts = scalar_int(c, 2);
    uint32_t sizes[DOUBLE_RANK];
    if (!find_axis(c, scalar_int(c, 1), in->rank, &c->axis)) {
        return false;
    }
    if (parts < 1 || (uint32_t)parts != c->out_count || in->sizes[c->axis] % (uint32_t)parts != 0) {
        return refuse(c, "%u split into %d parts, %u results", in->sizes[c->axis], parts, c->out_count);
    }
    memcpy(sizes, in->sizes, sizeof sizes);
    sizes[c->axis] /= (uint32_t)parts;
    for (uint32_t i = 0; i < c->out_count; i++) {
        set_sizes(&c->out[i], in->rank, sizes);
    }
    return true;
}

void run_split(const call *c)
{
    call part = *c;
    int64_t steps[DOUBLE_RANK];
    count_steps(&c->in[0], steps);
    memcpy(part.steps, steps, sizeof steps);
    for (uint32_t i = 0; i < c->out_count; i++) {
        part.out = &c->out[i];
        part.offset = (int64_t)i * c->out[i].sizes[c->axis] * steps[c->axis];
        run_gather(&part);
    }
}

// Prepares DEPTH_TO_SPACE and SPACE_TO_DEPTH. The arguments are x, the side of a block, [nchw]. DEPTH_TO_SPACE makes a
// block of pixels from each pixel's [block, block, channels].
bool prepare_depth(call *c)
{
    const int32_t block = scalar_int(c, 1);
    c->window.nchw = c->in_count > 2 && scalar_bool(c, 2);
    if (c->in[0].rank != 4) {
        return refuse(c, "an image has 4 dimensions, not %u", c->in[0].rank);
    }
    const image in = see_image(&c->in[0], c->window.nchw);
    if (block < 1 || (uint64_t)block * (uint64_t)block > in.channels ||
        in.channels % ((uint32_t)block * (uint32_t)block) != 0) {
        return refuse(c, "blocks of %d by %d of %u channels", block, block, in.channels);
    }
    const uint32_t side = (uint32_t)block;
    set_image(&c->out[0], c->window.nchw, in.batch, in.height * side, in.width * side, in.channels / (side * side));
    return true;
}

void run_depth(const call *c)
{
    const uint32_t side = (uint32_t)scalar_int(c, 1);
    const image in = see_image(&c->in[0], c->window.nchw), out = see_image(&c->out[0], c->window.nchw);
    const size_t count = tensor_count(&c->out[0]);
    for (size_t i = 0; i < count; i++) {
        const size_t o = i % out.channels, x = i / out.channels % out.width;
        const size_t y = i / out.channels / out.width % out.height, n = i / out.channels / out.width / out.height;
        const size_t from = ((y % side) * side + x % side) * out.channels + o;
        move_element(&c->out[0], n * out.step_n + y * out.step_h + x * out.step_w + o * out.step_c, &c->in[0],
                     n * in.step_n + y / side * in.step_h + x / side * in.step_w + from * in.step_c);
    }
}

// Prepares CHANNEL_SHUFFLE. The arguments are x, groups, and the dimension, which changes from [groups, elements] to
// [elements, groups].
bool prepare_shuffle(call *c)
{
    const tensor *in = &c->in[0];
    const int32_t groups = scalar_int(c, 1);
    if (!find_axis(c, scalar_int(c, 2), in->rank, &c->axis)) {
        return false;
    }
    if (groups < 1 || in->sizes[c->axis] % (uint32_t)groups != 0) {
        return refuse(c, "%u in %d groups", in->sizes[c->axis], groups);
    }
    return prepare_like_first(c);
}

void run_shuffle(const call *c)
{
    const tensor *in = &c->in[0];
    const size_t groups = (size_t)scalar_int(c, 1), size = in->sizes[c->axis], count = tensor_count(in);
    size_t inner = 1;
    for (uint32_t i = c->axis + 1; i < in->rank; i++) {
        inner *= in->sizes[i];
    }
    for (size_t i = 0; i < count; i++) {
        const size_t at = i / inner % size, from = at % groups * (size / groups) + at / groups;
        move_element(&c->out[0], i, in, i / (inner * size) * (inner * size) + from * inner + i % inner);
    }
}

// ---- joining and padding

bool prepare_concat(call *c)
{
    const tensor *first = &c->in[0];
    uint32_t sizes[DOUBLE_RANK], total = 0;
    if (!find_axis(c, scalar_int(c, c->in_count - 1), first->rank, &c->axis)) {
        return false;
    }
    for (uint32_t i = 0; i + 1 < c->in_count; i++) {
        bool fits = c->in[i].rank == first->rank;
        for (uint32_t d = 0; fits && d < first->rank; d++) {
            fits = d == c->axis || c->in[i].sizes[d] == first->sizes[d];
        }
        if (!fits) {
            return refuse(c, "input %u cannot be joined to the first at dimension %u", i, c->axis);
        }
        total += c->in[i].sizes[c->axis];
    }
    memcpy(sizes, first->sizes, sizeof sizes);
    sizes[c->axis] = total;
    set_sizes(&c->out[0], first->rank, sizes);
    return true;
}

void run_concat(const call *c)
{
    const tensor *out = &c->out[0];
    size_t inner = 1, at = 0;
    for (uint32_t i = c->axis + 1; i < out->rank; i++) {
        inner *= out->sizes[i];
    }
    const size_t row = inner * out->sizes[c->axis];
    for (uint32_t i = 0; i + 1 < c->in_count; i++) {
        const tensor *in = &c->in[i];
        const size_t part = inner * in->sizes[c->axis], count = tensor_count(in);
        const bool same = in->scale == out->scale && in->zero_point == out->zero_point;
        for (size_t k = 0; k < count; k++) {
            const size_t to = k / part * row + at + k % part;
            if (same) {
                move_element(out, to, in, k);
            } else {
                put_real(out, to, get_real(in, k));
            }
        }
        at += part;
    }
}

// Prepares PAD. The arguments are x, [rank, 2] paddings, the fill value (default 0).
bool prepare_pad(call *c)
{
    const tensor *in = &c->in[0], *pads = &c->in[1];
    uint32_t sizes[DOUBLE_RANK];
    if (pads->rank != 2 || pads->sizes[0] != in->rank || pads->sizes[1] != 2) {
        return refuse(c, "paddings should be %u by 2 ints", in->rank);
    }
    for (uint32_t i = 0; i < in->rank; i++) {
        const int64_t before = list_int(pads, 2 * i), after = list_int(pads, 2 * i + 1);
        if (before < 0 || after < 0 || before + after + in->sizes[i] > INT32_MAX) {
            return refuse(c, "paddings %lld and %lld", (long long)before, (long long)after);
        }
        sizes[i] = (uint32_t)(before + after + in->sizes[i]);
    }
    if (c->in_count == 3 && type_is_quant8(in->type)) {
        int32_t low, high;
        quantized_range(in->type, &low, &high);
        if (scalar_int(c, 2) < low || scalar_int(c, 2) > high) {
            return refuse(c, "a padding with %d", scalar_int(c, 2));
        }
    }
    set_sizes(&c->out[0], in->rank, sizes);
    return true;
}

void run_pad(const call *c)
{
    const tensor *in = &c->in[0], *out = &c->out[0];
    const size_t count = tensor_count(out);
    int64_t steps[DOUBLE_RANK];
    count_steps(in, steps);
    for (size_t i = 0; i < count; i++) {
        int64_t where = 0;
        size_t rest = i;
        bool inside = true;
        for (uint32_t d = out->rank; d-- > 0; rest /= out->sizes[d]) {
            const int64_t at = (int64_t)(rest % out->sizes[d]) - list_int(&c->in[1], 2 * d);
            inside = inside && at >= 0 && at < in->sizes[d];
            where += at * steps[d];
        }
        if (inside) {
            move_element(out, i, in, (size_t)where);
        } else if (type_is_quant8(out->type)) {
            put_quantized(out, i, c->in_count == 3 ? scalar_int(c, 2) : out->zero_point);
        } else {
            put_real(out, i, c->in_count == 3 ? scalar_float(c, 2) : 0.0f);
        }
    }
}
