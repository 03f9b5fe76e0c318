// SPDX-License-Identifier: BSD-2-Clause
// Reads .pt2 files: determines the layout, and reads the program's JSON except its graph.
#include "format/pt2_parts.h"

enum { NEWEST_SCHEMA = 8 };

static const char legacy_program[] = "serialized_exported_program.json", models[] = "models/", json_ending[] = ".json";

static const taper_zip_entry *find(const taper_zip *zip, const char *name)
{
    return taper_zip_find(zip, name, strlen(name));
}

static bool begins(const taper_zip_entry *entry, const char *with)
{
    const size_t length = strlen(with);
    return entry->name_length > length && memcmp(entry->name, with, length) == 0;
}

static bool any_begins(const taper_zip *zip, const char *with)
{
    for (size_t i = 0; i < zip->count; i++) {
        if (begins(&zip->entries[i], with)) {
            return true;
        }
    }
    return false;
}

static bool is_model(const taper_zip_entry *entry)
{
    const size_t around = sizeof models - 1 + sizeof json_ending - 1;
    return begins(entry, models) && entry->name_length > around &&
           memcmp(entry->name + entry->name_length - (sizeof json_ending - 1), json_ending, sizeof json_ending - 1) ==
               0;
}

bool taper_pt2_is(const taper_zip *zip)
{
    return find(zip, legacy_program) != NULL || find(zip, "archive_format") != NULL ||
           find(zip, "models/model.json") != NULL;
}

// ---- the packing of inputs and outputs

typedef struct call {
    const char *name; // name of a module; "" means the whole program
    const char *in_spec, *out_spec;
    size_t in_length, out_length;
    taper_pt2_array names;
} call;

static taper_status signature_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    call *c = to;
    if (taper_json_is(name, "in_spec")) {
        return taper_pt2_text(r, &c->in_spec, &c->in_length);
    }
    if (taper_json_is(name, "out_spec")) {
        return taper_pt2_text(r, &c->out_spec, &c->out_length);
    }
    if (taper_json_is(name, "forward_arg_names")) {
        return taper_pt2_items(r, TAPER_JSON_ARRAY, taper_pt2_text_item, NULL, sizeof(const char *), &c->names);
    }
    return taper_json_skip(&r->json);
}

static taper_status call_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    call *c = to;
    if (taper_json_is(name, "fqn")) {
        return taper_pt2_text(r, &c->name, NULL);
    }
    return taper_json_is(name, "signature") ? taper_pt2_members(r, signature_member, c) : taper_json_skip(&r->json);
}

static void keep_call(taper_pt2 *r, const call *c)
{
    r->in_spec = c->in_spec;
    r->in_spec_length = c->in_length;
    r->out_spec = c->out_spec;
    r->out_spec_length = c->out_length;
    r->program->argument_names = c->names.items;
    r->program->argument_name_count = c->names.count;
}

static taper_status call_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    call *c = item;
    (void)name;
    (void)how;
    TAPER_TRY(taper_pt2_members(r, call_member, c));
    if (c->name != NULL && c->name[0] == '\0' && c->in_spec != NULL) {
        keep_call(r, c);
    }
    return TAPER_OK;
}

static taper_status field_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    taper_pt2_argument *field = item;
    size_t length = 0;
    (void)name;
    (void)how;
    field->kind = TAPER_PT2_STRING;
    TAPER_TRY(taper_pt2_text(r, &field->as.text, &length));
    field->count = (uint32_t)length;
    return TAPER_OK;
}

static taper_status fields_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_fields *fields = to;
    if (!taper_json_is(name, "field_names")) {
        return taper_json_skip(&r->json);
    }
    taper_pt2_array array;
    TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, field_item, NULL, sizeof *fields->names, &array));
    fields->names = array.items;
    fields->count = array.count;
    return TAPER_OK;
}

static taper_status fields_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    taper_pt2_fields *fields = item;
    (void)how;
    fields->type = name;
    return taper_pt2_members(r, fields_member, fields);
}

static taper_status module_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    (void)to;
    taper_pt2_array none;
    if (taper_json_is(name, "graph")) {
        return taper_pt2_graph_read(r, r->graph);
    }
    if (taper_json_is(name, "signature")) {
        return taper_pt2_signature_read(r);
    }
    if (taper_json_is(name, "module_call_graph")) {
        return taper_pt2_items(r, TAPER_JSON_ARRAY, call_item, NULL, 0, &none);
    }
    if (taper_json_is(name, "call_spec")) { // only the first schema has this member
        call c = {.name = ""};
        TAPER_TRY(taper_pt2_members(r, signature_member, &c));
        keep_call(r, &c);
        return TAPER_OK;
    }
    if (taper_json_is(name, "treespec_namedtuple_fields")) {
        return taper_pt2_items(r, TAPER_JSON_OBJECT, fields_item, NULL, sizeof(taper_pt2_fields), &r->fields);
    }
    return taper_json_skip(&r->json);
}

// ---- the program

static taper_status version_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    (void)to;
    if (taper_json_is(name, "major")) {
        return taper_pt2_int(r, &r->program->major);
    }
    return taper_json_is(name, "minor") ? taper_pt2_int(r, &r->program->minor) : taper_json_skip(&r->json);
}

static taper_status read_version(taper_pt2 *r)
{
    taper_json_kind kind;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    return kind == TAPER_JSON_OBJECT ? taper_pt2_members(r, version_member, NULL)
                                     : taper_pt2_int(r, &r->program->major); // the first schemas have only one number
}

static taper_status opset_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    taper_pt2_opset *opset = item;
    (void)how;
    opset->name = name;
    return taper_pt2_int(r, &opset->version);
}

// Reads an integer. Any other value (null, Infinity, a string) means that there is no bound.
static taper_status read_bound(taper_pt2 *r, int64_t *bound)
{
    taper_json_kind kind;
    taper_json_number number;
    TAPER_TRY(taper_json_peek(&r->json, &kind));
    if (kind != TAPER_JSON_INT) {
        return taper_json_skip(&r->json);
    }
    TAPER_TRY(taper_json_take_number(&r->json, &number));
    *bound = number.whole ? number.integer : *bound;
    return TAPER_OK;
}

static taper_status range_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_range *range = to;
    if (taper_json_is(name, "min_val")) {
        return read_bound(r, &range->least);
    }
    return taper_json_is(name, "max_val") ? read_bound(r, &range->most) : taper_json_skip(&r->json);
}

static taper_status range_item(taper_pt2 *r, const char *name, const void *how, void *item)
{
    taper_pt2_range *range = item;
    (void)how;
    *range = (taper_pt2_range){.name = name, .least = INT64_MIN, .most = INT64_MAX};
    return taper_pt2_members(r, range_member, range);
}

static taper_status program_member(taper_pt2 *r, const taper_json_text *name, void *to)
{
    taper_pt2_program *program = to;
    taper_pt2_array array;
    if (taper_json_is(name, "graph_module")) {
        return taper_pt2_members(r, module_member, NULL);
    }
    if (taper_json_is(name, "schema_version")) {
        return read_version(r);
    }
    if (taper_json_is(name, "torch_version")) {
        return taper_pt2_text(r, &program->torch_version, NULL);
    }
    if (taper_json_is(name, "opset_version")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_OBJECT, opset_item, NULL, sizeof *program->opsets, &array));
        program->opsets = array.items;
        program->opset_count = array.count;
        return TAPER_OK;
    }
    if (taper_json_is(name, "range_constraints")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_OBJECT, range_item, NULL, sizeof *program->ranges, &array));
        program->ranges = array.items;
        program->range_count = array.count;
        return TAPER_OK;
    }
    if (taper_json_is(name, "guards_code")) {
        TAPER_TRY(taper_pt2_items(r, TAPER_JSON_ARRAY, taper_pt2_text_item, NULL, sizeof *program->guards, &array));
        program->guards = array.items;
        program->guard_count = array.count;
        return TAPER_OK;
    }
    return taper_json_skip(&r->json);
}

static taper_status read_program(taper_pt2 *r)
{
    return taper_pt2_members(r, program_member, r->program);
}

static taper_status only_version(taper_pt2 *r, const taper_json_text *name, void *to)
{
    (void)to;
    return taper_json_is(name, "schema_version") ? read_version(r) : taper_json_skip(&r->json);
}

static taper_status read_only_version(taper_pt2 *r)
{
    return taper_pt2_members(r, only_version, NULL);
}

// Reads the program's JSON. If that fails, checks whether the schema is newer than the supported schemas, because the
// schema's number comes after the graph in the file.
static taper_status read_json(taper_pt2 *r, const taper_zip_entry *entry)
{
    taper_pt2_program *program = r->program;
    taper_status status = taper_pt2_record(r, entry, read_program);
    if (status == TAPER_ERROR_FILE || status == TAPER_ERROR_UNSUPPORTED) {
        taper_error *const error = r->error;
        r->error = NULL;
        program->major = 0;
        const taper_status version = taper_pt2_record(r, entry, read_only_version);
        program->major = version == TAPER_OK ? program->major : 0;
        r->error = error;
    }
    if (program->major > NEWEST_SCHEMA) {
        TAPER_FAIL(r->error, TAPER_ERROR_UNSUPPORTED,
                   "the program is written in version %lld.%lld of the export schema, and this version of Taper reads "
                   "those up to %d: save it with an older PyTorch, or take a newer Taper",
                   (long long)program->major, (long long)program->minor, NEWEST_SCHEMA);
    }
    if (status == TAPER_OK && (r->graph->inputs == NULL || r->graph->outputs == NULL || r->graph->nodes == NULL)) {
        TAPER_FAIL(r->error, TAPER_ERROR_FILE, "%.*s holds no program", (int)taper_min_size(entry->name_length, 100),
                   entry->name);
    }
    return status;
}

// Completes the nesting of inputs. If the caller passed no keyword arguments, the first schema contains only the tuple
// of positional arguments.
static taper_status complete_inputs(taper_pt2 *r)
{
    taper_pt2_tree *tree = &r->program->in_tree;
    if (tree->kind == TAPER_PT2_TUPLE && tree->count == 2 && tree->children[0].kind == TAPER_PT2_TUPLE &&
        tree->children[1].kind == TAPER_PT2_TREE_DICT) {
        return TAPER_OK;
    }
    if (tree->kind != TAPER_PT2_TUPLE) {
        TAPER_FAIL(r->error, TAPER_ERROR_FILE,
                   "the program's inputs are packed as %.100s, not as a tuple of its arguments",
                   tree->type != NULL ? tree->type : "a single value");
    }
    taper_pt2_tree *both = taper_arena_array(&r->module->arena, 2, sizeof *both);
    if (both == NULL) {
        return taper_fail_memory(r->error);
    }
    both[0] = *tree;
    both[1] = (taper_pt2_tree){.kind = TAPER_PT2_TREE_DICT, .type = "builtins.dict", .context = "[]"};
    *tree = (taper_pt2_tree){.kind = TAPER_PT2_TUPLE,
                             .type = "builtins.tuple",
                             .context = "null",
                             .children = both,
                             .count = 2,
                             .leaves = both[0].leaves};
    return TAPER_OK;
}

// ---- archives

static taper_status check_archive(taper_pt2 *r)
{
    const taper_zip_entry *entry = find(&r->archive.zip, "archive_version");
    if (entry == NULL) {
        return TAPER_OK;
    }
    taper_record record;
    TAPER_TRY(taper_zip_read(&r->archive.zip, entry, &record, r->error));
    taper_status status = TAPER_OK;
    if (record.size != 1 || record.data[0] != '0') {
        status = taper_fail(r->error, TAPER_ERROR_UNSUPPORTED,
                            "version %.*s of the .pt2 archive, and this version of Taper reads 0: save it with an "
                            "older PyTorch, or take a newer Taper",
                            (int)taper_min_size(record.size, 20), (const char *)record.data);
    }
    taper_record_free(&r->archive.zip, &record);
    return status;
}

static taper_status refuse_archive(taper_pt2 *r)
{
    const taper_zip *zip = &r->archive.zip;
    if (any_begins(zip, "data/aotinductor/") || any_begins(zip, "aotinductor/")) {
        TAPER_FAIL(r->error, TAPER_ERROR_UNSUPPORTED,
                   "the .pt2 file holds only code that AOTInductor compiled for one machine, no program: save the "
                   "exported program with torch.export.save");
    }
    if (any_begins(zip, "data/executorch/")) {
        TAPER_FAIL(r->error, TAPER_ERROR_UNSUPPORTED,
                   "the .pt2 file holds only an ExecuTorch program: save the exported program with torch.export.save");
    }
    TAPER_FAIL(r->error, TAPER_ERROR_FILE,
               "the .pt2 file holds no program (models/model.json): it is not complete; save it again");
}

// If a file has several programs, makes the weights of each program attributes of a module with the program's name.
static taper_status prefix_weights(taper_pt2 *r, const char *prefix)
{
    taper_pt2_program *program = r->program;
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < program->weight_count; i++) {
        taper_pt2_weight *w = &program->weights[i];
        const size_t rest = strlen(w->name);
        char *name = taper_arena_alloc(&r->module->arena, length + rest + 2);
        if (name == NULL) {
            return taper_fail_memory(r->error);
        }
        memcpy(name, prefix, length);
        name[length] = '.';
        memcpy(name + length + 1, w->name, rest + 1);
        w->name = name;
    }
    return TAPER_OK;
}

// If a file has several programs, chooses the name of the method that this program becomes, and the name of the module
// of its weights. These names have no dots.
static taper_status name_program(taper_pt2 *r, const char *name, size_t length)
{
    char *own = taper_arena_string(&r->module->arena, name, length);
    if (own == NULL) {
        return taper_fail_memory(r->error);
    }
    for (char *at = own; *at != '\0'; at++) {
        *at = *at == '.' ? '_' : *at;
    }
    if (strcmp(own, "model") != 0 || find(&r->archive.zip, "models/forward.json") != NULL) {
        r->program->method = own;
    }
    return prefix_weights(r, own);
}

// Reads one program. `name` is NULL for the layout before PyTorch 2.8.
static taper_status read_one(taper_pt2 *r, const taper_zip_entry *entry, const char *name, size_t length, bool several)
{
    TAPER_TRY(read_json(r, entry));
    TAPER_TRY(taper_pt2_weights_read(r, name, length));
    TAPER_TRY(taper_pt2_signature_finish(r));
    if (r->in_spec == NULL || r->out_spec == NULL) {
        TAPER_FAIL(r->error, TAPER_ERROR_FILE, "the program does not say how its inputs and outputs are packed");
    }
    TAPER_TRY(taper_pt2_tree_read(r, "in_spec", r->in_spec, r->in_spec_length, &r->program->in_tree));
    TAPER_TRY(taper_pt2_tree_read(r, "out_spec", r->out_spec, r->out_spec_length, &r->program->out_tree));
    TAPER_TRY(complete_inputs(r));
    return several ? name_program(r, name, length) : TAPER_OK;
}

// Reads one program of the archive with a new reader, because an archive may contain several programs. archive: the
// reader that has opened the archive.
static taper_status read_entry(taper_pt2 *archive, const taper_zip_entry *entry, taper_pt2_program *program,
                               bool several)
{
    const size_t around = sizeof models - 1 + sizeof json_ending - 1;
    const bool legacy = !is_model(entry);
    taper_module *module = archive->module;
    taper_pt2 r = *archive;
    *program = (taper_pt2_program){.method = "forward"};
    r.program = program;
    r.graph = taper_arena_alloc(&module->arena, sizeof *r.graph);
    program->graph = r.graph;
    taper_status status = r.graph == NULL ? taper_fail_memory(r.error)
                                          : read_one(&r, entry, legacy ? NULL : entry->name + sizeof models - 1,
                                                     legacy ? 0 : entry->name_length - around, several);
    // After a failure, releases weights that the program did not take over.
    for (size_t i = 0; i < r.weight_count; i++) {
        if (r.weights[i].tensor != NULL) {
            taper_obj_release(&r.weights[i].tensor->head);
        }
    }
    taper_free(module->allocator, r.weights, r.weight_capacity * sizeof *r.weights);
    taper_free(module->allocator, r.mentions, r.mention_capacity * sizeof *r.mentions);
    taper_free(module->allocator, r.scratch, r.scratch_capacity);
    archive->archive = r.archive;
    return status;
}

static taper_status read_programs(taper_pt2 *archive, taper_pt2_program *program)
{
    const taper_zip *zip = &archive->archive.zip;
    size_t count = 0;
    for (size_t i = 0; i < zip->count; i++) {
        count += is_model(&zip->entries[i]);
    }
    TAPER_TRY(count == 0 ? refuse_archive(archive) : TAPER_OK);
    for (size_t i = 0, done = 0; i < zip->count; i++) {
        if (!is_model(&zip->entries[i])) {
            continue;
        }
        if (done++ != 0) {
            program->next = taper_arena_alloc(&archive->module->arena, sizeof *program);
            if (program->next == NULL) {
                return taper_fail_memory(archive->error);
            }
            program = program->next;
        }
        const taper_status status = read_entry(archive, &zip->entries[i], program, count > 1);
        if (status != TAPER_OK) {
            if (count > 1) {
                taper_error_prefix(archive->error, "%.*s: ", (int)taper_min_size(zip->entries[i].name_length, 100),
                                   zip->entries[i].name);
            }
            return status;
        }
    }
    return TAPER_OK;
}

static taper_status read_all(taper_pt2 *r, taper_pt2_program *program)
{
    const taper_zip_entry *legacy = find(&r->archive.zip, legacy_program);
    TAPER_TRY(legacy == NULL ? check_archive(r) : TAPER_OK);
    if (legacy == NULL && find(&r->archive.zip, ".data/version") != NULL) {
        TAPER_TRY(taper_archive_read_version(&r->archive, r->error));
    }
    TAPER_TRY(taper_archive_read_extras(&r->archive, legacy == NULL ? "extra/" : "extra_files/", r->error));
    return legacy != NULL ? read_entry(r, legacy, program, false) : read_programs(r, program);
}

taper_status taper_pt2_read(taper_blob *blob, taper_module *module, taper_pt2_program *program, taper_error *error)
{
    *program = (taper_pt2_program){.major = 0};
    taper_pt2 r = {.module = module, .error = error, .json.what = "the program"};
    TAPER_TRY(taper_archive_open(blob, module, &r.archive, error));
    const taper_status status = read_all(&r, program);
    taper_archive_close(&r.archive);
    module->operator_version = TAPER_OPERATOR_VERSION;
    return status;
}
