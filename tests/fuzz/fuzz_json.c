// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as JSON, converts the value to inputs of several types, and writes and reads its strings and numbers.
// Inputs may only name two files of the folder TAPER_FUZZ_FILES.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/input.h"
#include "ir/type.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
    if (!holds) {
        abort();
    }
}

// Returns true if the value names a file other than tensor.npy and nowhere.npy. Such values are skipped, so that no
// other file of the machine is opened.
static bool names_other_files(const json_value *json, bool is_file)
{
    if (json->kind == JSON_TEXT && (is_file || json->text[0] == '@' || input_names_tensor(json->text))) {
        const char *name = json->text + (json->text[0] == '@');
        return strcmp(name, "tensor.npy") != 0 && strcmp(name, "nowhere.npy") != 0;
    }
    for (size_t i = 0; i < json->count; i++) {
        const json_value *item = &json->items[i];
        if (names_other_files(item, json->kind == JSON_OBJECT && strcmp(item->key, "@tensor") == 0)) {
            return true;
        }
    }
    return false;
}

// ---- writing

static void write_again(const json_value *json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    need(stream != NULL);
    if (json->kind == JSON_TEXT) {
        json_put_text(stream, json->text, json->length);
    } else {
        json_put_double(stream, json->number);
    }
    need(fclose(stream) == 0);
    json_value *again = json_parse("again", text, length);
    need(again != NULL && again->kind == json->kind);
    if (json->kind == JSON_TEXT) {
        need(again->length == json->length && memcmp(again->text, json->text, json->length) == 0);
    } else {
        need(memcmp(&again->number, &json->number, sizeof again->number) == 0 || json->number != json->number);
    }
    json_free(again);
    free(text);
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] >= 0x80) { // the writer may change bytes that are not UTF-8
            return false;
        }
    }
    return true;
}

static void visit(const json_value *json)
{
    if (json->kind == JSON_DOUBLE || (json->kind == JSON_TEXT && is_utf8(json->text, json->length))) {
        write_again(json);
    }
    for (size_t i = 0; i < json->count; i++) {
        visit(&json->items[i]);
        const json_value *item = &json->items[i];
        if (json->kind == JSON_OBJECT && strlen(item->key) == item->key_length) {
            need(json_member(json, item->key) >= item); // finds this member, or a later member with the same name
        }
    }
}

// ---- inputs

static void convert(const json_value *json, const char *text)
{
    static char longest[1200];
    static const char *const types[] = {NULL,
                                        "Tensor",
                                        "List[float]",
                                        "Tuple[int, str]",
                                        "Dict[str, List[int]]",
                                        "Optional[complex]",
                                        "complex",
                                        "Union[NoneType, bool, int, float, str, List[Any], Dict[str, Any]]",
                                        "Union[Tensor, Tuple[int, int]]",
                                        "__torch__.Point",
                                        "str",
                                        "bool",
                                        "number",
                                        "Dict[int, bool]",
                                        "List[Optional[Tensor]]",
                                        "Tuple[()]",
                                        "NoneType",
                                        longest};
    if (longest[0] == '\0') { // a type "List[List[…" that is longer than the limit
        for (size_t i = 0; i < 220; i++) {
            memcpy(longest + 5 * i, "List[", 5);
        }
        memset(longest + 1100, ']', 90);
    }
    taper_types *table;
    need(taper_types_create(&taper_allocator_system, &table, NULL) == TAPER_OK);
    taper_context *context;
    const taper_context_options options = {.struct_size = sizeof options, .threads = 1};
    need(taper_context_create(&options, &context, NULL) == TAPER_OK);
    taper_error *error = taper_error_create();
    const input_source source = {.context = context, .error = error, .subject = "fuzz", .folder = TAPER_FUZZ_FILES};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        taper_value *value = NULL, *again = NULL;
        const taper_type *type = NULL; // parsing may fail, because some texts are nested too deeply
        if (types[i] != NULL && taper_type_parse(table, types[i], strlen(types[i]), &type, NULL) != TAPER_OK) {
            type = NULL;
        }
        const bool done = input_from_json(&source, json, type, &value);
        need(done == (value != NULL));
        if (i < 2 || types[i] == longest) { // the same text on a command line must give the same result
            need(input_from_text(&source, text, type, &again) == done);
            need(!done || taper_value_kind(again) == taper_value_kind(value));
        }
        taper_value_release(again);
        taper_value_release(value);
    }
    taper_types_release(table);
    taper_error_destroy(error);
    taper_context_release(context);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_value *json = json_parse("fuzz", (const char *)data, size);
    char *text = calloc(1, size + 1);
    need(text != NULL);
    memcpy(text, data, size);
    if (json != NULL) {
        visit(json);
        if (!names_other_files(json, false) && strlen(text) == size) {
            convert(json, text);
        }
    } else if (strlen(text) == size && text[0] != '@' && !input_names_tensor(text) && access(text, F_OK) != 0) {
        taper_value *value;
        need(!input_from_text(&(input_source){.subject = "fuzz"}, text, NULL, &value) && value == NULL);
    }
    json_free(json);
    free(text);
    return 0;
}
