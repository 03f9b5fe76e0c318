// SPDX-License-Identifier: BSD-2-Clause
// Reads the tensors of a .pt2 file. They are records of raw bytes with a table in JSON, or archives of torch.save
// inside the archive.
#include <stdio.h>

#include "format/pt2_parts.h"
#include "ir/tensor.h"

// Adds a weight. Takes over the reference to the tensor, even if it fails.
static taper_status add(taper_pt2 *r, const char *name, taper_tensor *tensor, const char *refusal)
{
    const taper_status status =
        TAPER_GROW(r->module->allocator, r->weights, r->weight_capacity, r->weight_count + 1, r->error);
    if (status == TAPER_OK) {
        r->weights[r->weight_count++] = (taper_pt2_weight){.name = name, .tensor = tensor, .refusal = refusal};
    } else if (tensor != NULL) {
        taper_obj_release(&tensor->head);
    }
    return status;
}

static taper_status refuse(taper_pt2 *r, const char *name, const char *before, const char *what, const char *behind)
{
    char text[200];
    (void)snprintf(text, sizeof text, "%s%s%s", before, what, behind);
    const char *refusal = taper_arena_string(&r->module->arena, text, strlen(text));
    return refusal != NULL ? add(r, name, NULL, refusal) : taper_fail_memory(r->error);
}

// ---- archives of torch.save

// Reads the value that torch.save wrote. data and size: its archive, which is within the bytes of the blob.
static taper_status read_saved(taper_pt2 *r, taper_blob *blob, const void *data, size_t size, taper_val *value)
{
    taper_archive inner;
    TAPER_TRY(taper_archive_open_part(blob, data, size, r->module, &inner, r->error));
    taper_status status = taper_archive_read_version(&inner, r->error);
    if (status == TAPER_OK) {
        status = taper_archive_read_pickle(&inner, "data.pkl", "data/", &taper_subclass_host, value, r->error);
    }
    taper_archive_close(&inner);
    return status;
}

// Reads the value of a record. If the record is not compressed, reads it in place, so that its tensors can borrow the
// file's bytes.
static taper_status read_saved_entry(taper_pt2 *r, const taper_zip_entry *entry, taper_val *value)
{
    const uint8_t *data;
    uint64_t offset;
    TAPER_TRY(taper_zip_check(&r->archive.zip, entry, r->error));
    TAPER_TRY(taper_zip_locate(&r->archive.zip, entry, &data, &offset, r->error));
    taper_status status;
    if (entry->method == 0) {
        status = read_saved(r, r->archive.blob, data, (size_t)entry->size, value);
    } else {
        taper_record record;
        taper_blob *blob;
        TAPER_TRY(taper_zip_read(&r->archive.zip, entry, &record, r->error));
        TAPER_TRY(taper_blob_from_block(r->module->allocator, record.block, record.size, &blob, r->error));
        status = read_saved(r, blob, blob->data, blob->size, value);
        taper_obj_release(&blob->head);
    }
    if (status != TAPER_OK) {
        taper_error_prefix(r->error, "%.*s: ", (int)taper_min_size(entry->name_length, 100), entry->name);
    }
    return status;
}

// ---- tensors of Python subclasses, such as the tensors of torchao: the parts that are tensors

enum { MOST_NESTED = 8 }; // largest nesting depth: a part may itself be a tensor of a subclass

// Adds the parts of the tensor `name` as weights named NAME.PART. The program reads them with
// export::access_subclass_inner_tensor.
static taper_status add_parts(taper_pt2 *r, const char *name, const taper_dict *parts, int depth)
{
    if (depth == MOST_NESTED) {
        TAPER_FAIL(r->error, TAPER_ERROR_FILE, "tensors of subclasses are nested more than %d deep", MOST_NESTED);
    }
    for (size_t i = 0; i < parts->count; i++) {
        const taper_val key = taper_dict_key(parts, i), value = taper_dict_value(parts, i);
        const size_t before = strlen(name);
        if (key.tag != TAPER_STRING || (value.tag != TAPER_TENSOR && value.tag != TAPER_DICT)) {
            continue;
        }
        if (key.as.string->length == 0 || memchr(key.as.string->data, '\0', key.as.string->length) != NULL ||
            memchr(key.as.string->data, '.', key.as.string->length) != NULL) {
            TAPER_FAIL(r->error, TAPER_ERROR_FILE, "a part of a tensor has no proper name");
        }
        char *full = taper_arena_alloc(&r->module->arena, before + key.as.string->length + 2);
        if (full == NULL) {
            return taper_fail_memory(r->error);
        }
        memcpy(full, name, before);
        full[before] = '.';
        memcpy(full + before + 1, key.as.string->data, key.as.string->length);
        full[before + 1 + key.as.string->length] = '\0';
        if (value.tag == TAPER_DICT) {
            TAPER_TRY(add_parts(r, full, value.as.dict, depth + 1));
        } else {
            taper_obj_retain(&value.as.tensor->head);
            TAPER_TRY(add(r, full, value.as.tensor, NULL));
        }
    }
    return TAPER_OK;
}

static taper_status read_subclass(taper_pt2 *r, const char *name, const taper_zip_entry *entry)
{
    taper_val value;
    taper_status status = read_saved_entry(r, entry, &value);
    // A weight that cannot be read is an error only if the program uses it.
    if (status == TAPER_ERROR_FILE || status == TAPER_ERROR_UNSUPPORTED) {
        char text[150];
        (void)snprintf(text, sizeof text, "%.149s", taper_error_message(r->error));
        taper_error_clear(r->error);
        return refuse(r, name, "it is a tensor of a subclass that cannot be read: ", text, "");
    }
    TAPER_TRY(status);
    if (value.tag == TAPER_DICT) {
        status = add_parts(r, name, value.as.dict, 0);
    } else if (value.tag == TAPER_TENSOR) {
        taper_obj_retain(&value.as.tensor->head);
        status = add(r, name, value.as.tensor, NULL);
    } else {
        status = refuse(r, name, "it is a ", taper_val_kind_name(value), ", not a tensor");
    }
    taper_val_release(value);
    return status;
}

// ---- records with a table: {"config": {"conv.weight": {"path_name": "weight_0", "tensor_meta": {…}}}}

typedef struct payload {
    const char *path;
    bool pickled, described;
    taper_pt2_meta meta;
} payload;

static taper_status payload_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    payload *p = to;
    if (taper_json_is(name, "path_name")) {
        return taper_pt2_text(r, &p->path, NULL);
    }
    if (taper_json_is(name, "use_pickle")) {
        return taper_json_take_bool(&r->json, &p->pickled);
    }
    if (taper_json_is(name, "tensor_meta")) {
        p->described = true;
        return taper_pt2_meta_read(r, &p->meta);
    }
    return taper_json_skip(&r->json);
}

static bool known_dtype(int dtype)
{
    return (dtype >= TAPER_U8 && dtype <= TAPER_BOOL) || dtype == TAPER_BF16;
}

static bool is_object(const payload *p)
{
    return strncmp(p->path, "opaque_obj_", 11) == 0 || strncmp(p->path, "custom_obj_", 11) == 0;
}

// Returns the reason why a payload cannot be used, or NULL if it can.
static const char *why_not(const payload *p, const taper_zip_entry *entry)
{
    if (is_object(p) || !p->described) {
        return "it is an object of Python or C++, which Taper does not run";
    }
    if (p->meta.layout != 0 || p->meta.strides == NULL) {
        return "it is no dense tensor";
    }
    for (size_t i = 0; i < p->meta.rank; i++) {
        if (p->meta.sizes[i].expression != NULL || p->meta.strides[i].expression != NULL) {
            return "its sizes are no numbers";
        }
        if (entry->size == 0 && p->meta.sizes[i].as.i == 0) {
            return NULL;
        }
    }
    return entry->size == 0 ? "the file has no data of it: export the module with its weights" : NULL;
}

static taper_status make_tensor(taper_pt2 *r, const taper_pt2_meta *meta, const taper_zip_entry *entry,
                                taper_tensor **tensor)
{
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    for (size_t i = 0; i < meta->rank; i++) {
        sizes[i] = meta->sizes[i].as.i;
        strides[i] = meta->strides[i].as.i;
    }
    taper_storage *storage;
    const taper_dtype dtype = (taper_dtype)meta->dtype;
    TAPER_TRY(taper_archive_storage(&r->archive, entry, dtype, &storage, r->error));
    const taper_status status = taper_tensor_view(r->module->heap, storage, dtype, meta->offset.as.i, meta->rank, sizes,
                                                  strides, tensor, r->error);
    taper_obj_release(&storage->head);
    if (status == TAPER_ERROR_ARGUMENT) { // the wrong argument came from the file, so this is an error of the file
        char text[200];
        (void)snprintf(text, sizeof text, "%.190s", taper_error_message(r->error));
        TAPER_FAIL(r->error, TAPER_ERROR_FILE, "%s", text);
    }
    if (status == TAPER_OK) {
        (*tensor)->requires_grad = meta->requires_grad;
    }
    return status;
}

static taper_status payload_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    const char *folder = how;
    payload *p = item;
    TAPER_TRY(taper_pt2_members(r, payload_member, p));
    if (p->path == NULL) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "\"%.100s\" without the name of its record", name);
    }
    char path[TAPER_LIMIT_RECORD_NAME];
    const int length = snprintf(path, sizeof path, "%s%s", folder, p->path);
    const taper_zip_entry *entry =
        length > 0 && (size_t)length < sizeof path ? taper_zip_find(&r->archive.zip, path, (size_t)length) : NULL;
    if (entry == NULL) {
        return taper_pt2_fail(r, TAPER_ERROR_FILE, "the archive lacks the record %.200s, the data of \"%.100s\"", path,
                              name);
    }
    if (p->pickled && !is_object(p)) {
        return read_subclass(r, name, entry);
    }
    const char *refusal = why_not(p, entry);
    if (refusal != NULL) {
        return add(r, name, NULL, refusal);
    }
    if (!known_dtype(p->meta.dtype)) {
        return refuse(r, name, "its dtype is ", taper_pt2_dtype_name(p->meta.dtype), ", which Taper does not have");
    }
    taper_tensor *tensor;
    const taper_status status = make_tensor(r, &p->meta, entry, &tensor);
    if (status != TAPER_OK) {
        taper_error_prefix(r->error, "%s: ", name);
        return status;
    }
    return add(r, name, tensor, NULL);
}

static taper_status weights_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_array none;
    return taper_json_is(name, "config")
               ? taper_pt2_items(r, TAPER_JSON_OBJECT, payload_item, to, sizeof(payload), &none)
               : taper_json_skip(&r->json);
}

static taper_status read_weights(taper_pt2 *r)
{
    static char folder[] = "data/weights/";
    return taper_pt2_members(r, weights_member, folder);
}

static taper_status read_constants(taper_pt2 *r)
{
    static char folder[] = "data/constants/";
    return taper_pt2_members(r, weights_member, folder);
}

// ---- one record for all tensors

static taper_status add_saved(taper_pt2 *r, const taper_dict *dict)
{
    for (size_t i = 0; i < dict->count; i++) {
        const taper_val key = taper_dict_key(dict, i), value = taper_dict_value(dict, i);
        if (key.tag != TAPER_STRING || memchr(key.as.string->data, '\0', key.as.string->length) != NULL) {
            TAPER_FAIL(r->error, TAPER_ERROR_FILE, "a tensor of the archive has no proper name");
        }
        const char *name = taper_arena_string(&r->module->arena, key.as.string->data, key.as.string->length);
        if (name == NULL) {
            return taper_fail_memory(r->error);
        }
        if (value.tag == TAPER_TENSOR) {
            taper_obj_retain(&value.as.tensor->head);
            TAPER_TRY(add(r, name, value.as.tensor, NULL));
        } else {
            TAPER_TRY(refuse(r, name, "it is a ", taper_val_kind_name(value), ", not a tensor"));
        }
    }
    return TAPER_OK;
}

static taper_status read_saved_record(taper_pt2 *r, const taper_zip_entry *entry)
{
    taper_val value;
    if (entry->size == 0) {
        // an empty record means that the program has no weights of this kind
        return taper_zip_check(&r->archive.zip, entry, r->error);
    }
    TAPER_TRY(read_saved_entry(r, entry, &value));
    const taper_status status =
        value.tag == TAPER_DICT
            ? add_saved(r, value.as.dict)
            : taper_fail(r->error, TAPER_ERROR_FILE, "%.*s holds a %s instead of a dict",
                         (int)taper_min_size(entry->name_length, 100), entry->name, taper_val_kind_name(value));
    taper_val_release(value);
    return status;
}

// ---- base64 in the program's JSON: the constants of the first schema

static int digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

static taper_status read_blob(taper_pt2 *r, const taper_pt2_blob *from)
{
    const size_t room = from->length / 4 * 3 + 3;
    uint8_t *block = taper_alloc(r->module->allocator, room);
    if (block == NULL) {
        return taper_fail_memory(r->error);
    }
    size_t used = 0;
    unsigned bits = 0, count = 0;
    for (size_t i = 0; i < from->length && digit(from->text[i]) >= 0; i++) {
        bits = bits << 6 | (unsigned)digit(from->text[i]);
        count += 6;
        if (count >= 8) {
            count -= 8;
            block[used++] = (uint8_t)(bits >> count);
        }
    }
    taper_blob *blob;
    taper_val value;
    TAPER_TRY(taper_blob_from_block(r->module->allocator, block, room, &blob, r->error));
    taper_status status = read_saved(r, blob, blob->data, used, &value);
    taper_obj_release(&blob->head);
    if (status != TAPER_OK) {
        taper_error_prefix(r->error, "%s: ", from->name);
        return status;
    }
    if (value.tag == TAPER_TENSOR) {
        return add(r, from->name, value.as.tensor, NULL);
    }
    status = refuse(r, from->name, "it is a ", taper_val_kind_name(value), ", not a tensor");
    taper_val_release(value);
    return status;
}

// ---- reading and finding weights

static int by_name(const void *a, const void *b)
{
    return strcmp(((const taper_pt2_weight *)a)->name, ((const taper_pt2_weight *)b)->name);
}

static taper_status finish(taper_pt2 *r)
{
    taper_pt2_program *program = r->program;
    TAPER_TRY(taper_sort(r->module->allocator, r->weights, r->weight_count, sizeof *r->weights, by_name, r->error));
    program->weights = taper_arena_array(&r->module->arena, r->weight_count, sizeof *program->weights);
    if (program->weights == NULL) {
        return taper_fail_memory(r->error);
    }
    if (r->weight_count != 0) {
        memcpy(program->weights, r->weights, r->weight_count * sizeof *program->weights);
    }
    program->weight_count = r->weight_count;
    r->weight_count = 0;
    return TAPER_OK;
}

// Returns the record whose name is the concatenation of the three texts, or NULL if there is none.
static const taper_zip_entry *find(const taper_pt2 *r, const char *before, const char *name, size_t length,
                                   const char *behind)
{
    char path[TAPER_LIMIT_RECORD_NAME];
    const int total = snprintf(path, sizeof path, "%s%.*s%s", before, (int)length, name, behind);
    return total > 0 && (size_t)total < sizeof path ? taper_zip_find(&r->archive.zip, path, (size_t)total) : NULL;
}

taper_status taper_pt2_weights_read(taper_pt2 *r, const char *name, size_t length)
{
    static const struct {
        const char *folder, *table, *legacy;
        taper_status (*read)(taper_pt2 *r);
    } kinds[] = {{"data/weights/", "_weights_config.json", "serialized_state_dict", read_weights},
                 {"data/constants/", "_constants_config.json", "serialized_constants", read_constants}};
    for (size_t i = 0; i < 2; i++) {
        const taper_zip_entry *table = NULL, *saved;
        if (name != NULL) {
            table = find(r, kinds[i].folder, name, length, kinds[i].table);
            saved = find(r, kinds[i].folder, name, length, ".pt");
        } else {
            saved = find(r, kinds[i].legacy, "", 0, ".pt");
            saved = saved != NULL ? saved : find(r, kinds[i].legacy, "", 0, ".json"); // the name up to PyTorch 2.2
        }
        if (table != NULL) {
            TAPER_TRY(taper_pt2_record(r, table, kinds[i].read));
        } else if (saved != NULL) {
            TAPER_TRY(read_saved_record(r, saved));
        }
    }
    const taper_pt2_blob *blobs = r->blobs.items;
    for (size_t i = 0; i < r->blobs.count; i++) {
        TAPER_TRY(read_blob(r, &blobs[i]));
    }
    return finish(r);
}

// Compares the beginning of a weight's name with `name` followed by the byte `last`.
static int compare(const char *weight, const char *name, size_t length, char last)
{
    const int order = strncmp(weight, name, length);
    return order != 0 ? order : (int)(unsigned char)weight[length] - (int)(unsigned char)last;
}

// Returns the first weight whose name begins with `name` followed by the byte `last`, or NULL if there is none.
static const taper_pt2_weight *find_beginning(const taper_pt2_program *program, const char *name, char last)
{
    const size_t length = strlen(name);
    size_t low = 0, high = program->weight_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(program->weights[middle].name, name, length, last) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < program->weight_count && compare(program->weights[low].name, name, length, last) == 0
               ? &program->weights[low]
               : NULL;
}

const taper_pt2_weight *taper_pt2_weight_find(const taper_pt2_program *program, const char *name)
{
    return find_beginning(program, name, '\0');
}

const taper_pt2_weight *taper_pt2_part_find(const taper_pt2_program *program, const char *name)
{
    return find_beginning(program, name, '.');
}

void taper_pt2_release(taper_pt2_program *program)
{
    for (; program != NULL; program = program->next) {
        for (size_t i = 0; i < program->weight_count; i++) {
            if (program->weights[i].tensor != NULL) {
                taper_obj_release(&program->weights[i].tensor->head);
            }
        }
        program->weight_count = 0;
    }
}
