// SPDX-License-Identifier: BSD-2-Clause
// index and index_put with tensors: masks, several index tensors that broadcast, and dimensions without an index
// between them. A plan turns the index tensors into one list of offsets. For each offset the block of elements along
// the dimensions without an index is moved.
#include "ir/tensor.h"
#include "ops/engine/matmul.h"
#include "ops/list/shared_kernels.h"
#include "ops/tensor/gather_rows.h"
#include "ops/tensor/index_fill.h"

typedef struct index_plan {
    taper_view self; // self with the indexed dimensions adjacent; indexed dimensions that were not adjacent come first
    size_t before;   // number of dimensions without an index before the indexed ones
    size_t indexed;  // number of indexed dimensions
    size_t index_rank; // rank of the broadcast index tensors
    int64_t index_sizes[TAPER_MAX_RANK];
    taper_tensor *indices[TAPER_MAX_RANK]; // index tensor of dimension i, or NULL; owned
    int64_t count;                         // number of positions that are indexed
    taper_tensor *offsets;                 // offset of each position, int64[count], in elements of self; owned
    taper_view result;                     // sizes and strides of the result, as PyTorch chooses them
    size_t numbers;                        // number of masks without dimensions, which index no dimension
    bool nothing;                          // true if a mask without dimensions is false, so nothing is selected
} index_plan;

static void drop_plan(index_plan *plan)
{
    for (size_t d = 0; d < TAPER_MAX_RANK; d++) {
        taper_tensor_drop(plan->indices[d]);
    }
    taper_tensor_drop(plan->offsets);
}

static bool is_mask(const taper_tensor *x)
{
    return x->dtype == TAPER_BOOL || x->dtype == TAPER_U8;
}

// Expands a mask of k dimensions to k index tensors: the columns of its nonzero positions.
static taper_status expand_mask(taper_run *run, const taper_tensor *self, const taper_tensor *mask, size_t at,
                                size_t item, index_plan *plan)
{
    for (size_t d = 0; d < mask->rank; d++) {
        if (mask->sizes[d] != self->sizes[at + d]) {
            return taper_fail(
                run->error, TAPER_ERROR_ARGUMENT,
                "The shape of the mask %s at index %zu does not match the shape of the indexed tensor %s at index %zu",
                taper_sizes_print(mask->rank, mask->sizes).text, item, taper_sizes_print(self->rank, self->sizes).text,
                at + d);
        }
    }
    taper_tensor *positions;
    TAPER_TRY(taper_index_nonzero(run, mask, &positions));
    taper_status status = TAPER_OK;
    for (size_t d = 0; d < mask->rank && status == TAPER_OK; d++) {
        const taper_view column = {
            .rank = 1, .offset = (int64_t)d * positions->sizes[0], .sizes = {positions->sizes[0]}, .strides = {1}};
        status = taper_view_make(run, positions, &column, &plan->indices[at + d]);
    }
    taper_tensor_drop(positions);
    return status;
}

// Reads the index tensors, one per dimension. The entry is NULL for a dimension without an index.
static taper_status collect(taper_call *call, const taper_tensor *self, index_plan *plan)
{
    taper_run *run = call->run;
    taper_list *list;
    TAPER_TRY(taper_arg_list(call, 1, &list));
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        taper_tensor *x;
        TAPER_TRY(taper_arg_tensor_item(call, 1, i, true, &x));
        const size_t takes = x == NULL || !is_mask(x) ? 1 : x->rank, all = taper_max_size(at + takes, list->count);
        if (all > self->rank) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT, "too many indices for tensor of dimension %u (got %zu)",
                              (unsigned)self->rank, all);
        }
        if (x == NULL) {
            at++;
            continue;
        }
        if (is_mask(x)) {
            TAPER_TRY(expand_mask(run, self, x, at, i, plan));
            plan->numbers += x->rank == 0;
            plan->nothing |= x->rank == 0 && !taper_element_is_nonzero((taper_dtype)x->dtype, taper_tensor_data(x));
        } else if (x->dtype == TAPER_I64) {
            taper_obj_retain(&x->head);
            plan->indices[at] = x;
        } else if (x->dtype == TAPER_I32) { // int32 indices are accepted since PyTorch 2
            TAPER_TRY(taper_tensor_cast(run, x, TAPER_I64, &plan->indices[at]));
        } else {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                              "tensors used as indices must be long, byte or bool tensors");
        }
        at += takes;
    }
    return TAPER_OK;
}

static taper_status broadcast_indices(taper_run *run, index_plan *plan, size_t rank)
{
    for (size_t d = 0; d < rank; d++) {
        const taper_tensor *x = plan->indices[d];
        if (x != NULL && !taper_broadcast_sizes(&plan->index_rank, plan->index_sizes, x->rank, x->sizes)) {
            return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                              "shape mismatch: indexing tensors could not be broadcast together with shapes %s, %s",
                              taper_sizes_print(plan->index_rank, plan->index_sizes).text,
                              taper_sizes_print(x->rank, x->sizes).text);
        }
    }
    plan->count = 1;
    for (size_t d = 0; d < plan->index_rank; d++) {
        if (!taper_mul_i64(plan->count, plan->index_sizes[d], &plan->count)) {
            return taper_fail(run->error, TAPER_ERROR_RESOURCE, "indices: too many");
        }
    }
    for (size_t d = 0; d < rank; d++) {
        if (plan->indices[d] == NULL) {
            continue;
        }
        taper_tensor *wide;
        TAPER_TRY(taper_expand(run, plan->indices[d], plan->index_rank, plan->index_sizes, &wide));
        taper_tensor_drop(plan->indices[d]);
        plan->indices[d] = wide;
    }
    return TAPER_OK;
}

// Orders the dimensions and the indices so that the indexed dimensions are adjacent.
static void arrange(const taper_tensor *self, index_plan *plan)
{
    size_t first = self->rank, last = 0;
    taper_view_of(self, &plan->self);
    for (size_t d = 0; d < self->rank; d++) {
        if (plan->indices[d] != NULL) {
            first = first == self->rank ? d : first;
            last = d;
            plan->indexed++;
        }
    }
    plan->before = plan->indexed == 0 ? 0 : first;
    if (plan->indexed > 0 && last - first + 1 != plan->indexed) {
        taper_tensor *moved[TAPER_MAX_RANK] = {NULL};
        size_t at = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (size_t d = 0; d < self->rank; d++) {
                if ((plan->indices[d] != NULL) == (pass == 0)) {
                    moved[at] = plan->indices[d];
                    plan->self.sizes[at] = self->sizes[d];
                    plan->self.strides[at++] = self->strides[d];
                }
            }
        }
        memcpy(plan->indices, moved, sizeof moved);
        plan->before = 0;
    }
}

static taper_status make_offsets(taper_run *run, index_plan *plan)
{
    TAPER_TRY(taper_index_scratch(run, plan->count, &plan->offsets));
    int64_t *offsets = taper_tensor_mutable(plan->offsets);
    TAPER_TRY(taper_run_memset(run, offsets, 0, (size_t)plan->count * sizeof *offsets));
    bool empty = false; // for an empty tensor nothing is read, and strides may be any
    for (size_t d = 0; d < plan->self.rank; d++) {
        empty = empty || plan->self.sizes[d] == 0;
    }
    for (size_t i = 0; i < plan->indexed; i++) {
        const size_t d = plan->before + i;
        const taper_tensor *index = plan->indices[d];
        const int64_t size = plan->self.sizes[d], stride = empty || size == 1 ? 0 : plan->self.strides[d];
        const int64_t *data = taper_tensor_data(index);
        // Computes the offsets line by line.
        const size_t lead = plan->index_rank == 0 ? 0 : plan->index_rank - 1u;
        const int64_t length = plan->index_rank == 0 ? 1 : plan->index_sizes[lead];
        const int64_t step = plan->index_rank == 0 ? 0 : index->strides[lead];
        taper_index_walk walk;
        taper_index_walk_start(&walk, run, lead, plan->index_sizes);
        taper_index_walk_add(&walk, index->strides);
        int64_t *to = offsets;
        for (int64_t line = 0; line < walk.count && length != 0; line++, taper_index_walk_next(&walk)) {
            const int64_t *const values = data + walk.walk.at[0];
            for (int64_t k = 0; k < length && taper_run_step(run, k, 3); k++, to++) {
                const int64_t value = values[k * step];
                if (value < -size || value >= size) {
                    return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                                      "index %lld is out of bounds for dimension %zu with size %lld", (long long)value,
                                      i, (long long)size);
                }
                *to += (value < 0 ? value + size : value) * stride;
            }
        }
    }
    return TAPER_OK;
}

// Returns -1 if dimension a of the result belongs inside dimension b by the operands' strides, 1 if it belongs outside,
// and 0 if the strides do not decide. PyTorch iterates in this order, which decides the result's strides.
static int order_of(const index_plan *plan, const int64_t *source, const int64_t (*indices)[TAPER_MAX_RANK], size_t a,
                    size_t b)
{
    for (size_t i = 0; i <= plan->indexed; i++) {
        const int64_t *strides = i == 0 ? source : indices[i - 1];
        if (strides[a] == 0 || strides[b] == 0) {
            continue;
        }
        if (strides[a] != strides[b]) {
            return strides[a] < strides[b] ? -1 : 1;
        }
        if (plan->result.sizes[a] > plan->result.sizes[b]) {
            return 1;
        }
    }
    return 0;
}

// Computes the strides of an index tensor along the result's dimensions, after PyTorch's reshape.
static void index_strides(const index_plan *plan, const taper_tensor *index, int64_t *strides)
{
    const taper_view *r = &plan->result;
    int64_t shape[TAPER_MAX_RANK];
    for (size_t d = 0; d < r->rank; d++) {
        shape[d] = d >= plan->before && d < plan->before + plan->index_rank ? r->sizes[d] : 1;
    }
    if (!taper_shape_strides(index, r->rank, shape, strides)) {
        taper_strides_contiguous(r->rank, shape, strides);
    }
    for (size_t d = 0; d < r->rank; d++) {
        strides[d] = shape[d] == 1 && r->sizes[d] != 1 ? 0 : strides[d];
    }
}

static taper_status shape_result(taper_run *run, index_plan *plan)
{
    taper_view *r = &plan->result;
    int64_t source[TAPER_MAX_RANK], indices[TAPER_MAX_RANK][TAPER_MAX_RANK] = {{0}};
    r->rank = plan->self.rank - plan->indexed + plan->index_rank;
    if (r->rank > TAPER_MAX_RANK) {
        return taper_rank_refused(run->error);
    }
    for (size_t d = 0; d < r->rank; d++) {
        const bool in_front = d < plan->before;
        if (in_front || d >= plan->before + plan->index_rank) {
            const size_t from = in_front ? d : d - plan->index_rank + plan->indexed;
            r->sizes[d] = plan->self.sizes[from];
            source[d] = plan->self.strides[from];
            continue;
        }
        source[d] = 0;
        r->sizes[d] = plan->index_sizes[d - plan->before];
    }
    for (size_t i = 0; i < plan->indexed; i++) {
        index_strides(plan, plan->indices[plan->before + i], indices[i]);
    }
    size_t order[TAPER_MAX_RANK];
    for (size_t i = 0; i < r->rank; i++) {
        order[i] = r->rank - 1 - i;
    }
    for (size_t i = 1; i < r->rank; i++) {
        size_t moving = i;
        for (size_t j = i; j-- > 0;) {
            const int c = order_of(plan, source, (const int64_t(*)[TAPER_MAX_RANK])indices, order[j], order[moving]);
            if (c > 0) {
                const size_t swap = order[j];
                order[j] = order[moving];
                order[moving] = swap;
                moving = j;
            } else if (c < 0) {
                break;
            }
        }
    }
    int64_t stride = 1;
    for (size_t i = 0; i < r->rank; i++) {
        r->strides[order[i]] = stride;
        stride = taper_wrap_mul(stride, taper_max_i64(r->sizes[order[i]], 1));
    }
    return TAPER_OK;
}

// Makes the plan. If `alone` is set, masks without dimensions may be the only indices. If self has no elements, such
// masks select nothing.
static taper_status make_plan(taper_call *call, const taper_tensor *self, bool alone, index_plan *plan)
{
    taper_run *run = call->run;
    *plan = (index_plan){.before = 0};
    taper_status status = collect(call, self, plan);
    if (status == TAPER_OK) {
        status = broadcast_indices(run, plan, self->rank);
    }
    if (status == TAPER_OK) {
        arrange(self, plan);
        if (plan->indexed == 0 && plan->numbers != 0 && !alone && taper_tensor_numel(self) != 0) {
            status = taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                                "indices: masks without dimensions need another index, or one number to assign");
        }
        for (size_t d = 0; d < plan->indexed; d++) {
            if (plan->self.sizes[plan->before + d] == 0 && plan->count != 0) {
                status =
                    taper_fail(run->error, TAPER_ERROR_ARGUMENT, "index is out of bounds for dimension with size 0");
            }
        }
    }
    if (status == TAPER_OK) {
        status = shape_result(run, plan);
    }
    if (status == TAPER_OK) {
        status = make_offsets(run, plan);
    }
    if (status != TAPER_OK) {
        drop_plan(plan);
    }
    return status;
}

// The block of elements at one position: its sizes, and its strides in self and in a tensor with the result's shape.
typedef struct block {
    size_t rank;
    int64_t count;
    int64_t sizes[TAPER_MAX_RANK], self[TAPER_MAX_RANK], other[TAPER_MAX_RANK];
} block;

static block block_of(const index_plan *plan, const int64_t *result_strides)
{
    block b = {.count = 1};
    for (size_t d = 0; d < plan->self.rank; d++) {
        if (d >= plan->before && d < plan->before + plan->indexed) {
            continue;
        }
        b.sizes[b.rank] = plan->self.sizes[d];
        const bool stepped = b.sizes[b.rank] > 1;
        b.self[b.rank] = stepped ? plan->self.strides[d] : 0;
        b.other[b.rank] = stepped ? result_strides[d < plan->before ? d : d - plan->indexed + plan->index_rank] : 0;
        b.count = taper_wrap_mul(b.count, b.sizes[b.rank]);
        b.rank++;
    }
    return b;
}

static bool is_run(const block *b) // returns true if the block is contiguous in both tensors
{
    int64_t stride = 1;
    for (size_t d = b->rank; d-- > 0;) {
        if (b->sizes[d] != 1 && (b->self[d] != stride || b->other[d] != stride)) {
            return false;
        }
        stride *= b->sizes[d];
    }
    return true;
}

#include "ops/tensor/index_advanced_lines.h"

TAPER_KERNEL(taper_op_index)
{
    taper_run *run = call->run;
    taper_tensor *self, *result;
    index_plan plan;
    size_t item;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_move_item(self, &item, run->error));
    TAPER_TRY(make_plan(call, self, false, &plan));
    taper_status status = taper_tensor_like(run->heap, self, plan.result.rank, plan.result.sizes, plan.result.strides,
                                            &result, run->error);
    if (status != TAPER_OK) {
        drop_plan(&plan);
        return status;
    }
    const block b = block_of(&plan, result->strides);
    if (gather_lines(run, &plan, &b, self, item, result, &status)) {
        drop_plan(&plan);
        if (status != TAPER_OK) {
            taper_tensor_drop(result);
            return status;
        }
        return taper_ret_tensor(call, 0, result);
    }
    const int64_t *offsets = taper_tensor_data(plan.offsets);
    const char *from = taper_tensor_data(self);
    char *to = taper_tensor_mutable(result);
    // Each offset has a block of one element, and the elements are in order.
    if (b.rank == 0 && item == sizeof(float) && taper_tensor_is_contiguous(result)) {
        const uint32_t *const elements = (const uint32_t *)(const void *)from;
        uint32_t *const out = (uint32_t *)(void *)to;
        for (int64_t k = 0; k < plan.count && taper_run_step(run, k, 2); k++) {
            out[k] = elements[offsets[k]];
        }
        drop_plan(&plan);
        return taper_ret_tensor(call, 0, result);
    }
    taper_index_walk walk;
    taper_index_walk_start(&walk, run, plan.index_rank, plan.index_sizes);
    taper_index_walk_add(&walk, result->strides + plan.before);
    const bool runs = is_run(&b);
    for (int64_t k = 0; b.count > 0 && k < walk.count; k++, taper_index_walk_next(&walk)) {
        char *t = to + walk.walk.at[0] * (int64_t)item;
        const char *f = from + offsets[k] * (int64_t)item;
        if (runs && (b.count <= 16 || taper_run_goes_on(run, (uint64_t)b.count))) {
            memcpy(t, f, (size_t)b.count * item);
        } else if (!runs) {
            taper_move(run, item, b.rank, b.sizes, t, b.other, f, b.self);
        }
    }
    drop_plan(&plan);
    return taper_ret_tensor(call, 0, result);
}

static taper_status put(taper_run *run, taper_tensor *self, const index_plan *plan, const taper_tensor *values,
                        bool accumulate)
{
    taper_into_function into;
    TAPER_TRY(
        taper_into_get((taper_dtype)self->dtype, accumulate ? TAPER_INTO_ADD : TAPER_INTO_SET, &into, run->error));
    const int64_t item = (int64_t)taper_tensor_item(self);
    const block b = block_of(plan, values->strides);
    if (b.count <= 0 || plan->count <= 0) {
        return TAPER_OK;
    }
    const int64_t *offsets = taper_tensor_data(plan->offsets);
    char *to = taper_tensor_mutable(self);
    const char *from = taper_tensor_data(values);
    taper_index_walk walk, inner;
    taper_index_walk_start(&walk, run, plan->index_rank, plan->index_sizes);
    taper_index_walk_add(&walk, values->strides + plan->before);
    // The last dimension of the block is the inner loop.
    const size_t lead = b.rank > 0 ? b.rank - 1 : 0;
    const int64_t run_length = b.rank > 0 ? b.sizes[lead] : 1;
    const int64_t to_step = b.rank > 0 ? b.self[lead] * item : 0, from_step = b.rank > 0 ? b.other[lead] * item : 0;
    for (int64_t k = 0; b.count > 0 && k < walk.count; k++, taper_index_walk_next(&walk)) {
        char *t = to + offsets[k] * item;
        const char *f = from + walk.walk.at[0] * item;
        taper_index_walk_start(&inner, run, lead, b.sizes);
        taper_index_walk_add(&inner, b.self);
        taper_index_walk_add(&inner, b.other);
        for (int64_t i = 0; i < inner.count; i++, taper_index_walk_next(&inner)) {
            taper_into_line(run, into, t + inner.walk.at[0] * item, to_step, f + inner.walk.at[1] * item, from_step,
                            run_length);
        }
    }
    return TAPER_OK;
}

// Returns true if the only index tensor is a mask. Then PyTorch assigns a single value by masked_fill, which converts
// it and accepts masks without dimensions.
static bool is_one_mask(const taper_call *call)
{
    size_t tensors = 0;
    bool mask = false;
    const taper_list *list = call->args[1].tag == TAPER_LIST ? call->args[1].as.list : NULL;
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (list->items[i].tag == TAPER_TENSOR) {
            tensors++;
            mask = is_mask(list->items[i].as.tensor);
        }
    }
    return tensors == 1 && mask;
}

static taper_status fill_masked(taper_call *call, const taper_tensor *values)
{
    taper_tensor *one;
    TAPER_TRY(taper_tensor_new(call->run->heap, (taper_dtype)call->args[0].as.tensor->dtype, 0, NULL, NULL, &one,
                               call->run->error));
    taper_scalar scalar;
    taper_scalar_load((taper_dtype)values->dtype, taper_tensor_data(values), &scalar);
    taper_status status = taper_tensor_fill(call->run, one, &scalar);
    if (status == TAPER_OK) {
        taper_val args[8];
        taper_call inner = *call;
        inner.arg_count = taper_min_size(call->arg_count, 8);
        memcpy(args, call->args, inner.arg_count * sizeof *args);
        args[2] = TAPER_VAL(one);
        inner.args = args;
        status = taper_op_index_put(&inner);
    }
    taper_tensor_drop(one);
    return status;
}

// Fails if the values or the indices share memory with self. If `fills` is set, the value is a number that is read
// before anything is written, and then self may be the mask.
static taper_status check_apart(const taper_call *call, const taper_tensor *self, const taper_tensor *values,
                                bool fills)
{
    const taper_list *list = call->args[1].tag == TAPER_LIST ? call->args[1].as.list : NULL;
    TAPER_TRY(fills ? TAPER_OK : taper_check_sharing(self, values, false, call->run->error));
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (list->items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_check_sharing(self, list->items[i].as.tensor, fills, call->run->error));
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_index_put)
{
    taper_run *run = call->run;
    taper_tensor *self, *values, *wide;
    index_plan plan;
    bool accumulate;
    TAPER_TRY(taper_arg_tensor(call, 2, &values));
    TAPER_TRY(taper_arg_bool(call, 3, &accumulate));
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    const bool fills = !accumulate && taper_tensor_numel(values) == 1 && is_one_mask(call);
    if (self->dtype != values->dtype && fills) {
        return fill_masked(call, values);
    }
    if (self->dtype != values->dtype) {
        return taper_fail(run->error, TAPER_ERROR_ARGUMENT,
                          "Index put requires the source and destination dtypes match, got %s for the destination and "
                          "%s for the source.",
                          taper_dtype_name((taper_dtype)self->dtype), taper_dtype_name((taper_dtype)values->dtype));
    }
    if (taper_call_in_place(call)) {
        TAPER_TRY(check_apart(call, self, values, fills));
    }
    TAPER_TRY(taper_inplace_begin(call, TAPER_FORMAT_PRESERVE, &self));
    taper_status status = TAPER_DECLINED;
    if (fills && call->args[1].as.list->count == 1 && self->rank != 0) {
        uint64_t value = 0; // a copy of the value, which may be an element of self
        memcpy(&value, taper_tensor_data(values), taper_min_size(taper_tensor_item(values), sizeof value));
        status = taper_index_fill_where(run, self, call->args[1].as.list->items[0].as.tensor, &value);
    }
    if (status != TAPER_DECLINED) {
        if (status != TAPER_OK) {
            taper_tensor_drop(self);
            return status;
        }
        return taper_inplace_end(call, self);
    }
    status = make_plan(call, self, fills, &plan);
    if (status == TAPER_OK) {
        // Leading dimensions of size 1 beyond the result's rank are ignored.
        taper_tensor narrow = taper_tensor_local(values);
        while (narrow.rank > plan.result.rank && narrow.sizes[0] == 1) {
            narrow.rank--;
            memmove(narrow.sizes, narrow.sizes + 1, narrow.rank * sizeof narrow.sizes[0]);
            memmove(narrow.strides, narrow.strides + 1, narrow.rank * sizeof narrow.strides[0]);
        }
        status = taper_expand(run, &narrow, plan.result.rank, plan.result.sizes, &wide);
        if (status == TAPER_ERROR_ARGUMENT) {
            status = taper_fail(
                run->error, TAPER_ERROR_ARGUMENT,
                "shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s",
                taper_sizes_print(values->rank, values->sizes).text,
                taper_sizes_print(plan.result.rank, plan.result.sizes).text);
        }
        if (status == TAPER_OK) {
            if (!fills || !plan.nothing) {
                status = put(run, self, &plan, wide, accumulate);
            }
            taper_tensor_drop(wide);
        }
        drop_plan(&plan);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(self);
        return status;
    }
    return taper_inplace_end(call, self);
}
