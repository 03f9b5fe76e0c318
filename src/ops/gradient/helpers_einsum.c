// SPDX-License-Identifier: BSD-2-Clause
// The gradients of einsum. An equation of several operands is a sequence of products of two factors
// (ops/engine/einsum_path.h). A product has the labels that other operands or the result still need. Gradients run back
// along the sequence.
#include "ops/engine/einsum_path.h"
#include "ops/gradient/steps_math.h"

enum { MOST_LABELS = 64, MOST_OPERANDS = 26, MOST_TEXT = 1024 };

typedef struct equation {
    char operands[MOST_OPERANDS][MOST_LABELS]; // labels; '.' stands for an ellipsis
    char result[MOST_LABELS];
    size_t count;
} equation;

static bool add_label(char *labels, char label)
{
    const size_t length = strlen(labels);
    if (length + 1 >= MOST_LABELS) {
        return false;
    }
    labels[length] = label;
    labels[length + 1] = '\0';
    return true;
}

// Writes the labels that occur once, in the order of the alphabet, as the result of an equation without an arrow.
// Returns false if the labels are too many.
static bool imply_result(equation *e)
{
    unsigned char counts[128] = {0};
    bool fits = true;
    for (size_t i = 0; i < e->count; i++) {
        for (const char *at = e->operands[i]; *at != '\0'; at++) {
            counts[*at & 127]++;
        }
    }
    fits = counts['.'] == 0 || add_label(e->result, '.');
    for (int label = 'A'; label <= 'z' && fits; label++) {
        fits = counts[label] != 1 || add_label(e->result, (char)label);
    }
    return fits;
}

static bool read_equation(const taper_string *text, size_t operands, equation *e)
{
    bool arrow = false, fits = true;
    *e = (equation){.count = 1};
    for (size_t i = 0; i < text->length && fits; i++) {
        const char c = text->data[i];
        if (c == '.' && i + 2 < text->length) {
            fits = add_label(arrow ? e->result : e->operands[e->count - 1], '.');
            i += 2;
        } else if (c == '-') {
            arrow = true;
        } else if (c == ',') {
            fits = ++e->count <= MOST_OPERANDS;
        } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            fits = add_label(arrow ? e->result : e->operands[e->count - 1], c);
        }
    }
    return fits && e->count == operands && (arrow || imply_result(e));
}

static bool has_label(const char *labels, char label)
{
    return strchr(labels, label) != NULL;
}

static void append_labels(char *text, const char *labels)
{
    for (; *labels != '\0'; labels++) {
        const size_t length = strlen(text);
        if (length + 4 < MOST_TEXT) {
            strcpy(text + length, *labels == '.' ? "..." : (char[]){*labels, '\0'});
        }
    }
}

// A tensor with its labels: an operand, or a product.
typedef struct factor {
    taper_step_value value;
    char labels[MOST_LABELS]; // empty if the factor has become part of a product
    bool wanted;              // true if the gradient of the factor is wanted
} factor;

// Returns the product of two factors, or one factor with other labels if b is NULL.
static taper_step_value product(taper_steps *s, const factor *a, const factor *b, const char *labels)
{
    char text[MOST_TEXT] = "";
    const taper_step_value values[2] = {a->value, b != NULL ? b->value : taper_step_none};
    append_labels(text, a->labels);
    if (b != NULL) {
        strcat(text, ",");
        append_labels(text, b->labels);
    }
    strcat(text, "->");
    append_labels(text, labels);
    return TAPER_STEP(s, aten_einsum, taper_steps_string(s, text), taper_steps_list(s, values, b != NULL ? 2 : 1));
}

// Expands the gradient by the dimensions of `like` whose labels it lacks, because the product summed over them.
static taper_step_value expanded(taper_steps *s, taper_step_value value, const char *found, const factor *like)
{
    const char *const labels = like->labels, *const dots = strchr(labels, '.');
    for (size_t d = 0; labels[d] != '\0' && (dots == NULL || labels + d < dots); d++) {
        if (!has_label(found, labels[d])) {
            value = taper_step_unsqueeze(s, value, (int64_t)d);
        }
    }
    // The dimensions of the labels after the dots are counted from the last dimension, because the dots stand for any
    // number of dimensions.
    for (size_t d = strlen(labels); dots != NULL && labels + d - 1 > dots; d--) {
        if (!has_label(found, labels[d - 1])) {
            value = taper_step_unsqueeze(s, value, (int64_t)d - (int64_t)strlen(labels) - 1);
        }
    }
    const taper_tensor *const tensor = taper_steps_tensor(s, value), *const to = taper_steps_tensor(s, like->value);
    return tensor != NULL && to != NULL && tensor->rank == to->rank &&
                   taper_tensor_numel(tensor) < taper_tensor_numel(to)
               ? TAPER_STEP(s, aten_expand, value, taper_steps_ints(s, to->sizes, to->rank))
               : value;
}

// Returns the gradient of the factor `of`. grad is the gradient of the product of `of` and `other`, or of a sum over
// `of` if other is NULL.
static taper_step_value gradient_of(taper_steps *s, const factor *grad, const factor *other, const factor *of)
{
    char labels[MOST_LABELS] = "";
    factor conjugated;
    for (const char *at = of->labels; *at != '\0'; at++) {
        if (has_label(grad->labels, *at) || (other != NULL && has_label(other->labels, *at))) {
            (void)add_label(labels, *at);
        }
    }
    if (other != NULL) {
        conjugated = *other;
        conjugated.value = taper_step_conj(s, other->value);
    }
    const taper_step_value value = product(s, grad, other != NULL ? &conjugated : NULL, labels);
    return TAPER_STEP(s, taper_sum_to, expanded(s, value, labels, of), of->value);
}

static bool is_supported(const equation *e, size_t operand)
{
    for (const char *at = e->operands[operand]; *at != '\0'; at++) {
        if (has_label(at + 1, *at) || (*at == '.' && !has_label(e->result, '.'))) {
            return false;
        }
    }
    return true;
}

static bool is_wanted(taper_steps *s, size_t operand)
{
    const taper_list *const mask = s->args[3].as.list;
    return mask->count != s->args[2].as.list->count || mask->items[operand].as.i != 0;
}

static taper_status check_wanted(taper_steps *s, const equation *e)
{
    for (size_t i = 0; i < e->count; i++) {
        if (is_wanted(s, i) && !is_supported(e, i)) {
            TAPER_FAIL(
                s->call->run->error, TAPER_ERROR_UNSUPPORTED,
                "the gradient of einsum with a label twice in an operand, or with an ellipsis that is summed, is "
                "not supported: use diagonal or sum");
        }
    }
    return TAPER_OK;
}

static unsigned bit_of(char label)
{
    return label == '.' ? 52 : label >= 'a' ? (unsigned)(label - 'a') : 26 + (unsigned)(label - 'A');
}

// Chooses the order of the products: count - 1 steps.
static void choose_steps(taper_steps *s, const equation *e, taper_einsum_step *steps)
{
    uint64_t operands[MOST_OPERANDS] = {0}, result = 0;
    int64_t sizes[64] = {0};
    for (size_t i = 0; i < e->count; i++) {
        const taper_tensor *const tensor = s->args[2].as.list->items[i].as.tensor;
        const size_t labels = strlen(e->operands[i]);
        size_t dim = 0;
        for (const char *at = e->operands[i]; *at != '\0'; at++) {
            int64_t size = 1;
            for (size_t dims = *at == '.' ? tensor->rank + 1u - labels : 1; dims > 0; dims--, dim++) {
                size = taper_wrap_mul(size, tensor->sizes[dim]);
            }
            operands[i] |= UINT64_C(1) << bit_of(*at);
            sizes[bit_of(*at)] = taper_max_i64(sizes[bit_of(*at)], size);
        }
    }
    for (const char *at = e->result; *at != '\0'; at++) {
        result |= UINT64_C(1) << bit_of(*at);
    }
    (void)taper_einsum_path(e->count, operands, result, sizes, steps);
}

// Returns the product of factors `left` and `right`, without a value yet. Its labels are those that the result or
// another factor has.
static factor joined(const equation *e, const factor *factors, size_t left, size_t right)
{
    factor made = {.value = taper_step_none, .wanted = factors[left].wanted || factors[right].wanted};
    const char *const parts[] = {factors[left].labels, factors[right].labels};
    for (size_t p = 0; p < 2; p++) {
        for (const char *at = parts[p]; *at != '\0'; at++) {
            bool needed = has_label(e->result, *at);
            for (size_t k = 0; k < e->count; k++) {
                needed = needed || (k != left && k != right && has_label(factors[k].labels, *at));
            }
            if (needed && !has_label(made.labels, *at)) {
                (void)add_label(made.labels, *at);
            }
        }
    }
    return made;
}

// The two factors of a step, as they were before the step.
typedef struct joint {
    factor left, right;
} joint;

static void find_gradients(taper_steps *s, const equation *e, taper_step_value *found)
{
    factor factors[MOST_OPERANDS];
    joint joints[MOST_OPERANDS];
    taper_einsum_step steps[MOST_OPERANDS];
    taper_step_value grads[MOST_OPERANDS];
    for (size_t i = 0; i < e->count; i++) {
        factors[i].value = &s->args[2].as.list->items[i];
        factors[i].wanted = is_wanted(s, i);
        strcpy(factors[i].labels, e->operands[i]);
    }
    factor grad = {.value = &s->args[0]};
    strcpy(grad.labels, e->result);
    if (e->count == 1) {
        found[0] = gradient_of(s, &grad, NULL, &factors[0]);
        return;
    }
    choose_steps(s, e, steps);
    for (size_t i = 0; i + 1 < e->count; i++) {
        factor *const left = &factors[steps[i].left], *const right = &factors[steps[i].right];
        joints[i] = (joint){*left, *right};
        factor made = joined(e, factors, steps[i].left, steps[i].right);
        if (i + 2 < e->count) { // the last product is the result, which no gradient reads
            made.value = product(s, left, right, made.labels);
        }
        *left = made;
        right->labels[0] = '\0';
    }
    grads[steps[e->count - 2].left] = grad.value;
    for (size_t i = e->count - 1; i-- > 0;) {
        const joint *const j = &joints[i];
        const size_t left = steps[i].left, right = steps[i].right;
        grad.value = grads[left];
        strcpy(grad.labels, factors[left].labels);
        if (i + 2 == e->count) {
            strcpy(grad.labels, e->result);
        }
        grads[left] = j->left.wanted ? gradient_of(s, &grad, &j->right, &j->left) : taper_step_none;
        grads[right] = j->right.wanted ? gradient_of(s, &grad, &j->left, &j->right) : taper_step_none;
        factors[left] = j->left;
        factors[right] = j->right;
    }
    for (size_t i = 0; i < e->count; i++) {
        found[i] = factors[i].wanted ? grads[i] : taper_step_none;
    }
}

TAPER_STEPS_KERNEL(taper_op_einsum_gradients)
{
    equation e;
    taper_step_value found[MOST_OPERANDS];
    const taper_list *const tensors = s->args[2].as.list;
    if (!read_equation((const taper_string *)s->args[1].as.obj, tensors->count, &e)) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "the gradient of this equation of einsum is not supported");
    }
    TAPER_TRY(check_wanted(s, &e));
    const taper_step_value made = taper_steps_new_list(s, &taper_type_optional_tensor, tensors->count);
    for (size_t i = 0; i < e.count; i++) {
        found[i] = taper_step_none;
    }
    find_gradients(s, &e, found);
    for (size_t i = 0; i < e.count; i++) {
        taper_steps_append(s, made, found[i]);
    }
    return taper_steps_ret(s, 0, made);
}
