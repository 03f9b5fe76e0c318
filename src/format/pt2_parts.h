// SPDX-License-Identifier: BSD-2-Clause
// Internal parts of the reader of .pt2 files. Only the files of this reader include this header.
#ifndef TAPER_FORMAT_PT2_PARTS_H
#define TAPER_FORMAT_PT2_PARTS_H

#include "base/json.h"
#include "format/archive.h"
#include "format/pt2_program.h"

// An occurrence of a value's name in a graph. While a graph is read, the `value` of its arguments is the number of such
// a mention, counted from the first one of the graph. After reading, the mentions are sorted by name, and each name
// becomes one value.
typedef struct taper_pt2_mention {
    taper_pt2_value value;
    size_t number;
    bool declared; // true for a name in the graph's own table of values
} taper_pt2_mention;

// The entry of the signature for one input or output.
typedef struct taper_pt2_spec {
    uint8_t kind; // a taper_pt2_input_kind or taper_pt2_output_kind
    bool persistent;
    bool named;         // true if the argument must be a named value; false if it may also be a constant
    const char *value;  // name of the value, or NULL for a constant
    const char *target; // name of the weight, buffer or input that the entry refers to, or NULL if it refers to none
} taper_pt2_spec;

typedef struct taper_pt2_fields {
    const char *type; // type of a named tuple, as the file names it
    taper_pt2_argument *names;
    size_t count;
} taper_pt2_fields;

// A tensor constant of the first schema: an archive of torch.save, encoded in base64.
typedef struct taper_pt2_blob {
    const char *name, *text;
    size_t length;
} taper_pt2_blob;

typedef struct taper_pt2_array {
    void *items;
    size_t count;
} taper_pt2_array;

typedef struct taper_pt2 {
    taper_module *module;
    taper_pt2_program *program;
    taper_error *error;
    taper_archive archive;
    taper_json json;        // JSON reader at the current record
    taper_pt2_graph *graph; // graph of the program being read

    // Items of the arrays that are being read. The items of an inner array are after the items of the outer array.
    char *scratch;
    size_t scratch_count, scratch_capacity;
    taper_pt2_mention *mentions;
    size_t mention_count, mention_capacity;

    taper_pt2_array inputs, outputs; // arrays of taper_pt2_spec, in the order of the graph's inputs and outputs
    // True for the first schema, which has specs by name, and no specs for the caller's inputs and outputs.
    bool old_signature;
    taper_pt2_array fields; // array of taper_pt2_fields
    taper_pt2_array blobs;  // array of taper_pt2_blob
    // JSON text that describes the nesting of inputs and outputs in containers; NULL if missing.
    const char *in_spec, *out_spec;
    size_t in_spec_length, out_spec_length;

    taper_pt2_weight *weights; // array of weights, moved to the program at the end
    size_t weight_count, weight_capacity;
} taper_pt2;

// Fails with "model.json: TEXT" and the current position in the record.
TAPER_COLD taper_status taper_pt2_fail(taper_pt2 *r, taper_status status, const char *format, ...) TAPER_PRINTF(3, 4);

// ---- pt2_json.c: values of a record

// Reads the value of one member of an object into `to`. Calls taper_json_skip if the name is unknown.
typedef taper_status taper_pt2_member(taper_pt2 *r, const taper_json_text *name, void *to);
// Calls `read` for every member of an object, except members with the value null.
TAPER_MUST_USE taper_status taper_pt2_members(taper_pt2 *r, taper_pt2_member *read, void *to);

enum { TAPER_PT2_ITEM = 128 };
// Reads one item of an array (then `name` is NULL), or one member of an object that maps names to items, into `item`,
// which is zeroed. how: data that the caller passes through.
typedef taper_status taper_pt2_item(taper_pt2 *r, const char *name, const void *how, void *item);
// Reads all items of an array or object into an array in the arena. item_size: bytes of one item, at most
// TAPER_PT2_ITEM.
TAPER_MUST_USE taper_status taper_pt2_items(taper_pt2 *r, taper_json_kind kind, taper_pt2_item *read, const void *how,
                                            size_t item_size, taper_pt2_array *array);

// Reads a string into the arena. If `length` is NULL, the string must not contain NUL, because it is a name.
TAPER_MUST_USE taper_status taper_pt2_text(taper_pt2 *r, const char **text, size_t *length);
TAPER_MUST_USE taper_status taper_pt2_keep(taper_pt2 *r, const taper_json_text *from, const char **text,
                                           size_t *length);
TAPER_MUST_USE taper_status taper_pt2_int(taper_pt2 *r, int64_t *number);
// Reads a number, or a string such as "Infinity" for a number that JSON cannot express.
TAPER_MUST_USE taper_status taper_pt2_float(taper_pt2 *r, double *number);
// Reads an item that is a string; `item` points to a const char *.
TAPER_MUST_USE taper_status taper_pt2_text_item(taper_pt2 *r, const char *name, const void *how, void *item);
// Opens a record as r->json, calls `read`, and closes the record.
TAPER_MUST_USE taper_status taper_pt2_record(taper_pt2 *r, const taper_zip_entry *entry,
                                             taper_status (*read)(taper_pt2 *r));

// ---- pt2_argument.c

TAPER_MUST_USE taper_status taper_pt2_argument_read(taper_pt2 *r, taper_pt2_argument *argument);
// Reads a tensor, token or custom object, which is {"name": NAME}, or only NAME in the first schema.
TAPER_MUST_USE taper_status taper_pt2_named_read(taper_pt2 *r, taper_pt2_type type, taper_pt2_argument *argument);
TAPER_MUST_USE taper_status taper_pt2_mention_add(taper_pt2 *r, const taper_pt2_value *value, bool declared,
                                                  taper_pt2_argument *argument);
// Reads an item of an array into a taper_pt2_argument.
TAPER_MUST_USE taper_status taper_pt2_argument_item(taper_pt2 *r, const char *name, const void *how, void *item);

// ---- pt2_meta.c

TAPER_MUST_USE taper_status taper_pt2_number_read(taper_pt2 *r, taper_pt2_number *number);
TAPER_MUST_USE taper_status taper_pt2_meta_read(taper_pt2 *r, taper_pt2_meta *meta);
TAPER_MUST_USE taper_status taper_pt2_device_read(taper_pt2 *r, const char **device);
typedef enum taper_pt2_enum {
    TAPER_PT2_ENUM_DTYPE,
    TAPER_PT2_ENUM_MEMORY_FORMAT,
    TAPER_PT2_ENUM_LAYOUT
} taper_pt2_enum;
// Reads a dtype, layout or memory format, which the schema gives as a number or a name, and converts it to the number
// that PyTorch's operators use.
TAPER_MUST_USE taper_status taper_pt2_enum_read(taper_pt2 *r, taper_pt2_enum kind, int *number);

// ---- pt2_graph.c, pt2_signature.c, pt2_tree.c, pt2_weights.c

TAPER_MUST_USE taper_status taper_pt2_graph_read(taper_pt2 *r, taper_pt2_graph *graph);
// Reads the value of the member "signature".
TAPER_MUST_USE taper_status taper_pt2_signature_read(taper_pt2 *r);
// Determines the kind of each input and output. Call it after the program and its weights were read.
TAPER_MUST_USE taper_status taper_pt2_signature_finish(taper_pt2 *r);
TAPER_MUST_USE taper_status taper_pt2_tree_read(taper_pt2 *r, const char *what, const char *text, size_t length,
                                                taper_pt2_tree *tree);
// Reads the weights of the program with this name. `name` is NULL if the file has the legacy layout.
TAPER_MUST_USE taper_status taper_pt2_weights_read(taper_pt2 *r, const char *name, size_t length);
// Returns the weight with this name, or NULL if there is none.
const taper_pt2_weight *taper_pt2_weight_find(const taper_pt2_program *program, const char *name);
// For a tensor of a Python subclass, returns the weight of its first part, which is named NAME.PART. Returns NULL if
// there is no such weight.
const taper_pt2_weight *taper_pt2_part_find(const taper_pt2_program *program, const char *name);

#endif
