// SPDX-License-Identifier: BSD-2-Clause
// taper inspect --lint: lists what makes a file larger or slower on phones than necessary, and contents that are
// probably unintended. The first four lints are the lints of PyTorch's generate_mobile_module_lints, with the same
// names.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "taper/inspect_detail.h"

enum { DEPTH_LIMIT = 64, VISIT_LIMIT = 1 << 20, PATH_SIZE = 512, HUGE_BYTES = 1 << 16 };

// A tensor that is so large that a second copy of it in the file is reported.
typedef struct large_tensor {
    char path[PATH_SIZE];
    const void *data;
    size_t bytes;
    uint64_t hash;
} large_tensor;

typedef struct linting {
    const opened_model *opened;
    bool json, failed;
    size_t count, visited; // number of lints printed, and number of values visited
    size_t gradients;      // number of tensors that require gradients; `text` names the first one
    large_tensor *large;
    size_t large_count, large_capacity;
} linting;

static void put_lint(linting *l, const char *name, const char *subject, const char *words)
{
    if (l->json) {
        fputs(l->count != 0 ? ",\n  {\"name\": " : "\n  {\"name\": ", stdout);
        json_put_text(stdout, name, strlen(name));
        fputs(", \"where\": ", stdout);
        json_put_text(stdout, subject, strlen(subject));
        fputs(", \"message\": ", stdout);
        json_put_text(stdout, words, strlen(words));
        fputc('}', stdout);
    } else {
        printf("  %-16s ", name);
        text_put(stdout, subject, strlen(subject), false);
        printf("%s%s\n", *subject != '\0' ? ": " : "", words);
    }
    l->count++;
}

// ---- the file as a whole

static bool has_bundled_forward(const taper_model *model)
{
    const char *method = "";
    for (size_t i = 0; method != NULL; i++) {
        method = taper_bundled_method(model, i);
        if (method != NULL && strcmp(method, "forward") == 0) {
            return true;
        }
    }
    return false;
}

static void lint_model(linting *l)
{
    const taper_model *model = l->opened->model;
    if (!has_bundled_forward(model)) {
        put_lint(l, "BUNDLED_INPUT", "", "forward has no bundled input: `taper bundle` puts one into the file");
    }
    if (taper_model_is_training(model)) {
        put_lint(l, "TRAINING", "", "saved in training mode: call eval() before saving, or `taper optimize`");
    }
    for (size_t i = 0; i < taper_model_operator_count(model); i++) {
        const char *name = taper_model_operator_name(model, i);
        if (strstr(name, "dropout") != NULL) {
            put_lint(l, "DROPOUT", name, "does nothing after training: call eval(), and `taper optimize` takes it out");
        }
        if (strstr(name, "batch_norm") != NULL) {
            put_lint(l, "BATCHNORM", name, "call eval(), and `taper optimize` folds it into the layer before it");
        }
        if (taper_model_operator_missing(model, i)) {
            put_lint(l, "MISSING_OPERATOR", name, "this build does not have it: the model does not run");
        }
    }
}

// ---- tensors of the model

// Computes an FNV-1a hash, eight bytes at a time. If two hashes are equal, the bytes of the tensors are compared.
static uint64_t hash_of(const unsigned char *data, size_t bytes)
{
    uint64_t hash = UINT64_C(14695981039346656037), word;
    for (size_t i = 0; bytes - i >= 8; i += 8) {
        memcpy(&word, data + i, 8);
        hash = (hash ^ word) * UINT64_C(1099511628211);
        hash ^= hash >> 29;
    }
    return hash;
}

static void note_large(linting *l, const char *path, const taper_tensor_info *info, size_t bytes)
{
    char words[PATH_SIZE + 64];
    const uint64_t hash = hash_of(info->data, bytes);
    for (size_t i = 0; i < l->large_count; i++) {
        const large_tensor *other = &l->large[i];
        if (other->data == info->data) { // two references to one stored tensor are not reported
            return;
        }
        if (other->bytes == bytes && other->hash == hash && memcmp(other->data, info->data, bytes) == 0) {
            snprintf(words, sizeof words, "%zu bytes that are those of %.400s once more", bytes, other->path);
            put_lint(l, "DUPLICATE", path, words);
            return;
        }
    }
    if (l->large_count == l->large_capacity) {
        const size_t capacity = l->large_capacity != 0 ? 2 * l->large_capacity : 64;
        large_tensor *large = realloc(l->large, capacity * sizeof *large);
        if (large == NULL) {
            l->failed = true;
            return;
        }
        l->large = large;
        l->large_capacity = capacity;
    }
    large_tensor *added = &l->large[l->large_count++];
    *added = (large_tensor){.data = info->data, .bytes = bytes, .hash = hash};
    snprintf(added->path, sizeof added->path, "%s", path);
}

// Checks one tensor. parameter: true for an attribute of a module, which PyTorch's lints check too; false for a part of
// packed parameters.
static void lint_tensor(linting *l, const char *path, const taper_tensor_info *info, bool parameter)
{
    size_t count = 1;
    bool contiguous = true;
    for (size_t i = info->rank; i > 0; i--) {
        contiguous = contiguous && (info->sizes[i - 1] == 1 || info->strides[i - 1] == (int64_t)count);
        count *= (size_t)info->sizes[i - 1];
    }
    if (parameter && info->requires_grad && (l->gradients++ == 0 || l->json)) {
        put_lint(l, "REQUIRES_GRAD", path, "wants a gradient: save the module under torch.no_grad()");
    }
    if (info->dtype == TAPER_F64 && count > 1) {
        put_lint(l, "FLOAT64", path, "is of float64, which takes twice the space and time of float32");
    }
    const size_t bytes = count * taper_dtype_size(info->dtype);
    if (contiguous && bytes >= HUGE_BYTES && bytes <= info->bytes) {
        note_large(l, path, info, bytes);
    }
}

// Visits all tensors in a value. Objects may refer to each other, so the depth and the number of visits are limited.
static void walk(linting *l, const taper_value *value, const char *path, bool attribute, int depth)
{
    taper_tensor_info info = {.struct_size = sizeof info};
    const taper_kind kind = taper_value_kind(value);
    if (depth > DEPTH_LIMIT || ++l->visited > VISIT_LIMIT || l->failed) {
        return;
    }
    if (kind == TAPER_KIND_TENSOR) {
        if (taper_value_get_tensor(value, &info, NULL) == TAPER_OK) {
            lint_tensor(l, path, &info, attribute);
        }
        return;
    }
    for (size_t i = 0; i < taper_value_count(value); i++) {
        const char *name = taper_value_field(value, i);
        char below[PATH_SIZE], number[24];
        taper_value *item;
        snprintf(number, sizeof number, "%zu", i);
        const int length =
            snprintf(below, sizeof below, "%s%s%s", path, *path != '\0' ? "." : "", name != NULL ? name : number);
        if (length > 0 && (size_t)length < sizeof below && taper_value_item(value, i, &item, NULL) == TAPER_OK) {
            walk(l, item, below, kind == TAPER_KIND_OBJECT, depth + 1);
            taper_value_release(item);
        }
    }
}

bool inspect_print_lints(const opened_model *opened, bool json)
{
    linting l = {.opened = opened, .json = json};
    taper_value *root = NULL;
    if (json) {
        fputs("{\"model\": ", stdout);
        json_put_text(stdout, opened->path, strlen(opened->path));
        fputs(", \"lints\": [", stdout);
    } else {
        text_put(stdout, opened->path, strlen(opened->path), false);
        fputc('\n', stdout);
    }
    lint_model(&l);
    if (opened->session != NULL && taper_session_attribute(opened->session, "", &root, NULL) == TAPER_OK) {
        walk(&l, root, "", false, 0);
        free(l.large); // `large` points to data of the root
        taper_value_release(root);
    }
    if (json) {
        fputs(l.count != 0 ? "\n]}\n" : "]}\n", stdout);
    } else if (l.count == 0) {
        fputs("  nothing to say\n", stdout);
    } else if (l.gradients > 1) {
        printf("  %-16s %zu more\n", "REQUIRES_GRAD", l.gradients - 1);
    }
    return !l.failed || error_report_memory(opened->path);
}
