// SPDX-License-Identifier: BSD-2-Clause
// The checks when a model is finished: the order of operations, their scales, and the sizes of their results.
#include <stdlib.h>
#include <string.h>

#include "model.h"

int double_order_operations(model_body *model)
{
    bool *done = calloc((size_t)model->operand_count + model->operation_count, sizeof *done);
    uint32_t *order = malloc((model->operation_count + (size_t)1) * sizeof *order), found = 0;
    if (done == NULL || order == NULL) {
        free(done);
        free(order);
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    bool *placed = done + model->operand_count;
    for (uint32_t i = 0; i < model->operand_count; i++) {
        done[i] = !model->operands[i].is_written;
    }
    for (bool more = true; more;) { // operations are usually in order already, so one or two rounds are sufficient
        more = false;
        for (uint32_t i = 0; i < model->operation_count; i++) {
            const operation *op = &model->operations[i];
            bool ready = !placed[i];
            for (uint32_t k = 0; ready && k < op->in_count; k++) {
                ready = done[op->in[k]];
            }
            for (uint32_t k = 0; ready && k < op->out_count; k++) {
                done[op->out[k]] = true;
            }
            if (ready) {
                placed[i] = more = true;
                order[found++] = i;
            }
        }
    }
    free(done);
    free(model->order);
    model->order = order;
    return found == model->operation_count
               ? ANEURALNETWORKS_NO_ERROR
               : double_misuse(ANEURALNETWORKS_BAD_DATA, "operations wait for each other's results");
}

// Returns true if all inputs that determine the sizes of the operation's results are known.
static bool is_ready(const operation *op, const tensor *in)
{
    for (uint32_t k = 0; k < op->in_count; k++) {
        const bool parameter = double_is_parameter(op->row, op->in_count, k);
        if (!in[k].omitted && (parameter ? in[k].data == NULL : !tensor_sized(&in[k]))) {
            return false;
        }
    }
    return true;
}

static int check_operation(const model_body *model, uint32_t at, tensor *tensors, tensor *in, tensor *out)
{
    const operation *op = &model->operations[at];
    for (uint32_t k = 0; k < op->in_count; k++) {
        in[k] = tensors[op->in[k]];
    }
    for (uint32_t k = 0; k < op->out_count; k++) {
        out[k] = tensors[op->out[k]];
    }
    if (op->row == NULL) {
        return ANEURALNETWORKS_NO_ERROR;
    }
    const int code = double_check_scales(op->row, in, op->in_count, out, op->out_count);
    if (code != ANEURALNETWORKS_NO_ERROR || !is_ready(op, in)) {
        return code;
    }
    call c = {DOUBLE_LEVEL, op->code, .in = in, .in_count = op->in_count, .out = out, .out_count = op->out_count};
    if (!double_kernel(op->code)->prepare(&c)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operation %u (%d): %s", at, op->code, c.why);
    }
    for (uint32_t k = 0; k < op->out_count; k++) {
        tensor *to = &tensors[op->out[k]];
        bool fits = to->rank == 0 || to->rank == out[k].rank;
        for (uint32_t d = 0; fits && d < to->rank; d++) {
            fits = to->sizes[d] == 0 || to->sizes[d] == out[k].sizes[d];
        }
        if (!fits) {
            const uint32_t last = out[k].rank - 1;
            return double_misuse(ANEURALNETWORKS_BAD_DATA,
                                 "operation %u (%d): output %u has other sizes than it would get, %u dimensions from "
                                 "%u to %u",
                                 at, op->code, k, out[k].rank, out[k].sizes[0], out[k].sizes[last]);
        }
        set_sizes(to, out[k].rank, out[k].sizes);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int double_check_shapes(const model_body *model)
{
    size_t most = 0;
    for (uint32_t i = 0; i < model->operation_count; i++) {
        const size_t count = (size_t)model->operations[i].in_count + model->operations[i].out_count;
        most = count > most ? count : most;
    }
    tensor *tensors = malloc((model->operand_count + most + 1) * sizeof *tensors);
    if (tensors == NULL) {
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < model->operand_count; i++) {
        tensors[i] = double_tensor(&model->operands[i]);
    }
    int code = ANEURALNETWORKS_NO_ERROR;
    for (uint32_t i = 0; i < model->operation_count && code == ANEURALNETWORKS_NO_ERROR; i++) {
        const operation *op = &model->operations[model->order[i]];
        tensor *in = tensors + model->operand_count;
        code = check_operation(model, model->order[i], tensors, in, in + op->in_count);
    }
    free(tensors);
    return code;
}
