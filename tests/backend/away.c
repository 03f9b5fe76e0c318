// SPDX-License-Identifier: BSD-2-Clause
// Implements the backend for tests that away.h describes.
#include "tests/backend/away.h"
#include "ir/tensor.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/cpu_backend.h"

// A device's memory: the elements of a tensor in the layout that they have on the host, with each byte scrambled.
typedef struct away_memory {
    taper_memory memory; // must be the first member
    away_backend *backend;
    taper_heap *heap;
    size_t bytes; // size of this struct with its data in bytes
    uint8_t dtype, rank;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    size_t size; // size of data in bytes
    unsigned char data[];
} away_memory;

typedef struct away_state {
    taper_device cpu; // the CPU's device, whose kernels run the nodes
} away_state;

// A recording, which contains only a hash of the calls for which it was made.
typedef struct away_recording {
    uint64_t calls;
} away_recording;

typedef struct away_plan {
    uint64_t seed; // number that scrambles the segment's tensors; each segment has a different number
} away_plan;

static away_backend *backend_of(const taper_device *device)
{
    return (away_backend *)(uintptr_t)device->backend;
}

// ---- memory

enum { SCRAMBLED = 0xA7 };

static void scramble(void *to, const void *from, size_t size)
{
    unsigned char *t = to;
    const unsigned char *f = from;
    for (size_t i = 0; i < size; i++) {
        t[i] = f[i] ^ SCRAMBLED;
    }
}

// Returns the number of elements between the first and the last element in memory, inclusive.
static int64_t extent(const taper_tensor *x)
{
    int64_t steps[TAPER_MAX_RANK], last = 0;
    taper_tensor_steps(x, 1, steps);
    for (size_t d = 0; d < x->rank; d++) {
        last += (x->sizes[d] - 1) * steps[d];
    }
    return taper_tensor_numel(x) == 0 ? 0 : last + 1;
}

// Copies and scrambles element by element, with any strides.
static void scramble_items(char *to, const int64_t *to_steps, const char *from, const int64_t *from_steps,
                           const taper_tensor *x, unsigned dim)
{
    const size_t item = taper_tensor_item(x);
    if (dim == x->rank) {
        scramble(to, from, item);
        return;
    }
    for (int64_t i = 0; i < x->sizes[dim]; i++) {
        scramble_items(to + i * to_steps[dim], to_steps, from + i * from_steps[dim], from_steps, x, dim + 1);
    }
}

static void bytes_between(const taper_tensor *x, const int64_t *strides, int64_t *steps)
{
    for (size_t d = 0; d < x->rank; d++) {
        steps[d] = strides[d] * (int64_t)taper_tensor_item(x);
    }
}

static taper_status fetch(taper_memory *memory, taper_tensor *to, taper_error *error)
{
    const away_memory *m = (const away_memory *)memory;
    (void)error;
    if (to->dtype != m->dtype || to->rank != m->rank || memcmp(to->sizes, m->sizes, m->rank * sizeof *m->sizes) != 0 ||
        taper_tensor_is_away(to)) {
        fprintf(stderr, "away: fetched into another tensor\n");
        abort();
    }
    atomic_fetch_add(&m->backend->fetched, 1u);
    if (memcmp(to->strides, m->strides, m->rank * sizeof *m->strides) == 0) {
        scramble(taper_tensor_mutable(to), m->data, m->size);
    } else if (m->size != 0) {
        int64_t to_steps[TAPER_MAX_RANK], steps[TAPER_MAX_RANK];
        bytes_between(to, to->strides, to_steps);
        bytes_between(to, m->strides, steps);
        scramble_items(taper_tensor_mutable(to), to_steps, (const char *)m->data, steps, to, 0);
    }
    return TAPER_OK;
}

static void drop(taper_memory *memory)
{
    away_memory *m = (away_memory *)memory;
    atomic_fetch_sub(&m->backend->memories, 1u);
    memset(m->data, SCRAMBLED, m->size);
    taper_heap_free(m->heap, m, m->bytes);
}

// Copies a tensor to the device. If the memory of the tensor is larger than its elements (an expanded tensor, a slice),
// the copy is dense.
static taper_status keep(taper_device *device, taper_run *run, const taper_tensor *x, taper_memory **memory)
{
    away_backend *backend = backend_of(device);
    const size_t item = taper_tensor_item(x), limit = (size_t)1 << 30;
    const int64_t numel = taper_tensor_numel(x);
    if (item == 0 || (uint64_t)numel > limit / item) {
        return TAPER_DECLINED;
    }
    const bool as_it_lies = extent(x) <= numel;
    const size_t size = (size_t)(as_it_lies ? extent(x) : numel) * item, bytes = sizeof(away_memory) + size;
    away_memory *m = taper_heap_alloc(run->heap, bytes);
    if (m == NULL) {
        return taper_fail_memory(run->error);
    }
    memset(m, 0, sizeof *m);
    m->memory = (taper_memory){.owner = device->owner, .fetch = fetch, .drop = drop};
    m->backend = backend;
    m->heap = run->heap;
    m->bytes = bytes;
    m->dtype = x->dtype;
    m->rank = x->rank;
    m->size = size;
    memcpy(m->sizes, x->sizes, x->rank * sizeof *x->sizes);
    if (as_it_lies) {
        memcpy(m->strides, x->strides, x->rank * sizeof *x->strides);
        scramble(m->data, taper_tensor_data(x), size);
    } else {
        int64_t steps[TAPER_MAX_RANK], from_steps[TAPER_MAX_RANK];
        taper_strides_contiguous(x->rank, x->sizes, m->strides);
        bytes_between(x, m->strides, steps);
        taper_tensor_steps(x, item, from_steps);
        scramble_items((char *)m->data, steps, taper_tensor_data(x), from_steps, x, 0);
    }
    atomic_fetch_add(&backend->memories, 1u);
    *memory = &m->memory;
    return TAPER_OK;
}

static taper_status store(taper_device *device, taper_run *run, const taper_tensor *from, taper_memory **memory)
{
    TAPER_TRY(keep(device, run, from, memory));
    atomic_fetch_add(&backend_of(device)->stored, 1u);
    return TAPER_OK;
}

// ---- claiming and planning

static taper_status open(taper_device *device, const char **why, taper_error *error)
{
    (void)error;
    away_state *state = device->state;
    if (device->index != 0 || device->called != NULL) {
        *why = "has one device";
        return TAPER_DECLINED;
    }
    state->cpu = (taper_device){.backend = &taper_backend_cpu, .name = "cpu", .cpu = device->cpu};
    return TAPER_OK;
}

static taper_status claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    (void)error;
    away_backend *backend = backend_of(device);
    size_t seen = 0, i = region->from;
    for (; i < region->count; i++) {
        if (region->nodes[i] == NULL) {
            continue;
        }
        const bool take = backend->claims == AWAY_EVERYTHING     ? true
                          : backend->claims == AWAY_EVERY_SECOND ? seen % 2 == 0
                                                                 : seen >= 2;
        seen++;
        if (take) {
            claim->takes[claim->count++] = i;
        } else if (claim->refused == region->count) {
            claim->refused = i;
            claim->why = "its policy says so";
        }
        if (backend->claims == AWAY_ODD_PAIRS && claim->count == 2) {
            i++;
            break;
        }
    }
    claim->next = i;
    return claim->count != 0 ? TAPER_OK : TAPER_DECLINED;
}

static taper_status plan(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error)
{
    static const taper_form forms[] = {TAPER_FORM_DEVICE, TAPER_FORM_DEVICE, TAPER_FORM_HOST, TAPER_FORM_PLAIN};
    away_backend *backend = backend_of(device);
    const taper_node *node = segment->node;
    away_plan *made = taper_arena_alloc(arena, sizeof *made);
    if (made == NULL) {
        return taper_fail_memory(error);
    }
    // A counter, not a number of a value, because passes may change value numbers.
    made->seed = atomic_fetch_add(&backend->segments, 1u);
    for (size_t i = 0; i < node->input_count; i++) {
        segment->forms[i] =
            taper_node_in(node, i)->node != NULL && taper_node_in(node, i)->node->kind == TAPER_NODE_CONSTANT
                ? TAPER_FORM_HOST
            : backend->always_away ? TAPER_FORM_DEVICE
                                   : forms[(made->seed + i) % (backend->keeps_layout ? 3 : 4)];
    }
    segment->plan = made;
    for (const taper_node *inner = node->blocks[1]->first; inner != NULL; inner = inner->next) {
        atomic_fetch_add(&backend->nodes, 1u);
    }
    return TAPER_OK;
}

// ---- running a segment

// Hashes the kinds, dtypes and sizes of the arguments.
static uint64_t hash_shapes(const taper_call *call)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < call->arg_count; i++) {
        hash = (hash ^ call->args[i].tag) * UINT64_C(1099511628211);
        if (call->args[i].tag == TAPER_TENSOR) {
            const taper_tensor *x = call->args[i].as.tensor;
            hash = (hash ^ x->dtype) * UINT64_C(1099511628211);
            for (size_t d = 0; d < x->rank; d++) {
                hash = (hash ^ (uint64_t)x->sizes[d]) * UINT64_C(1099511628211);
            }
        }
    }
    return hash ^ hash >> 29;
}

static bool declines(const away_backend *backend, const taper_call *call)
{
    return backend->declines != 0 && hash_shapes(call) % backend->declines == 0;
}

static taper_status record(const taper_segment *segment, taper_call *call, void *recording)
{
    away_backend *backend = backend_of(segment->device);
    away_recording *r = recording;
    if (declines(backend, call)) {
        atomic_fetch_add(&backend->declined, 1u);
        return TAPER_DECLINED;
    }
    r->calls = hash_shapes(call);
    return TAPER_OK;
}

static void forget(const taper_segment *segment, void *recording)
{
    (void)segment;
    memset(recording, 0, sizeof(away_recording));
}

// Returns an unscrambled copy of a tensor on the device, for the CPU's kernels.
static taper_status at_hand(taper_run *run, taper_tensor *away, taper_tensor **hand)
{
    taper_memory *memory = away->storage->memory;
    TAPER_TRY(taper_tensor_new(run->heap, (taper_dtype)away->dtype, away->rank, away->sizes, away->strides, hand,
                               run->error));
    (*hand)->hidden_nhwc = away->hidden_nhwc;
    (*hand)->wrapped_number = away->wrapped_number;
    (*hand)->requires_grad = away->requires_grad;
    taper_status status = fetch(memory, *hand, run->error);
    if (status == TAPER_OK && away->quantizer != NULL) {
        status = taper_tensor_set_quantizer(*hand, away->quantizer, run->error);
    }
    if (status != TAPER_OK) {
        taper_obj_release(&(*hand)->head);
    }
    return status;
}

static taper_status keep_results(const taper_segment *segment, taper_call *call)
{
    const away_backend *backend = backend_of(segment->device);
    const uint64_t seed = ((const away_plan *)segment->plan)->seed;
    for (size_t i = 0; i < call->ret_count; i++) {
        taper_memory *memory;
        taper_tensor *away;
        if (call->rets[i].tag != TAPER_TENSOR || (!backend->always_away && (seed + i) % 3 == 2)) {
            continue;
        }
        const taper_status status = keep(segment->device, call->run, call->rets[i].as.tensor, &memory);
        if (status == TAPER_DECLINED) {
            continue; // this result remains in the host's memory
        }
        TAPER_TRY(status);
        TAPER_TRY(
            taper_tensor_like_of_memory(call->run->heap, memory, call->rets[i].as.tensor, &away, call->run->error));
        taper_ret(call, i, TAPER_VAL(away));
    }
    return TAPER_OK;
}

static taper_status run(const taper_segment *segment, taper_call *call, void *recording)
{
    away_backend *backend = backend_of(segment->device);
    away_state *state = segment->device->state;
    taper_val *const args = call->args;
    const size_t bytes = (call->arg_count + 1) * sizeof *args;
    if (recording != NULL && ((away_recording *)recording)->calls != hash_shapes(call)) {
        fprintf(stderr, "away: a recording is run with other shapes than it was made for\n");
        abort();
    }
    if (recording == NULL && declines(backend, call)) {
        atomic_fetch_add(&backend->declined, 1u);
        return TAPER_DECLINED;
    }
    taper_val *hands = taper_heap_alloc(call->run->heap, bytes);
    if (hands == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = TAPER_OK;
    size_t count = 0;
    for (; status == TAPER_OK && count < call->arg_count; count++) {
        hands[count] = taper_val_retain(args[count]);
        if (args[count].tag == TAPER_TENSOR && taper_tensor_is_away(args[count].as.tensor)) {
            taper_tensor *hand;
            status = at_hand(call->run, args[count].as.tensor, &hand);
            if (status == TAPER_OK) {
                taper_val_replace(&hands[count], TAPER_VAL(hand));
            }
        }
    }
    if (status == TAPER_OK) {
        call->args = hands;
        status = taper_segment_run_plain(segment, &state->cpu, call);
        call->args = args;
        call->run->kernel = "away";
    }
    for (size_t i = 0; i < count; i++) {
        taper_val_release(hands[i]);
    }
    taper_heap_free(call->run->heap, hands, bytes);
    TAPER_TRY(status);
    atomic_fetch_add(&backend->runs, 1u);
    return keep_results(segment, call);
}

void away_init(away_backend *backend, away_claims claims, bool records)
{
    memset(backend, 0, sizeof *backend);
    backend->claims = claims;
    backend->table = (taper_backend){.struct_size = sizeof backend->table,
                                     .name = "away",
                                     .kind = (taper_device_kind)AWAY_KIND,
                                     .state_bytes = sizeof(away_state),
                                     .recording_bytes = records ? sizeof(away_recording) : 0,
                                     .open = open,
                                     .claim = claim,
                                     .plan = plan,
                                     .record = records ? record : NULL,
                                     .run = run,
                                     .forget = records ? forget : NULL,
                                     .store = store};
}

const char *away_claims_name(away_claims claims)
{
    static const char *const names[AWAY_CLAIMS] = {"everything", "every-second", "odd-pairs"};
    return names[claims];
}
