// SPDX-License-Identifier: BSD-2-Clause
// Goes through the nodes, and provides values for rules. See gpu_emit.h.
#include "backends/gpu/gpu_emit.h"

#include <string.h>

#include "backends/common/shape_nodes.h"
#include "backends/gpu/gpu_held.h"
#include "ops/list/op_rows.h"

// ---- the table of rules

static const taper_gpu_rule_row rows[] = {
#define RULE(id, name, code) {taper_gpu_rule_##name, TAPER_WORK_##id, code},
#define STEP(id, step) {taper_gpu_rule_step, TAPER_WORK_##id, TAPER_GPU_STEP_##step},
#include "backends/gpu/gpu_rules.inc"
#undef RULE
#undef STEP
};

const taper_gpu_rule_row *taper_gpu_find_rule(const taper_node *node)
{
    if (node->kind != TAPER_NODE_OP) {
        return NULL;
    }
    const unsigned work = taper_node_work(node);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].work == work) {
            return &rows[i];
        }
    }
    return NULL;
}

// ---- values of the segment

static taper_gpu_value *slot_of(const taper_gpu_emitter *e, const taper_ir_value *value)
{
    if (value->block == e->known->body) {
        return &e->values[value->id - e->first_id];
    }
    const size_t at = taper_segment_values_argument(e->known, value);
    return at != SIZE_MAX ? &e->arguments[at] : NULL;
}

taper_shape taper_gpu_shape(const taper_gpu_emitter *e, const taper_ir_value *value)
{
    taper_known_value known = taper_read_value(&e->reader, value);
    if (known.constant != NULL) {
        return known.constant->tag == TAPER_TENSOR ? taper_shape_of(known.constant->as.tensor) : taper_shape_unknown();
    }
    // Results of rules are float32 even if the operator's row in the operator list does not say so. A dtype argument is
    // checked earlier.
    if (!e->asking && known.shape.dtype < 0 && value->block == e->known->body) {
        known.shape.dtype = TAPER_F32;
    }
    return known.shape;
}

static unsigned dtypes_of(int dtype)
{
    switch (dtype) {
    case TAPER_F32:
        return TAPER_GPU_FLOATS;
    case TAPER_BOOL:
        return TAPER_GPU_TRUTHS;
    case TAPER_I64:
    case TAPER_I32:
        return TAPER_GPU_WHOLES;
    case TAPER_QU8:
        return TAPER_GPU_QUANTS;
    default:
        return 0;
    }
}

bool taper_gpu_is_known(const taper_shape *shape)
{
    bool known = shape->rank >= 0 && dtypes_of(shape->dtype) != 0;
    for (int d = 0; d < shape->rank; d++) {
        known = known && shape->sizes[d] > 0;
    }
    return known;
}

static const char *what_is_not(unsigned dtypes)
{
    return dtypes == TAPER_GPU_FLOATS ? "a tensor of other than float32" : "a tensor of a dtype that it does not take";
}

taper_status taper_gpu_ask_operand(taper_gpu_emitter *e, const taper_ir_value *value)
{
    return taper_gpu_ask_operand_of(e, value, TAPER_GPU_FLOATS);
}

taper_status taper_gpu_ask_operand_of(taper_gpu_emitter *e, const taper_ir_value *value, unsigned dtypes)
{
    const taper_shape shape = taper_gpu_shape(e, value);
    TAPER_GPU_REFUSE(e, shape.dtype >= 0 && (dtypes_of(shape.dtype) & dtypes) == 0, what_is_not(dtypes));
    TAPER_GPU_REFUSE(e, shape.rank > TAPER_GPU_RANK, "a tensor of more than six dimensions");
    TAPER_GPU_REFUSE(e, value->type != NULL && value->type->kind != TAPER_TYPE_TENSOR, "an argument that is no tensor");
    return TAPER_OK;
}

void taper_gpu_give(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *view)
{
    taper_gpu_value *slot = slot_of(e, value);
    slot->made = true;
    slot->view = *view;
}

void taper_gpu_give_quantized(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *view,
                              double scale, int64_t zero_point)
{
    taper_gpu_value *slot = slot_of(e, value);
    slot->scale = scale;
    slot->zero_point = zero_point;
    taper_gpu_give(e, value, view);
}

taper_status taper_gpu_quantizer(taper_gpu_emitter *e, const taper_ir_value *value, double *scale, int64_t *zero_point)
{
    const size_t arg = taper_segment_values_argument(e->known, value);
    if (arg == SIZE_MAX) {
        *scale = slot_of(e, value)->scale;
        *zero_point = slot_of(e, value)->zero_point;
        return TAPER_OK;
    }
    const taper_val *given = &e->known->call->args[arg];
    const taper_quantizer *z = given->tag == TAPER_TENSOR ? given->as.tensor->quantizer : NULL;
    TAPER_GPU_REFUSE(e, z == NULL || z->scales != NULL, "a tensor that is quantized channel by channel");
    *scale = z->scale;
    *zero_point = z->zero_point;
    return TAPER_OK;
}

taper_status taper_gpu_new(taper_gpu_emitter *e, const taper_shape *shape, int packed, taper_gpu_view *view)
{
    int64_t vectors;
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(shape), "a result whose sizes follow from elements, or that is empty");
    TAPER_GPU_REFUSE(e, !taper_gpu_view_dense(shape, packed, view, &vectors), "a tensor that is too large");
    return taper_gpu_add_memory(e->program, TAPER_GPU_ARENA, taper_gpu_vector_bytes(e->state, vectors), &view->buffer);
}

// ---- values from outside the segment

typedef struct constant_fill {
    const taper_tensor *tensor; // tensor of float32 or bool
    const taper_gpu_view *view;
} constant_fill;

static void fill_constant(void *user, float *to)
{
    const constant_fill *f = user;
    const taper_tensor *t = f->tensor;
    const void *from = taper_tensor_data(t);
    int64_t at[TAPER_GPU_RANK] = {0};
    for (;;) {
        int64_t source = 0, there = 0, lane = 0;
        for (int d = 0; d < t->rank; d++) {
            source += at[d] * t->strides[d];
            const bool packed = d == f->view->packed;
            there += (packed ? at[d] / TAPER_GPU_VECTOR : at[d]) * f->view->strides[d];
            lane = packed ? at[d] % TAPER_GPU_VECTOR : lane;
        }
        to[there * TAPER_GPU_VECTOR + lane] =
            t->dtype == TAPER_F32 ? ((const float *)from)[source] : ((const uint8_t *)from)[source] != 0;
        int d = t->rank - 1;
        while (d >= 0 && ++at[d] == t->sizes[d]) {
            at[d--] = 0;
        }
        if (d < 0) {
            return;
        }
    }
}

taper_status taper_gpu_add_weights(taper_gpu_emitter *e, const taper_gpu_key *key, uint64_t bytes,
                                   void (*fill)(void *user, float *to), void *user, uint32_t *buffer)
{
    taper_gpu_weights *weights;
    TAPER_GPU_REFUSE(e, bytes > e->state->gpu->most_bytes, "weights that are larger than a buffer may be");
    TAPER_TRY(taper_gpu_add_memory(e->program, TAPER_GPU_WEIGHTS, bytes, buffer));
    TAPER_TRY(taper_gpu_weights_get(e->state, key, bytes, fill, user, &weights, e->error));
    e->program->memories[*buffer].weights = weights;
    return TAPER_OK;
}

static taper_status bring_constant(taper_gpu_emitter *e, const taper_tensor *tensor, int packed, taper_gpu_view *view)
{
    enum { KIND = 1 };
    const taper_shape shape = taper_shape_of(tensor);
    const taper_gpu_key key = {.tensors = {tensor}, .numbers = {packed, tensor->dtype}, .kind = KIND};
    constant_fill fill = {.tensor = tensor, .view = view};
    int64_t vectors;
    TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || tensor->hidden_nhwc, "a constant that is empty");
    TAPER_GPU_REFUSE(e, !taper_gpu_view_dense(&shape, packed, view, &vectors), "a tensor that is too large");
    return taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, vectors), fill_constant, &fill,
                                 &view->buffer);
}

static taper_status bring(taper_gpu_emitter *e, const taper_ir_value *value, taper_gpu_value *slot)
{
    const size_t arg = taper_segment_values_argument(e->known, value);
    const taper_known_value known = taper_read_value(&e->reader, value);
    const taper_shape shape = taper_gpu_shape(e, value);
    TAPER_GPU_REFUSE(e, arg == SIZE_MAX, "a value that is not made before");
    TAPER_GPU_REFUSE(e, e->known->call->args[arg].tag != TAPER_TENSOR, "an argument that is no tensor");
    TAPER_GPU_REFUSE(e, dtypes_of(shape.dtype) == 0, "a tensor of a dtype that the GPU lacks");
    TAPER_GPU_REFUSE(e, known.constant != NULL && shape.dtype == TAPER_QU8, "a quantized constant");
    const int packed = taper_gpu_usual_packed(shape.rank);
    const bool whole = dtypes_of(shape.dtype) == TAPER_GPU_WHOLES;
    if (known.constant != NULL && !whole) {
        TAPER_TRY(bring_constant(e, known.constant->as.tensor, packed, &slot->view));
    } else {
        // The tensor becomes contiguous plain numbers first, then vectors.
        taper_gpu_view numbers = {.rank = shape.rank, .packed = TAPER_GPU_RANK};
        uint64_t count = 1;
        TAPER_GPU_REFUSE(e, !taper_gpu_is_known(&shape) || shape.rank > TAPER_GPU_RANK, "a tensor that is empty");
        for (int d = shape.rank; d-- > 0;) {
            numbers.sizes[d] = shape.sizes[d];
            numbers.strides[d] = (int64_t)count;
            TAPER_GPU_REFUSE(e, __builtin_mul_overflow(count, (uint64_t)shape.sizes[d], &count) || count > INT32_MAX,
                             "a tensor that is too large");
        }
        if (shape.rank == 0) {
            numbers.rank = 1;
            numbers.sizes[0] = 1;
        }
        const taper_gpu_place place =
            taper_tensor_is_away(e->known->call->args[arg].as.tensor) ? TAPER_GPU_STAYS_IN : TAPER_GPU_INPUT;
        TAPER_TRY(taper_gpu_add_memory(e->program, place, count * sizeof(float), &numbers.buffer));
        e->program->memories[numbers.buffer].number = (uint32_t)arg;
        slot->view = numbers;
        if (!whole) {
            TAPER_TRY(taper_gpu_new(e, &shape, packed, &slot->view));
            TAPER_TRY(taper_gpu_move(e, &numbers, &slot->view));
        }
    }
    slot->made = true;
    return TAPER_OK;
}

taper_status taper_gpu_operand(taper_gpu_emitter *e, const taper_ir_value *value, taper_gpu_view *view)
{
    return taper_gpu_operand_of(e, value, TAPER_GPU_FLOATS, view);
}

taper_status taper_gpu_operand_of(taper_gpu_emitter *e, const taper_ir_value *value, unsigned dtypes,
                                  taper_gpu_view *view)
{
    taper_gpu_value *slot = slot_of(e, value);
    const taper_shape shape = taper_gpu_shape(e, value);
    TAPER_GPU_REFUSE(e, (dtypes_of(shape.dtype) & dtypes) == 0, what_is_not(dtypes));
    TAPER_GPU_REFUSE(e, slot == NULL, "an argument that is not there");
    if (!slot->made) {
        TAPER_TRY(bring(e, value, slot));
    }
    *view = slot->view;
    return TAPER_OK;
}

// Converts consecutive numbers into vectors. Before each run, the host checks that the vectors represent all these
// integers exactly (`most`: half floats do so up to 2^11).
static taper_status take_numbers(taper_gpu_emitter *e, taper_gpu_view *view)
{
    enum { MOST_HALF = 1 << 11 };
    const taper_gpu_view numbers = *view;
    TAPER_GPU_REFUSE(e, e->program->memories[numbers.buffer].wraps, "indices of several kinds");
    taper_shape shape = {.rank = numbers.rank, .dtype = TAPER_F32};
    memcpy(shape.sizes, numbers.sizes, sizeof numbers.sizes);
    TAPER_TRY(taper_gpu_new(e, &shape, taper_gpu_usual_packed(shape.rank), view));
    e->program->memories[numbers.buffer].most = e->state->half ? MOST_HALF : TAPER_GPU_MOST_WHOLE;
    return taper_gpu_move(e, &numbers, view);
}

taper_status taper_gpu_operand_vectors(taper_gpu_emitter *e, const taper_ir_value *value, taper_gpu_view *view)
{
    TAPER_TRY(taper_gpu_operand_of(e, value, TAPER_GPU_ANY, view));
    return view->packed == TAPER_GPU_RANK ? take_numbers(e, view) : TAPER_OK;
}

taper_status taper_gpu_repack(taper_gpu_emitter *e, const taper_gpu_view *from, int packed, taper_gpu_view *view)
{
    taper_shape shape = {.rank = from->rank, .dtype = TAPER_F32};
    if (from->packed == packed) {
        *view = *from;
        return TAPER_OK;
    }
    memcpy(shape.sizes, from->sizes, sizeof from->sizes);
    TAPER_TRY(taper_gpu_new(e, &shape, packed, view));
    return taper_gpu_move(e, from, view);
}

taper_status taper_gpu_operand_packed(taper_gpu_emitter *e, const taper_ir_value *value, int packed,
                                      taper_gpu_view *view)
{
    taper_gpu_view as_it_is;
    TAPER_TRY(taper_gpu_operand(e, value, &as_it_is));
    return taper_gpu_repack(e, &as_it_is, packed, view);
}

// ---- the nodes of the segment

// Largest number of dispatches in a recording. The limit bounds the time for planning memory and barriers, which
// compare each dispatch with each other one.
enum { MOST_WORKS = 16384 };

// Returns the possible dtypes of a rule's results, as flags (TAPER_GPU_FLOATS …).
static unsigned gives(taper_gpu_rule *rule)
{
    static taper_gpu_rule *const views[] = {taper_gpu_rule_reshape, taper_gpu_rule_permute, taper_gpu_rule_transpose,
                                            taper_gpu_rule_slice,   taper_gpu_rule_select,  taper_gpu_rule_pieces,
                                            taper_gpu_rule_expand,  taper_gpu_rule_identity};
    static taper_gpu_rule *const quants[] = {taper_gpu_rule_quantize,         taper_gpu_rule_quantized_conv,
                                             taper_gpu_rule_quantized_linear, taper_gpu_rule_quantized_add,
                                             taper_gpu_rule_quantized_mul,    taper_gpu_rule_quantized_map};
    static taper_gpu_rule *const moves[] = {taper_gpu_rule_where, taper_gpu_rule_stack,  taper_gpu_rule_flip,
                                            taper_gpu_rule_roll,  taper_gpu_rule_gather, taper_gpu_rule_index,
                                            taper_gpu_rule_repeat};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        if (rule == views[i]) {
            return TAPER_GPU_ANY | TAPER_GPU_QUANTS;
        }
    }
    for (size_t i = 0; i < sizeof quants / sizeof *quants; i++) {
        if (rule == quants[i]) {
            return TAPER_GPU_QUANTS;
        }
    }
    if (rule == taper_gpu_rule_pool || rule == taper_gpu_rule_adaptive) {
        return TAPER_GPU_FLOATS | TAPER_GPU_QUANTS;
    }
    // The dtypes of the operands decide which of these the result has.
    if (rule == taper_gpu_rule_step || rule == taper_gpu_rule_cat) {
        return TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS | TAPER_GPU_QUANTS;
    }
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (rule == moves[i]) {
            return TAPER_GPU_FLOATS | TAPER_GPU_TRUTHS;
        }
    }
    return TAPER_GPU_FLOATS;
}

// Completes a shape. If it lacks a dtype, it gets the dtype of the inputs, or float32 if the inputs differ, as when
// bool is joined with floats. The result has the first input's scale and zero point.
static taper_status settle_dtypes(taper_gpu_emitter *e, const taper_node *node, const taper_node *from)
{
    const taper_ir_value *first = from->input_count != 0 ? taper_node_in(from, 0) : NULL;
    const taper_node *list =
        first != NULL && first->node != NULL && first->node->kind == TAPER_NODE_LIST && first->node->input_count != 0
            ? first->node
            : NULL;
    first = list != NULL ? taper_node_in(list, 0) : first;
    int dtype = first != NULL ? taper_gpu_shape(e, first).dtype : -1;
    for (size_t i = 1; list != NULL && i < list->input_count; i++) {
        dtype = taper_gpu_shape(e, taper_node_in(list, i)).dtype == dtype ? dtype : TAPER_F32;
    }
    for (size_t i = 0; first != NULL && i < node->output_count; i++) {
        taper_shape *shape = &e->known->shapes.of[node->outputs[i].id - e->known->shapes.first];
        taper_gpu_value *slot = slot_of(e, &node->outputs[i]);
        shape->dtype = shape->dtype < 0 ? dtype : shape->dtype;
        if (dtype == TAPER_QU8) {
            TAPER_TRY(taper_gpu_quantizer(e, first, &slot->scale, &slot->zero_point));
        }
    }
    return TAPER_OK;
}

static taper_status emit_node(taper_gpu_emitter *e, const taper_node *node)
{
    if (!e->asking && node->kind == TAPER_NODE_LIST_UNPACK && taper_node_in(node, 0)->node != NULL) {
        TAPER_TRY(settle_dtypes(e, node, taper_node_in(node, 0)->node));
    }
    if (node->kind == TAPER_NODE_LIST || node->kind == TAPER_NODE_LIST_UNPACK || taper_is_shape_node(node)) {
        // No dispatch is needed: other nodes compute the items of a list, and the results of shape nodes are known
        // numbers.
        return TAPER_OK;
    }
    const taper_gpu_rule_row *row = taper_gpu_find_rule(node);
    TAPER_GPU_REFUSE(e, row == NULL, "no GPU implementation of this operator");
    e->node = node;
    const taper_val *dtype = taper_read_constant(&e->reader, taper_read_argument(node, "dtype"));
    TAPER_GPU_REFUSE(e,
                     dtype != NULL && dtype->tag == TAPER_INT && dtype->as.i != TAPER_F32 &&
                         row->rule != taper_gpu_rule_identity && row->rule != taper_gpu_rule_quantize,
                     "a change of the dtype");
    if (!e->asking && gives(row->rule) != TAPER_GPU_FLOATS &&
        !(row->rule == taper_gpu_rule_identity && row->code == 1) && row->rule != taper_gpu_rule_step &&
        row->rule != taper_gpu_rule_where) {
        TAPER_TRY(settle_dtypes(e, node, node));
    }
    for (size_t i = 0; i < node->output_count; i++) {
        if (node->outputs[i].type != NULL && node->outputs[i].type->kind == TAPER_TYPE_TENSOR) {
            TAPER_TRY(taper_gpu_ask_operand_of(e, &node->outputs[i], gives(row->rule)));
        }
    }
    return row->rule(e, node, row->code);
}

// Makes memory for result `number` of the segment, as consecutive numbers instead of vectors.
static taper_status new_numbers(taper_gpu_emitter *e, int rank, const int64_t *sizes, uint32_t number,
                                taper_gpu_view *numbers)
{
    int64_t count = 1;
    *numbers = (taper_gpu_view){.packed = TAPER_GPU_RANK, .rank = rank};
    for (int d = rank; d-- > 0;) {
        numbers->sizes[d] = sizes[d];
        numbers->strides[d] = count;
        count *= sizes[d];
    }
    const taper_shape shape = taper_gpu_shape(e, e->known->body->results[number].value);
    const bool stays = (shape.dtype < 0 || shape.dtype == TAPER_F32) &&
                       taper_gpu_result_stays(e->segment, number, e->known->call->run->results_stay);
    const taper_gpu_place place = stays ? TAPER_GPU_STAYS_OUT : TAPER_GPU_OUTPUT;
    TAPER_TRY(taper_gpu_add_memory(e->program, place, (uint64_t)count * sizeof(float), &numbers->buffer));
    e->program->memories[numbers->buffer].number = number;
    return TAPER_OK;
}

taper_status taper_gpu_new_output(taper_gpu_emitter *e, const taper_ir_value *value, const taper_shape *shape,
                                  int packed, taper_gpu_view *view, bool *leaves)
{
    int64_t vectors;
    *leaves = taper_value_used_once(value) && value->uses->user == NULL && value->uses->block == e->known->body &&
              taper_gpu_is_known(shape) && taper_gpu_view_dense(shape, packed, view, &vectors);
    if (!*leaves) {
        return TAPER_OK;
    }
    TAPER_TRY(new_numbers(e, shape->rank, shape->sizes, value->uses->index, view));
    view->packed = packed;
    slot_of(e, value)->given = true;
    return TAPER_OK;
}

static taper_status emit_number(taper_gpu_emitter *e, const taper_ir_value *value, uint32_t result)
{
    taper_gpu_program *p = e->program;
    taper_known_value known;
    taper_segment_values_know((void *)(uintptr_t)e->known, value, &known);
    TAPER_GPU_REFUSE(e, known.constant == NULL || known.constant->tag != TAPER_INT,
                     "a number that follows from elements");
    TAPER_TRY(TAPER_GROW(p->allocator, p->numbers, p->number_capacity, p->number_count + 1, p->error));
    p->numbers[p->number_count++] = (taper_gpu_number){result, known.constant->as.i};
    return TAPER_OK;
}

static taper_status emit_result(taper_gpu_emitter *e, const taper_ir_value *value, uint32_t number)
{
    taper_gpu_view from, numbers;
    double scale = 0;
    int64_t zero_point = 0;
    if (value->type != NULL && value->type->kind != TAPER_TYPE_TENSOR) {
        return emit_number(e, value, number);
    }
    if (value->block == e->known->body && slot_of(e, value)->given) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand_of(e, value, TAPER_GPU_ANY | TAPER_GPU_QUANTS, &from));
    TAPER_TRY(from.packed == TAPER_GPU_RANK ? take_numbers(e, &from) : TAPER_OK);
    if (taper_gpu_shape(e, value).dtype == TAPER_QU8) {
        TAPER_TRY(taper_gpu_quantizer(e, value, &scale, &zero_point));
    }
    TAPER_TRY(new_numbers(e, from.rank, from.sizes, number, &numbers));
    e->program->memories[numbers.buffer].scale = scale;
    e->program->memories[numbers.buffer].zero_point = (int32_t)zero_point;
    e->node = value->node;
    return taper_gpu_move(e, &from, &numbers);
}

taper_status taper_gpu_emit(taper_gpu_emitter *e)
{
    const taper_block *body = e->known->body;
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        if (node->output_count != 0 && e->values[node->outputs[0].id - e->first_id].done) {
            continue;
        }
        if (node->output_count != 0 || !taper_segment_values_check_holds(e->known, node)) {
            TAPER_TRY(emit_node(e, node));
            TAPER_GPU_REFUSE(e, e->program->work_count > MOST_WORKS, "more dispatches than a recording has");
        }
    }
    for (size_t i = 0; i < body->result_count; i++) {
        TAPER_TRY(emit_result(e, body->results[i].value, (uint32_t)i));
    }
    return TAPER_OK;
}

const char *taper_gpu_refuses(const taper_claimer *claimer, taper_region *region, taper_node *node)
{
    taper_gpu_emitter e = {.reader = {.know = taper_region_know, .user = region, .later = true},
                           .asking = true,
                           .heap = taper_graph_heap(region->graph)};
    (void)claimer;
    const taper_status status = emit_node(&e, node);
    return status == TAPER_OK ? NULL : e.reader.why != NULL ? e.reader.why : "no GPU implementation of this operator";
}

bool taper_gpu_pays(const taper_node *node)
{
    static taper_gpu_rule *const layers[] = {
        taper_gpu_rule_conv,          taper_gpu_rule_linear,         taper_gpu_rule_addmm,
        taper_gpu_rule_matmul,        taper_gpu_rule_einsum,         taper_gpu_rule_packed_conv,
        taper_gpu_rule_packed_linear, taper_gpu_rule_multi_head,     taper_gpu_rule_lstm,
        taper_gpu_rule_gru,           taper_gpu_rule_quantized_conv, taper_gpu_rule_quantized_linear};
    const taper_gpu_rule_row *row = taper_gpu_find_rule(node);
    for (size_t i = 0; row != NULL && i < sizeof layers / sizeof *layers; i++) {
        if (row->rule == layers[i]) {
            return true;
        }
    }
    return false;
}
