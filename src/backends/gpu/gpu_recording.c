// SPDX-License-Identifier: BSD-2-Clause
// Recordings: nodes become work (gpu_emit.h), work gets memory, and the device records it. gpu_running.c runs
// recordings.
#include "backends/gpu/gpu_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/gpu_emit.h"
#include "backends/gpu/gpu_held.h"
#include "backends/gpu/gpu_kept.h"
#include "backends/gpu/gpu_log.h"
#include "backends/gpu/gpu_maker.h"
#include "backends/gpu/gpu_peak.h"
#include "base/hash.h"
#include "platform/platform.h"
#include "platform/threads.h"

const char taper_gpu_was_slower[] = "it was slower than the CPU when it was measured";

static taper_gpu_state *state_of(const taper_segment *segment)
{
    return segment->device->state;
}

static size_t times_bytes(const taper_gpu_recording *r)
{
    return 2 * r->program.work_count * sizeof *r->seconds;
}

// ---- creating and recording programs

typedef struct recorder {
    const taper_segment *segment;
    taper_call *call;
    taper_gpu_state *state;
    taper_gpu_recording *r;
    taper_segment_values values;
    taper_gpu_value *slots;
    size_t slot_count;
} recorder;

static taper_status emit(recorder *rec)
{
    const taper_allocator *allocator = rec->state->allocator;
    const taper_segment_values *v = &rec->values;
    taper_gpu_emitter e = {.reader = {.know = taper_segment_values_know, .user = &rec->values},
                           .segment = rec->segment,
                           .state = rec->state,
                           .program = &rec->r->program,
                           .known = v,
                           .first_id = (uint32_t)v->shapes.first,
                           .value_count = v->shapes.count,
                           .heap = rec->call->run->heap,
                           .error = rec->call->run->error};
    rec->slot_count = v->shapes.count + rec->call->arg_count + 1;
    rec->slots = taper_alloc_zeroed(allocator, rec->slot_count * sizeof *rec->slots);
    if (rec->slots == NULL) {
        return taper_fail_memory(e.error);
    }
    e.values = rec->slots;
    e.arguments = rec->slots + v->shapes.count;
    const taper_status status = taper_gpu_emit(&e);
    if (status == TAPER_DECLINED) {
        const char *op = e.node != NULL ? e.node->op_name : "";
        const char *why = e.reader.why != NULL ? e.reader.why : "cannot be had";
        taper_gpu_say(rec->segment, rec->call->run, TAPER_LOG_INFO, "the CPU runs this segment: %.*s: %s",
                      (int)strcspn(op, "("), op, why);
        rec->call->run->why = why;
    }
    return status;
}

static bool is_input(const taper_gpu_memory *m)
{
    return m->place == TAPER_GPU_INPUT || m->place == TAPER_GPU_STAYS_IN;
}

static bool is_output(const taper_gpu_memory *m)
{
    return m->place == TAPER_GPU_OUTPUT || m->place == TAPER_GPU_STAYS_OUT;
}

static taper_status make_ports(recorder *rec)
{
    taper_gpu_recording *r = rec->r;
    const taper_gpu_program *p = &r->program;
    for (size_t i = 0; i < p->memory_count; i++) {
        r->in_count += is_input(&p->memories[i]);
        r->out_count += is_output(&p->memories[i]);
    }
    r->ports = taper_alloc_zeroed(rec->state->allocator, (r->in_count + r->out_count + 1) * sizeof *r->ports);
    if (r->ports == NULL) {
        return taper_fail_memory(rec->call->run->error);
    }
    size_t in = 0, out = r->in_count;
    for (size_t i = 0; i < p->memory_count; i++) {
        const taper_gpu_memory *m = &p->memories[i];
        if (!is_input(m) && !is_output(m)) {
            continue;
        }
        taper_gpu_port *port = &r->ports[is_input(m) ? in++ : out++];
        *port = (taper_gpu_port){.number = m->number,
                                 .offset = m->offset,
                                 .bytes = m->bytes,
                                 .stays = m->place == TAPER_GPU_STAYS_IN || m->place == TAPER_GPU_STAYS_OUT,
                                 .most = m->most,
                                 .below = m->below,
                                 .wraps = m->wraps};
        if (is_output(m)) {
            const taper_shape shape = taper_shapes_get(&rec->values.shapes, rec->values.body->results[m->number].value);
            port->rank = (uint8_t)shape.rank;
            port->dtype = (uint8_t)(shape.dtype < 0 ? TAPER_F32 : shape.dtype);
            port->scale = m->scale;
            port->zero_point = m->zero_point;
            memcpy(port->sizes, shape.sizes, (size_t)shape.rank * sizeof *shape.sizes);
        }
    }
    return TAPER_OK;
}

// Returns the buffer that all memories of a taper_gpu_place share, or NULL for weights, each of which has a separate
// buffer.
static taper_gpu_buffer *buffer_of(taper_gpu_recording *r, taper_gpu_place place)
{
    taper_gpu_buffer *const buffers[TAPER_GPU_PLACES] = {[TAPER_GPU_ARENA] = &r->arena,
                                                         [TAPER_GPU_INPUT] = &r->inputs,
                                                         [TAPER_GPU_OUTPUT] = &r->outputs,
                                                         [TAPER_GPU_STAYS_IN] = &r->stays_in,
                                                         [TAPER_GPU_STAYS_OUT] = &r->stays_out};
    return buffers[place];
}

// Gives the recording the shared arena. All recordings can share it, because its contents are valid for one run only,
// and the lock is held during runs and in this function. If the arena is too small for this recording, a new one is
// made, and the old one remains for the recordings that use it.
static taper_status take_arena(taper_gpu_state *s, taper_gpu_recording *r)
{
    const uint64_t bytes = r->program.bytes[TAPER_GPU_ARENA];
    if (s->arena == NULL || s->arena->buffer.bytes < bytes) {
        taper_gpu_shared *shared = taper_alloc_zeroed(s->allocator, sizeof *shared);
        if (shared == NULL) {
            return TAPER_ERROR_RESOURCE;
        }
        const taper_status status = s->api->buffer_new(s->gpu, bytes, TAPER_GPU_FOR_DEVICE, &shared->buffer);
        if (status != TAPER_OK) {
            s->api->buffer_free(s->gpu, &shared->buffer);
            taper_free(s->allocator, shared, sizeof *shared);
            return status;
        }
        s->arena = shared;
    }
    s->arena->users++;
    r->shared = s->arena;
    r->arena = s->arena->buffer;
    return TAPER_OK;
}

static void drop_arena(taper_gpu_state *s, taper_gpu_recording *r)
{
    taper_gpu_shared *shared = r->shared;
    if (shared == NULL) {
        return;
    }
    taper_mutex_lock(s->lock);
    const bool last = --shared->users == 0;
    s->arena = last && s->arena == shared ? NULL : s->arena;
    taper_mutex_unlock(s->lock);
    if (last) {
        s->api->buffer_free(s->gpu, &shared->buffer);
        taper_free(s->allocator, shared, sizeof *shared);
    }
}

static bool reads_inputs(const taper_gpu_recording *r)
{
    bool reads = false;
    for (size_t i = 0; i < r->in_count; i++) {
        reads = reads || r->ports[i].most != 0 || r->ports[i].below != 0;
    }
    return reads;
}

static taper_status make_buffers(const recorder *rec)
{
    taper_gpu_state *s = rec->state;
    taper_gpu_recording *r = rec->r;
    const taper_gpu_program *p = &r->program;
    const uint64_t each = (sizeof(taper_gpu_parameters) + s->gpu->align - 1) / s->gpu->align * s->gpu->align;
    for (int place = 0; place < TAPER_GPU_PLACES; place++) {
        taper_gpu_buffer *const buffer = buffer_of(r, (taper_gpu_place)place);
        if (place == TAPER_GPU_ARENA && p->bytes[place] != 0) {
            TAPER_TRY(take_arena(s, r));
        } else if (buffer != NULL && p->bytes[place] != 0) {
            // Inputs with integers need memory that the host reads fast, because the host checks the integers
            // (gpu_submit.c).
            const taper_gpu_use use = place == TAPER_GPU_INPUT
                                          ? (reads_inputs(r) ? TAPER_GPU_FOR_DOWNLOAD : TAPER_GPU_FOR_UPLOAD)
                                      : place == TAPER_GPU_OUTPUT ? TAPER_GPU_FOR_DOWNLOAD
                                                                  : TAPER_GPU_FOR_DEVICE;
            TAPER_TRY(s->api->buffer_new(s->gpu, p->bytes[place], use, buffer));
        }
    }
    TAPER_TRY(s->api->buffer_new(s->gpu, each * p->work_count, TAPER_GPU_FOR_PARAMETERS, &r->parameters));
    for (size_t i = 0; i < p->work_count; i++) {
        memcpy((char *)r->parameters.data + i * each, &p->works[i].parameters, sizeof p->works[i].parameters);
    }
    return s->api->flush(s->gpu, &r->parameters);
}

static taper_gpu_range range_of(taper_gpu_recording *r, uint32_t number)
{
    if (number == TAPER_GPU_NONE) {
        return (taper_gpu_range){NULL, 0, 0};
    }
    const taper_gpu_memory *m = &r->program.memories[number];
    const taper_gpu_buffer *buffer = m->weights != NULL ? &m->weights->buffer : buffer_of(r, m->place);
    return (taper_gpu_range){buffer, m->place == TAPER_GPU_WEIGHTS ? 0 : m->offset, m->bytes};
}

static uint32_t power_of_two(uint32_t n, uint32_t most)
{
    uint32_t p = 1;
    while (p < n && p < most) {
        p *= 2;
    }
    return p;
}

static uint32_t over(uint32_t n, uint32_t by)
{
    return (n + by - 1) / by;
}

// Chooses the dimension of threads along which a workgroup extends. If the device runs the threads of a row together,
// as a CPU does, this is the dimension with the fewest idle threads. Kernels do not check the third thread number, so
// the third dimension is chosen only if it consists of whole rows.
static uint32_t choose_axis(const taper_gpu_state *s, const uint32_t *threads)
{
    uint32_t best = 0;
    double least = 0;
    for (uint32_t axis = 0; axis < 3 && s->row > 1; axis++) {
        const double rows =
            (double)over(threads[axis], s->row) * threads[axis == 0 ? 1 : 0] * threads[axis == 2 ? 1 : 2];
        if (axis == 0 || (8 * rows < 7 * least && (axis == 1 || threads[2] % s->row == 0))) {
            best = axis;
            least = rows;
        }
    }
    return best;
}

// Chooses the largest workgroup that leaves no more threads idle than small workgroups do. For kernels whose
// threads share loads, each row of the workgroup has at least as many threads as a subgroup.
static void choose_group(const taper_gpu_state *s, const taper_gpu_work *w, const uint32_t *threads, uint32_t *group)
{
    uint32_t x = power_of_two(threads[0], s->group_x);
    if (w->team > 1) {
        const uint32_t results = TAPER_GPU_TEAM_THREADS / w->team;
        group[0] = power_of_two(threads[0], results);
        group[1] = power_of_two(threads[1], results / group[0]);
        return;
    }
    const uint32_t lanes = w->shares ? s->gpu->lanes : s->row > 1 ? s->row : x;
    x = w->shares && x < lanes ? lanes : x;
    while (x > lanes && (over(threads[0], x) * (x / lanes) > over(threads[0], lanes) ||
                         (w->constants[TAPER_GPU_AXIS] == 2 && threads[0] % x != 0))) {
        x /= 2;
    }
    if (x > lanes && (x < s->group_x || s->row > 1) && over(threads[0], lanes) <= s->gpu->most_groups[0]) {
        // Several small groups are used instead of one, because fewer sizes need fewer pipelines. If a CPU runs a row
        // of threads together, one row is enough: MobileNetV3 has 22 pipelines instead of 26 and takes the same time.
        x = lanes;
    }
    group[0] = x;
    group[1] = w->shares ? 1 : power_of_two(threads[1], s->group_x * s->group_y / x);
}

// Computes the threads of a workgroup and the number of workgroups, from the number of threads that are needed.
static bool choose_groups(const taper_gpu_state *s, taper_gpu_work *w, uint32_t groups[3])
{
    const bool chosen = w->constants[0] != 0; // true if the rule, or an earlier call, chose the workgroup
    w->constants[TAPER_GPU_TEAM] = w->team > 1 ? w->team : 1;
    if (!chosen && !w->shares && w->team <= 1) {
        w->constants[TAPER_GPU_AXIS] = choose_axis(s, w->threads);
    }
    uint32_t threads[3] = {w->threads[0], w->threads[1], w->threads[2]};
    threads[0] = w->threads[w->constants[TAPER_GPU_AXIS]];
    threads[w->constants[TAPER_GPU_AXIS]] = w->threads[0];
    if (!chosen) {
        choose_group(s, w, threads, w->constants);
    }
    groups[0] = over(threads[0], w->constants[0]);
    groups[1] = over(threads[1], w->constants[1]);
    groups[2] = threads[2];
    return groups[0] <= s->gpu->most_groups[0] && groups[1] <= s->gpu->most_groups[1] &&
           groups[2] <= s->gpu->most_groups[2];
}

enum { MOST_AT_ONCE = 64 }; // largest number of dispatches in sequence without a barrier

// Completes the constants of the dispatch and chooses the shader's variant (storage or texel buffers). Constants and
// variant select the pipeline.
static taper_status settle_work(const recorder *rec, taper_gpu_work *w, uint32_t groups[3], bool *texels)
{
    const taper_gpu_state *s = rec->state;
    *texels = s->reads_texels && s->api->shaders[2 * w->kernel + 1].bytes != 0;
    if (!choose_groups(s, w, groups)) {
        rec->call->run->why = "more workgroups than the device has";
        return TAPER_DECLINED;
    }
    for (size_t b = 0; b < TAPER_GPU_BINDINGS; b++) {
        const uint64_t bytes = w->buffers[b] != TAPER_GPU_NONE ? rec->r->program.memories[w->buffers[b]].bytes : 0;
        *texels = *texels && (b == 0 || bytes / (s->half ? 8 : 16) <= s->gpu->most_texels);
        if (bytes > s->gpu->most_bytes) {
            rec->call->run->why = "a tensor that is larger than a buffer may be";
            return TAPER_DECLINED;
        }
    }
    if (!*texels && s->api->shaders[2 * w->kernel].bytes == 0) {
        rec->call->run->why = "a tensor that is larger than a texel buffer may be";
        return TAPER_DECLINED;
    }
    w->constants[18] = !s->half ? 0 : s->gpu->is_cpu ? 2 : 1;
    return TAPER_OK;
}

static taper_status make_dispatches(const recorder *rec, taper_gpu_dispatch *dispatches)
{
    taper_gpu_state *s = rec->state;
    const taper_gpu_program *p = &rec->r->program;
    const uint64_t each = (sizeof(taper_gpu_parameters) + s->gpu->align - 1) / s->gpu->align * s->gpu->align;
    size_t since = 0;
    for (size_t i = 0; i < p->work_count; i++) {
        taper_gpu_work *w = &p->works[i];
        taper_gpu_dispatch *d = &dispatches[i];
        bool texels;
        TAPER_TRY(settle_work(rec, w, d->groups, &texels));
        for (size_t b = 0; b < TAPER_GPU_BINDINGS; b++) {
            d->ranges[b] = range_of(rec->r, w->buffers[b]);
        }
        d->parameters = (taper_gpu_range){&rec->r->parameters, i * each, sizeof(taper_gpu_parameters)};
        d->half = s->half;
        d->barrier = i - since >= MOST_AT_ONCE || taper_gpu_needs_barrier(p, since, i);
        since = d->barrier ? i : since;
        TAPER_TRY(taper_gpu_pipeline_get(s, w->kernel, texels, w->constants, &d->pipeline));
    }
    return TAPER_OK;
}

// Marks the device as being tried, until the recording's first results exist (gpu_kept.h). The caller holds the lock.
static void begin_trying(const recorder *rec)
{
    if (!rec->r->tried) {
        taper_gpu_try(rec->state, rec->segment->device->cache_dir);
        rec->r->tried = true;
    }
}

void taper_gpu_end_trying(const taper_segment *segment, taper_gpu_recording *r)
{
    if (r->tried) {
        taper_gpu_tried(state_of(segment), segment->device->cache_dir);
        r->tried = false;
    }
}

// Starts making missing pipelines in the background, if this run cannot wait for them.
static taper_status wish_for_pipelines(const recorder *rec)
{
    taper_gpu_state *s = rec->state;
    bool all = true;
    if (rec->segment->required || !(s->background < 0 ? rec->call->run->is_limited : s->background > 0)) {
        return TAPER_OK;
    }
    taper_mutex_lock(s->lock);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < rec->r->program.work_count && status == TAPER_OK; i++) {
        taper_gpu_work *w = &rec->r->program.works[i];
        uint32_t groups[3];
        bool texels;
        status = settle_work(rec, w, groups, &texels);
        all = status == TAPER_OK && taper_gpu_wish_pipeline(s, w->kernel, texels, w->constants) && all;
    }
    if (status == TAPER_OK && !all) {
        begin_trying(rec);
    }
    rec->r->waits = taper_gpu_make_wishes(s) && status == TAPER_OK && !all;
    taper_mutex_unlock(s->lock);
    return status;
}

// Records the work on the device. *pipelines receives the number of pipelines that the device then has.
static taper_status give_to_device(const recorder *rec, size_t *pipelines)
{
    taper_gpu_state *s = rec->state;
    const size_t count = rec->r->program.work_count, bytes = count * sizeof(taper_gpu_dispatch);
    taper_gpu_dispatch *dispatches = taper_alloc_zeroed(s->allocator, bytes);
    if (dispatches == NULL) {
        return taper_fail_memory(rec->call->run->error);
    }
    taper_mutex_lock(s->lock);
    begin_trying(rec);
    taper_status status = s->times ? taper_gpu_measure_peak(s) : TAPER_OK;
    if (status == TAPER_OK) {
        status = make_buffers(rec);
    }
    if (status == TAPER_OK) {
        status = make_dispatches(rec, dispatches);
    }
    if (status == TAPER_OK) {
        status = s->api->record(s->gpu, dispatches, count, s->times, &rec->r->recorded);
    }
    *pipelines = s->pipeline_count;
    taper_mutex_unlock(s->lock);
    taper_free(s->allocator, dispatches, bytes);
    return taper_gpu_status(status, rec->call->run->error);
}

static uint64_t bytes_moved(const taper_gpu_recording *r)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < r->in_count + r->out_count; i++) {
        bytes += r->ports[i].stays ? 0 : r->ports[i].bytes;
    }
    return bytes;
}

static taper_status settle_works(const recorder *rec)
{
    taper_gpu_program *p = &rec->r->program;
    for (size_t i = 0; i < p->work_count; i++) {
        uint32_t groups[3];
        bool texels;
        TAPER_TRY(settle_work(rec, &p->works[i], groups, &texels));
    }
    return TAPER_OK;
}

// Uses an earlier process's measurement of which is faster, the device or the CPU. This process then need not measure
// and makes no needless pipelines.
static taper_status ask_what_was_faster(const recorder *rec)
{
    const uint64_t threads = taper_pool_threads(rec->call->run->pool);
    taper_gpu_recording *r = rec->r;
    bool plain;
    r->trial_hash = taper_hash(taper_gpu_program_hash(rec->state, &r->program), &threads, sizeof threads);
    if (rec->segment->required || !taper_gpu_knows_faster(rec->segment->device->cache_dir, r->trial_hash, &plain)) {
        return TAPER_OK;
    }
    r->trial.phase = plain ? TAPER_TRIAL_TAKES_PLAIN : TAPER_TRIAL_TAKES_DEVICE;
    if (!plain) {
        return TAPER_OK;
    }
    rec->call->run->why = taper_gpu_was_slower;
    taper_gpu_say(rec->segment, rec->call->run, TAPER_LOG_INFO, "the CPU runs this segment: %s", rec->call->run->why);
    return TAPER_DECLINED;
}

// If the device seems much slower than the CPU, no pipelines are made and nothing is measured.
static taper_status ask_estimate(const recorder *rec)
{
    taper_gpu_state *s = rec->state;
    taper_gpu_recording *r = rec->r;
    taper_status status = TAPER_OK;
    if (!s->estimates && !s->times) {
        return TAPER_OK;
    }
    taper_mutex_lock(s->lock);
    if (s->times) {
        begin_trying(rec);
        status = taper_gpu_measure_peak(s);
    }
    r->estimate = taper_gpu_estimate_program(s, &r->program, bytes_moved(r), rec->segment->device->cpu,
                                             taper_pool_threads(rec->call->run->pool));
    const taper_gpu_estimate now = taper_gpu_estimate_corrected(s, &r->estimate);
    const bool pays = taper_gpu_estimate_pays(s, &now);
    taper_mutex_unlock(s->lock);
    TAPER_TRY(taper_gpu_status(status, rec->call->run->error));
    taper_gpu_say(rec->segment, rec->call->run, TAPER_LOG_INFO,
                  "the device is estimated to take %.3f ms, the CPU %.3f ms", now.device * 1e3, now.plain * 1e3);
    if (pays || !s->estimates || rec->segment->required || r->trial.phase == TAPER_TRIAL_TAKES_DEVICE) {
        return TAPER_OK;
    }
    rec->call->run->why = "by the estimate the CPU is faster";
    taper_gpu_say(rec->segment, rec->call->run, TAPER_LOG_INFO, "the CPU runs this segment: %s", rec->call->run->why);
    return TAPER_DECLINED;
}

static taper_status finish(const recorder *rec, double begin)
{
    size_t pipelines;
    TAPER_TRY(give_to_device(rec, &pipelines));
    taper_gpu_say(rec->segment, rec->call->run, TAPER_LOG_INFO,
                  "recorded %zu dispatches of %zu pipelines in %.1f ms; tensors between them take %.1f MB, and each "
                  "run moves %" PRIu64 " bytes from and to the host",
                  rec->r->program.work_count, pipelines, (taper_clock() - begin) * 1e3,
                  (double)rec->r->program.bytes[TAPER_GPU_ARENA] * 1e-6, bytes_moved(rec->r));
    return TAPER_OK;
}

static taper_status record(recorder *rec)
{
    const double begin = taper_clock();
    TAPER_TRY(taper_segment_values_init(rec->segment, rec->call, rec->state->allocator, &rec->values));
    TAPER_TRY(emit(rec));
    TAPER_TRY(taper_gpu_program_place(&rec->r->program, rec->state->gpu->align, rec->state->alias));
    TAPER_TRY(make_ports(rec));
    if (rec->state->times) {
        rec->r->seconds = taper_alloc_zeroed(rec->state->allocator, times_bytes(rec->r));
    }
    TAPER_TRY(settle_works(rec));
    TAPER_TRY(ask_what_was_faster(rec));
    TAPER_TRY(ask_estimate(rec));
    TAPER_TRY(wish_for_pipelines(rec));
    if (rec->r->waits) {
        taper_gpu_say(rec->segment, rec->call->run, TAPER_LOG_INFO,
                      "the CPU runs this segment while the device makes its pipelines");
        return TAPER_OK;
    }
    return finish(rec, begin);
}

taper_status taper_gpu_stop_waiting(const taper_segment *segment, taper_call *call, taper_gpu_recording *r)
{
    const recorder rec = {.segment = segment, .call = call, .state = state_of(segment), .r = r};
    taper_mutex_lock(rec.state->lock);
    const bool making = taper_gpu_is_making(rec.state);
    taper_mutex_unlock(rec.state->lock);
    call->run->why = "its pipelines are being made";
    if (making) {
        return TAPER_DECLINED;
    }
    r->waits = false;
    const taper_status status = finish(&rec, taper_clock());
    r->refused = status != TAPER_OK;
    call->run->replan = true;
    if (status == TAPER_DEVICE_LOST) {
        return taper_gpu_tell_trouble(segment, call->run);
    }
    return status;
}

taper_status taper_gpu_record(const taper_segment *segment, taper_call *call, void *recording)
{
    recorder rec = {.segment = segment, .call = call, .state = state_of(segment), .r = recording};
    rec.r->program.allocator = rec.state->allocator;
    rec.r->program.error = call->run->error;
    const taper_status status = record(&rec);
    taper_segment_values_free(&rec.values);
    taper_free(rec.state->allocator, rec.slots, rec.slot_count * sizeof *rec.slots);
    if (status != TAPER_OK) {
        taper_gpu_forget(segment, recording);
    }
    if (status == TAPER_DEVICE_LOST) {
        return taper_gpu_tell_trouble(segment, call->run);
    }
    return status;
}

void taper_gpu_forget(const taper_segment *segment, void *recording)
{
    taper_gpu_state *s = state_of(segment);
    taper_gpu_recording *r = recording;
    taper_mutex_lock(s->lock);
    taper_gpu_end_trying(segment, r);
    taper_mutex_unlock(s->lock);
    if (r->recorded != NULL) {
        s->api->recorded_free(s->gpu, r->recorded);
    }
    for (int place = 0; place < TAPER_GPU_PLACES; place++) {
        taper_gpu_buffer *const buffer = buffer_of(r, (taper_gpu_place)place);
        if (buffer != NULL && place != TAPER_GPU_ARENA) {
            s->api->buffer_free(s->gpu, buffer);
        }
    }
    drop_arena(s, r);
    s->api->buffer_free(s->gpu, &r->parameters);
    for (size_t i = 0; i < r->program.memory_count; i++) {
        if (r->program.memories[i].weights != NULL) {
            taper_gpu_weights_release(s, r->program.memories[i].weights);
        }
    }
    taper_free(s->allocator, r->seconds, times_bytes(r));
    if (r->ports != NULL) {
        taper_free(s->allocator, r->ports, (r->in_count + r->out_count + 1) * sizeof *r->ports);
    }
    if (r->program.allocator != NULL) {
        taper_gpu_program_free(&r->program);
    }
    memset(r, 0, sizeof *r);
}

void taper_gpu_storages(const taper_segment *segment, const void *recording, taper_each_storage *each, void *user)
{
    const taper_gpu_recording *r = recording;
    (void)segment;
    for (size_t i = 0; i < r->program.memory_count; i++) {
        const taper_gpu_memory *m = &r->program.memories[i];
        if (m->place == TAPER_GPU_ARENA && m->first != TAPER_GPU_NONE) {
            each(user, &(taper_device_storage){.bytes = m->bytes,
                                               .offset = m->offset,
                                               .born = m->first,
                                               .died = m->last + 1,
                                               .node = r->program.works[m->first].node});
        }
    }
}
