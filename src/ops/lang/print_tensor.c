// SPDX-License-Identifier: BSD-2-Clause
// Tensors as text, as torch::print writes them: columns of one width, a common scale factor, and a last line "[
// CPUFloatType{2,3} ]". Tensors of more than two dimensions are printed matrix by matrix. Widths and precisions follow
// PyTorch, which keeps some of them from one matrix to the next.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/call/promote.h"
#include "ops/lang/scalar.h"
#include "ops/lang/string_ops.h"

enum { LINE = 80 };

typedef struct printer {
    taper_run *run;
    taper_text *text;
    const double *data;
    char floats;   // format of floats, 'g', 'e' or 'f', kept from one matrix to the next
    int precision; // precision as in printf: 6 until a matrix sets it to 4, which later matrices keep
} printer;

typedef struct column {
    double scale;
    int64_t width;
} column;

static void number(printer *p, double value, int64_t width)
{
    char digits[TAPER_DIGITS];
    taper_print_double(digits, p->floats, p->precision, value);
    for (int64_t used = (int64_t)strlen(digits); used < width; used++) {
        taper_text_append(p->text, " ", 1);
    }
    taper_text_string(p->text, digits);
}

static void indent(printer *p, int64_t spaces)
{
    for (int64_t i = 0; i < spaces; i++) {
        taper_text_append(p->text, " ", 1);
    }
}

static double decimal_exponent(double x)
{
    return x != 0 ? floor(log10(x)) + 1 : 1;
}

// Returns the width and scale for `count` numbers and sets the printer's format and precision.
static column choose(printer *p, const double *data, int64_t count)
{
    if (count == 0) {
        return (column){1, 0};
    }
    bool whole = true, any = false;
    double low = 1, high = 1;
    for (int64_t i = 0; i < count; i++) {
        const double x = data[i], size = fabs(x);
        if (!isfinite(x)) {
            continue;
        }
        whole = whole && x == ceil(x);
        low = !any || size < low ? size : low;
        // The comparison uses the sign, as in PyTorch: a negative number of large magnitude does not widen the columns.
        high = !any || x > high ? size : high;
        any = true;
    }
    if (any) {
        low = decimal_exponent(low);
        high = decimal_exponent(high);
    }
    column c = {1, 11};
    if (whole) {
        p->floats = high > 9 ? 'e' : 'g';
        if (high > 9) {
            p->precision = 4;
        } else {
            c.width = (int64_t)high + 1;
        }
        return c;
    }
    p->precision = 4;
    if (high - low > 4) {
        p->floats = 'e';
        if (fabs(high) > 99 || fabs(low) > 99) {
            c.width = 12;
        }
        return c;
    }
    p->floats = 'f';
    if (high > 5 || high < 0) {
        c.width = 7;
        c.scale = pow(10, high - 1);
    } else {
        c.width = high == 0 ? 7 : (int64_t)high + 6;
    }
    return c;
}

static void print_scale(printer *p, double scale)
{
    char digits[TAPER_DIGITS];
    taper_print_double(digits, 'g', p->precision, scale);
    taper_text_string(p->text, digits);
    taper_text_string(p->text, " *\n");
}

static taper_status print_matrix(printer *p, const double *data, int64_t rows, int64_t columns, int64_t spaces)
{
    const column c = choose(p, data, rows * columns);
    const int64_t per_line = taper_max_i64(1, (LINE - spaces) / (c.width + 1));
    indent(p, spaces);
    for (int64_t first = 0; first < columns; first += per_line) {
        const int64_t last = taper_min_i64(first + per_line, columns) - 1;
        if (per_line < columns) {
            if (first != 0) {
                taper_text_string(p->text, "\n");
            }
            taper_text_format(p->text, "Columns %" PRId64 " to %" PRId64, first + 1, last + 1);
            indent(p, spaces);
        }
        if (c.scale != 1) {
            print_scale(p, c.scale);
            indent(p, spaces);
        }
        for (int64_t row = 0; row < rows; row++) {
            for (int64_t at = first; at <= last; at++) {
                number(p, data[row * columns + at] / c.scale, c.width);
                taper_text_string(p->text, at == last ? "\n" : " ");
            }
            if (row != rows - 1) {
                indent(p, spaces);
                if (c.scale != 1) {
                    taper_text_string(p->text, " ");
                }
            }
            if (p->text->failed) {
                return taper_text_failure(p->run);
            }
            TAPER_TRY(taper_run_spend(p->run, (uint64_t)(last - first + 1) * 500));
        }
    }
    return TAPER_OK;
}

// Prints the matrices of a tensor of three or more dimensions. The first dimension changes fastest.
static taper_status print_slices(printer *p, const taper_tensor *tensor)
{
    const unsigned outer = tensor->rank - 2u;
    const int64_t rows = tensor->sizes[outer], columns = tensor->sizes[outer + 1];
    int64_t at[TAPER_MAX_RANK] = {0};
    for (bool first = true;; first = false) {
        int64_t slice = 0;
        if (!first) {
            taper_text_string(p->text, "\n");
        }
        taper_text_string(p->text, "(");
        for (unsigned i = 0; i < outer; i++) {
            slice = slice * tensor->sizes[i] + at[i];
            taper_text_format(p->text, "%" PRId64 ",", at[i] + 1);
        }
        taper_text_string(p->text, ".,.) = \n");
        TAPER_TRY(print_matrix(p, p->data + slice * rows * columns, rows, columns, 1));
        unsigned dim = 0;
        while (dim < outer && ++at[dim] == tensor->sizes[dim]) {
            at[dim++] = 0;
        }
        if (dim == outer) {
            return TAPER_OK;
        }
    }
}

static taper_status print_elements(printer *p, const taper_tensor *tensor, int64_t count)
{
    if (tensor->rank == 0) {
        p->floats = 'g';
        number(p, p->data[0], 0);
        taper_text_string(p->text, "\n");
    } else if (count == 0) {
        return TAPER_OK;
    } else if (tensor->rank == 1) {
        const column c = choose(p, p->data, count);
        if (c.scale != 1) {
            print_scale(p, c.scale);
        }
        for (int64_t i = 0; i < count; i++) {
            number(p, p->data[i] / c.scale, c.width);
            taper_text_string(p->text, "\n");
            if (p->text->failed) {
                return taper_text_failure(p->run);
            }
        }
    } else if (tensor->rank == 2) {
        return print_matrix(p, p->data, tensor->sizes[0], tensor->sizes[1], 0);
    } else {
        return print_slices(p, tensor);
    }
    return TAPER_OK;
}

// Returns the elements as a new contiguous tensor of doubles. A quantized tensor is dequantized.
static taper_status as_doubles(taper_run *run, taper_tensor *tensor, taper_tensor **out)
{
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (dtype == TAPER_QU4X2 || dtype == TAPER_QU2X4) {
        return taper_fail(run->error, TAPER_ERROR_UNSUPPORTED, "%s tensors cannot be printed", taper_dtype_name(dtype));
    }
    taper_tensor *doubles = NULL;
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F64, tensor->rank, tensor->sizes, NULL, &doubles, run->error));
    double *data = taper_tensor_mutable(doubles);
    const int64_t count = taper_tensor_numel(tensor);
    const taper_quantizer *q = tensor->quantizer;
    const bool quantized = taper_dtype_is_quantized(dtype) && q != NULL;
    const taper_dtype stored = dtype == TAPER_QI8    ? TAPER_I8
                               : dtype == TAPER_QU8  ? TAPER_U8
                               : dtype == TAPER_QI32 ? TAPER_I32
                                                     : dtype;
    const bool per_channel = quantized && q->scales != NULL && q->zero_points != NULL && q->axis >= 0 &&
                             q->axis < tensor->rank && taper_tensor_numel(q->scales) >= tensor->sizes[q->axis] &&
                             taper_tensor_numel(q->zero_points) >= tensor->sizes[q->axis];
    int64_t steps[TAPER_MAX_RANK];
    taper_walk walk;
    taper_tensor_steps(tensor, 1, steps);
    taper_walk_over(&walk, tensor->rank, tensor->sizes, SIZE_MAX, steps, NULL);
    for (int64_t i = 0; i < count; i++) {
        // PyTorch prints only the real part of a complex number.
        if (stored == TAPER_C32 || stored == TAPER_C64 || stored == TAPER_C128) {
            const taper_dtype part = stored == TAPER_C32 ? TAPER_F16 : stored == TAPER_C64 ? TAPER_F32 : TAPER_F64;
            data[i] = taper_load_double(part, taper_tensor_data(tensor), 2 * walk.at[0]);
        } else {
            data[i] = taper_load_double(stored, taper_tensor_data(tensor), walk.at[0]);
        }
        if (quantized) {
            double scale = q->scale, zero = (double)q->zero_point;
            if (per_channel) {
                const int64_t channel = walk.dims[tensor->rank - 1u - (size_t)q->axis].at;
                scale = taper_load_double((taper_dtype)q->scales->dtype, taper_tensor_data(q->scales), channel);
                zero =
                    taper_load_double((taper_dtype)q->zero_points->dtype, taper_tensor_data(q->zero_points), channel);
            }
            data[i] = (double)((float)(data[i] - zero) * (float)scale);
        }
        (void)taper_walk_next(&walk);
    }
    *out = doubles;
    return TAPER_OK;
}

static taper_status print_body(taper_run *run, taper_text *text, taper_tensor *tensor, printer *state)
{
    taper_tensor *doubles = NULL;
    TAPER_TRY(as_doubles(run, tensor, &doubles));
    printer p = {.run = run, .text = text, .data = taper_tensor_data(doubles), .floats = 'g', .precision = 6};
    const taper_status status = print_elements(&p, tensor, taper_tensor_numel(tensor));
    taper_obj_release(&doubles->head);
    TAPER_TRY(status);
    *state = p;
    const bool quantized = taper_dtype_is_quantized((taper_dtype)tensor->dtype);
    taper_text_format(text, "[ %sCPU%sType{", quantized ? "Quantized" : "",
                      taper_dtype_torch_name((taper_dtype)tensor->dtype));
    for (unsigned i = 0; i < tensor->rank; i++) {
        taper_text_format(text, i == 0 ? "%" PRId64 : ",%" PRId64, tensor->sizes[i]);
    }
    taper_text_string(text, "}");
    return TAPER_OK;
}

taper_status taper_print_tensor(taper_run *run, taper_text *text, taper_tensor *tensor)
{
    printer p, parameter;
    TAPER_TRY(print_body(run, text, tensor, &p));
    const taper_quantizer *q = tensor->quantizer;
    if (q != NULL && taper_dtype_is_quantized((taper_dtype)tensor->dtype)) {
        static const char *const schemes[] = {"per_tensor_affine", "per_channel_affine", "per_tensor_symmetric",
                                              "per_channel_symmetric", "per_channel_affine_float_qparams"};
        taper_text_string(text, ", qscheme: ");
        taper_text_string(text, q->scheme < 5 ? schemes[q->scheme] : "unknown");
        if (q->scheme == TAPER_PER_TENSOR_AFFINE) {
            taper_text_string(text, ", scale: ");
            number(&p, q->scale, 0); // the scale has the format of the elements that were printed last
            taper_text_format(text, ", zero_point: %" PRId64, q->zero_point);
        } else if (q->scales != NULL && q->zero_points != NULL) {
            taper_text_string(text, ", scales: ");
            TAPER_TRY(print_body(run, text, q->scales, &parameter));
            taper_text_string(text, " ], zero_points: ");
            TAPER_TRY(print_body(run, text, q->zero_points, &parameter));
            taper_text_format(text, " ], axis: %" PRId64, q->axis);
        }
    }
    taper_text_string(text, " ]");
    return text->failed ? taper_text_failure(run) : TAPER_OK;
}
