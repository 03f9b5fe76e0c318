// SPDX-License-Identifier: BSD-2-Clause
// Compares two modules (functions, values, sharing, extra files and debug texts) and reports the first difference.
// Tests that write modules to both containers and read them again use it.
#ifndef TAPER_TESTS_MODULE_COMPARE_H
#define TAPER_TESTS_MODULE_COMPARE_H

#include <stdio.h>

#include "base/pointer_map.h"
#include "format/module.h"

typedef struct module_comparison {
    taper_pointer_map left, right; // maps from objects of each module to the corresponding objects of the other module
    bool across;                   // true if exactly one of the modules is a flatbuffer
    bool uncounted;                // true for a bytecode version that does not store the number of operators' arguments
    const char *where;             // name of the part that is being compared
    char difference[300];          // text of the difference; "" if no difference was found
} module_comparison;

#define MODULE_DIFFER(c, ...)                                                                                          \
    do {                                                                                                               \
        (void)snprintf((c)->difference, sizeof(c)->difference, __VA_ARGS__);                                           \
        return false;                                                                                                  \
    } while (0)
#define MODULE_SAME(c, condition, what)                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            MODULE_DIFFER(c, "%.150s: %s", (c)->where, what);                                                          \
        }                                                                                                              \
    } while (0)

// Checks that objects that are shared in one module are also shared in the other module. *again is true if this pair
// was compared before.
static inline bool module_same_object(module_comparison *c, const void *a, const void *b, bool *again)
{
    const size_t *left = taper_pointer_find(&c->left, a), *right = taper_pointer_find(&c->right, b);
    *again = left != NULL;
    MODULE_SAME(c,
                (left == NULL && right == NULL) ||
                    (left != NULL && right != NULL && *left == (uintptr_t)b && *right == (uintptr_t)a),
                "what is shared");
    if (left == NULL && (taper_pointer_add(&taper_allocator_system, &c->left, a, (uintptr_t)b, NULL) != TAPER_OK ||
                         taper_pointer_add(&taper_allocator_system, &c->right, b, (uintptr_t)a, NULL) != TAPER_OK)) {
        MODULE_DIFFER(c, "out of memory");
    }
    return true;
}

static inline bool module_same_text(const taper_type *a, const taper_type *b)
{
    taper_text x = taper_text_make(&taper_allocator_system), y = taper_text_make(&taper_allocator_system);
    taper_type_print(a, &x);
    taper_type_print(b, &y);
    const bool same = strcmp(taper_text_get(&x), taper_text_get(&y)) == 0;
    taper_text_free(&x);
    taper_text_free(&y);
    return same;
}

static inline bool module_same_types(module_comparison *c, const taper_type *a, const taper_type *b)
{
    // A list in a flatbuffer always has a type.
    const bool any = c->across && ((a == NULL && b != NULL && b->kind == TAPER_TYPE_ANY) ||
                                   (b == NULL && a != NULL && a->kind == TAPER_TYPE_ANY));
    // In the type that a file stores with a value, a named tuple is only its name. So it is sufficient that the texts
    // are equal.
    MODULE_SAME(c,
                any || (a == NULL && b == NULL) ||
                    (a != NULL && b != NULL && (taper_type_equal(a, b) || module_same_text(a, b))),
                "types");
    return true;
}

static inline bool module_same_tensors(module_comparison *c, const taper_tensor *a, const taper_tensor *b)
{
    bool again;
    MODULE_SAME(c, a->dtype == b->dtype && a->rank == b->rank && a->offset == b->offset, "tensors");
    MODULE_SAME(c, a->requires_grad == b->requires_grad, "requires_grad");
    MODULE_SAME(c, memcmp(a->sizes, b->sizes, sizeof a->sizes) == 0, "sizes");
    MODULE_SAME(c, memcmp(a->strides, b->strides, sizeof a->strides) == 0, "strides");
    if (taper_tensor_numel(a) != 0) { // the storage of a tensor without elements does not matter
        MODULE_SAME(c, a->storage->bytes == b->storage->bytes, "bytes of a storage");
        if (!module_same_object(c, a->storage, b->storage, &again)) {
            return false;
        }
        MODULE_SAME(c, memcmp(a->storage->data, b->storage->data, a->storage->bytes) == 0, "contents of a storage");
    }
    MODULE_SAME(c, (a->quantizer != NULL) == (b->quantizer != NULL), "quantizers");
    if (a->quantizer == NULL) {
        return true;
    }
    const taper_quantizer *p = a->quantizer, *q = b->quantizer;
    MODULE_SAME(c, p->scheme == q->scheme, "schemes");
    if (p->scheme == TAPER_PER_TENSOR_AFFINE) {
        MODULE_SAME(c, memcmp(&p->scale, &q->scale, sizeof p->scale) == 0 && p->zero_point == q->zero_point, "scales");
        return true;
    }
    MODULE_SAME(c, p->axis == q->axis, "axes");
    return module_same_tensors(c, p->scales, q->scales) && module_same_tensors(c, p->zero_points, q->zero_points);
}

static inline bool module_same_classes(module_comparison *c, const taper_class *a, const taper_class *b)
{
    MODULE_SAME(c, strcmp(a->name, b->name) == 0 && a->count == b->count, "classes");
    for (size_t i = 0; i < a->count; i++) {
        MODULE_SAME(c, strcmp(a->slots[i], b->slots[i]) == 0, "names of attributes");
    }
    return true;
}

static inline bool module_same_values(module_comparison *c, taper_val a, taper_val b)
{
    bool again = false;
    MODULE_SAME(c, a.tag == b.tag, "kinds of values");
    if (a.tag == TAPER_DOUBLE) {
        MODULE_SAME(c, memcmp(&a.as.f, &b.as.f, sizeof a.as.f) == 0, "numbers");
        return true;
    }
    if (!taper_val_is_object(a)) {
        MODULE_SAME(c, a.tag == TAPER_NONE || a.as.i == b.as.i, "numbers");
        return true;
    }
    // A program cannot observe if strings and complex numbers are shared, so their sharing is not compared.
    if (a.tag != TAPER_STRING && a.tag != TAPER_COMPLEX && !module_same_object(c, a.as.obj, b.as.obj, &again)) {
        return false;
    }
    if (again) {
        return true;
    }
    switch ((taper_tag)a.tag) {
    case TAPER_COMPLEX:
        MODULE_SAME(c, memcmp(&a.as.complex->re, &b.as.complex->re, sizeof(double)) == 0, "numbers");
        MODULE_SAME(c, memcmp(&a.as.complex->im, &b.as.complex->im, sizeof(double)) == 0, "numbers");
        return true;
    case TAPER_STRING:
        MODULE_SAME(c,
                    a.as.string->length == b.as.string->length &&
                        memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0,
                    "strings");
        return true;
    case TAPER_TENSOR:
        return module_same_tensors(c, a.as.tensor, b.as.tensor);
    case TAPER_LIST:
        if (!module_same_types(c, a.as.list->element, b.as.list->element)) {
            return false;
        }
        break;
    case TAPER_DICT:
        if (!module_same_types(c, a.as.dict->key, b.as.dict->key) ||
            !module_same_types(c, a.as.dict->value, b.as.dict->value)) {
            return false;
        }
        break;
    case TAPER_OBJECT:
        if (!module_same_classes(c, a.as.object->klass, b.as.object->klass)) {
            return false;
        }
        break;
    case TAPER_TUPLE:
        break;
    default:
        MODULE_DIFFER(c, "%.150s: a value of tag %d", c->where, (int)a.tag);
    }
    size_t count, other;
    const taper_val *x = taper_container_items((taper_container *)a.as.obj, &count);
    const taper_val *y = taper_container_items((taper_container *)b.as.obj, &other);
    MODULE_SAME(c, count == other, "numbers of items");
    for (size_t i = 0; i < count; i++) {
        if (!module_same_values(c, x[i], y[i])) {
            return false;
        }
    }
    return true;
}

static inline bool module_same_arguments(module_comparison *c, const taper_module_argument *a,
                                         const taper_module_argument *b, size_t a_count, size_t b_count)
{
    MODULE_SAME(c, a_count == b_count, "numbers of arguments");
    for (size_t i = 0; i < a_count; i++) {
        MODULE_SAME(c, strcmp(a[i].name, b[i].name) == 0, "names of arguments");
        MODULE_SAME(c, strcmp(a[i].type_text, b[i].type_text) == 0, "types of arguments");
        MODULE_SAME(c, a[i].has_default == b[i].has_default, "defaults");
        if (!module_same_types(c, a[i].type, b[i].type) ||
            !module_same_values(c, a[i].default_value, b[i].default_value)) {
            return false;
        }
    }
    return true;
}

static inline bool module_same_functions(module_comparison *c, const taper_module_function *a,
                                         const taper_module_function *b, bool debug)
{
    c->where = a->name;
    MODULE_SAME(c, strcmp(a->name, b->name) == 0, "names of functions");
    MODULE_SAME(c,
                a->instruction_count == b->instruction_count && a->operator_count == b->operator_count &&
                    a->constant_count == b->constant_count && a->type_count == b->type_count &&
                    a->register_count == b->register_count && a->has_schema == b->has_schema,
                "sizes of functions");
    for (size_t i = 0; i < a->instruction_count; i++) {
        const taper_lite_instruction *p = &a->instructions[i], *q = &b->instructions[i];
        MODULE_SAME(c, p->op == q->op && p->x == q->x && p->n == q->n, "instructions");
        MODULE_SAME(c, !debug || p->debug == q->debug, "debug handles");
    }
    for (size_t i = 0; i < a->operator_count; i++) {
        MODULE_SAME(c,
                    strcmp(a->operators[i].name, b->operators[i].name) == 0 &&
                        strcmp(a->operators[i].overload, b->operators[i].overload) == 0 &&
                        a->operators[i].arguments == b->operators[i].arguments,
                    "operators");
    }
    for (size_t i = 0; i < a->type_count; i++) {
        if (!module_same_types(c, a->types[i], b->types[i])) {
            return false;
        }
    }
    for (size_t i = 0; i < a->constant_count; i++) {
        if (!module_same_values(c, a->constants[i], b->constants[i])) {
            return false;
        }
    }
    return module_same_arguments(c, a->arguments, b->arguments, a->argument_count, b->argument_count) &&
           module_same_arguments(c, a->returns, b->returns, a->return_count, b->return_count);
}

// Compares the pending values that can be reached; a file may contain others.
static inline bool module_same_pending(module_comparison *c, const taper_module *a, const taper_module *b)
{
    for (size_t i = 0; i < a->pending_count; i++) {
        const size_t *twin = taper_pointer_find(&c->left, a->pending[i].object);
        size_t k = 0;
        while (twin != NULL && k < b->pending_count && (uintptr_t)b->pending[k].object != *twin) {
            k++;
        }
        if (twin != NULL) {
            MODULE_SAME(c, k < b->pending_count, "objects that wait for __setstate__");
            if (!module_same_values(c, a->pending[i].state, b->pending[k].state)) {
                return false;
            }
        }
    }
    return true;
}

static inline bool module_same_extras(module_comparison *c, const taper_module *a, const taper_module *b)
{
    for (size_t i = 0; i < a->extra_count; i++) {
        size_t k = b->extra_count, last = a->extra_count;
        for (size_t j = 0; j < a->extra_count; j++) {
            last = strcmp(a->extras[i].name, a->extras[j].name) == 0 ? j : last;
        }
        for (size_t j = 0; j < b->extra_count; j++) {
            k = strcmp(a->extras[i].name, b->extras[j].name) == 0 ? j : k;
        }
        c->where = a->extras[i].name;
        MODULE_SAME(c, k < b->extra_count, "extra files");
        MODULE_SAME(c, a->extras[last].size == b->extras[k].size, "sizes of extra files");
        MODULE_SAME(c, (a->extras[last].data == NULL) == (b->extras[k].data == NULL), "contents of extra files");
        MODULE_SAME(c,
                    a->extras[last].size == 0 || a->extras[last].data == NULL ||
                        memcmp(a->extras[last].data, b->extras[k].data, a->extras[last].size) == 0,
                    "contents of extra files");
    }
    return true;
}

static inline bool module_same_parts(module_comparison *c, const taper_module *a, const taper_module *b, bool debug)
{
    c->where = "module";
    MODULE_SAME(c, a->function_count == b->function_count, "numbers of functions");
    for (size_t i = 0; i < a->function_count; i++) {
        if (!module_same_functions(c, &a->functions[i], &b->functions[i], debug)) {
            return false;
        }
    }
    // A flatbuffer has one set of storages, but an archive has one for each pickle, so the maps are emptied.
    taper_pointer_map *maps[2] = {&c->left, &c->right};
    for (size_t i = 0; i < 2; i++) {
        taper_pointer_free(&taper_allocator_system, maps[i]);
    }
    c->where = "the module's object";
    if (!module_same_values(c, a->root, b->root) || !module_same_pending(c, a, b) || !module_same_extras(c, a, b)) {
        return false;
    }
    c->where = "debug texts";
    MODULE_SAME(c, !debug || c->across || a->debug_count == b->debug_count, "their number");
    for (size_t i = 0; i < a->debug_count && debug && !c->across; i++) {
        MODULE_SAME(c, a->debug[i].handle == b->debug[i].handle, "handles");
        MODULE_SAME(c, strcmp(a->debug[i].text, b->debug[i].text) == 0, "a text");
    }
    return true;
}

// Compares two modules. debug: true to compare debug handles and texts too.
static inline bool module_same(module_comparison *c, const taper_module *a, const taper_module *b, bool debug)
{
    *c = (module_comparison){
        .across = a->flatbuffer != b->flatbuffer, .uncounted = b->bytecode_version < 6, .where = "module"};
    const bool same = module_same_parts(c, a, b, debug);
    taper_pointer_free(&taper_allocator_system, &c->left);
    taper_pointer_free(&taper_allocator_system, &c->right);
    return same;
}

#endif
