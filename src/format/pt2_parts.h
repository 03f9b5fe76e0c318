// SPDX-License-Identifier: BSD-2-Clause
// The inside of the reader of .pt2 files, shared by its parts. Not for others.
#ifndef TAPER_FORMAT_PT2_PARTS_H
#define TAPER_FORMAT_PT2_PARTS_H

#include "base/json.h"
#include "format/archive.h"
#include "format/pt2_program.h"

// A name of a value, somewhere in a graph. While a graph is read, the `value` of its arguments is the number of such a
// mention, counted from the graph's first; then they are sorted, and each name becomes one value.
typedef struct taper_pt2_mention {
    taper_pt2_value value;
    size_t number;
    bool declared; // in the graph's table of values
} taper_pt2_mention;

// What the signature says of an input or output.
typedef struct taper_pt2_spec {
    uint8_t kind; // taper_pt2_input_kind, taper_pt2_output_kind
    bool persistent;
    bool named;         // its argument has a name; if not, it may also be a constant
    const char *value;  // the name; NULL: none
    const char *target; // NULL: none
} taper_pt2_spec;

typedef struct taper_pt2_fields {
    const char *type; // of a named tuple
    taper_pt2_argument *names;
    size_t count;
} taper_pt2_fields;

// A tensor constant of the first schema: base64 of an archive of torch.save.
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
    taper_json json;        // of the record being read
    taper_pt2_graph *graph; // the program's

    // Items of the arrays being read: those of an inner one lie above those of an outer one.
    char *scratch;
    size_t scratch_count, scratch_capacity;
    taper_pt2_mention *mentions;
    size_t mention_count, mention_capacity;

    taper_pt2_array inputs, outputs; // taper_pt2_spec, in the order of the graph's
    bool old_signature;              // of the first schema: by name, without the caller's
    taper_pt2_array fields;          // taper_pt2_fields
    taper_pt2_array blobs;           // taper_pt2_blob
    const char *in_spec, *out_spec;  // the packing of inputs and outputs as JSON; NULL: not said
    size_t in_spec_length, out_spec_length;

    taper_pt2_weight *weights; // a block; at the end they go to the program
    size_t weight_count, weight_capacity;
} taper_pt2;

// A failure at the place in the record: "model.json: TEXT".
TAPER_COLD taper_status taper_pt2_fail(taper_pt2 *r, taper_status status, const char *format, ...) TAPER_PRINTF(3, 4);

// ---- pt2_json.c: values of a record

// Takes the value of a member; unknown ones are taken by taper_json_skip.
typedef taper_status taper_pt2_member(taper_pt2 *r, const taper_json_text *name, void *to);
// Every member of an object that is not null.
TAPER_MUST_USE taper_status taper_pt2_members(taper_pt2 *r, taper_pt2_member *read, void *to);

enum { TAPER_PT2_ITEM = 128 };
// Takes an item of an array (name NULL), or a member of an object that maps names to items. item is zeroed, how is
// the caller's.
typedef taper_status taper_pt2_item(taper_pt2 *r, const char *name, const void *how, void *item);
// All of them, of item_size bytes (at most TAPER_PT2_ITEM) each, into the arena.
TAPER_MUST_USE taper_status taper_pt2_items(taper_pt2 *r, taper_json_kind kind, taper_pt2_item *read, const void *how,
                                            size_t item_size, taper_pt2_array *array);

// A string in the arena. length NULL: it is a name, which has no NUL.
TAPER_MUST_USE taper_status taper_pt2_text(taper_pt2 *r, const char **text, size_t *length);
TAPER_MUST_USE taper_status taper_pt2_keep(taper_pt2 *r, const taper_json_text *from, const char **text,
                                           size_t *length);
TAPER_MUST_USE taper_status taper_pt2_int(taper_pt2 *r, int64_t *number);
// A number, or the name of one that JSON has none for.
TAPER_MUST_USE taper_status taper_pt2_float(taper_pt2 *r, double *number);
// An item that is a string: to const char *.
TAPER_MUST_USE taper_status taper_pt2_text_item(taper_pt2 *r, const char *name, const void *how, void *item);
// The record of that name becomes r->json, and read takes it from there.
TAPER_MUST_USE taper_status taper_pt2_record(taper_pt2 *r, const taper_zip_entry *entry,
                                             taper_status (*read)(taper_pt2 *r));

// ---- pt2_argument.c

TAPER_MUST_USE taper_status taper_pt2_argument_read(taper_pt2 *r, taper_pt2_argument *argument);
// A tensor, token or custom object: {"name": NAME}, in the first schema also just NAME.
TAPER_MUST_USE taper_status taper_pt2_named_read(taper_pt2 *r, taper_pt2_type type, taper_pt2_argument *argument);
TAPER_MUST_USE taper_status taper_pt2_mention_add(taper_pt2 *r, const taper_pt2_value *value, bool declared,
                                                  taper_pt2_argument *argument);
// Items of arrays: to taper_pt2_argument.
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
// A number of the schema, or its name there, to that of PyTorch's operators.
TAPER_MUST_USE taper_status taper_pt2_enum_read(taper_pt2 *r, taper_pt2_enum kind, int *number);

// ---- pt2_graph.c, pt2_signature.c, pt2_tree.c, pt2_weights.c

TAPER_MUST_USE taper_status taper_pt2_graph_read(taper_pt2 *r, taper_pt2_graph *graph);
// The value of "signature".
TAPER_MUST_USE taper_status taper_pt2_signature_read(taper_pt2 *r);
// When program and weights are read: what each input and output is.
TAPER_MUST_USE taper_status taper_pt2_signature_finish(taper_pt2 *r);
TAPER_MUST_USE taper_status taper_pt2_tree_read(taper_pt2 *r, const char *what, const char *text, size_t length,
                                                taper_pt2_tree *tree);
// The weights of the archive, for the program of that name (NULL: the legacy layout).
TAPER_MUST_USE taper_status taper_pt2_weights_read(taper_pt2 *r, const char *name, size_t length);
// NULL: there is none.
const taper_pt2_weight *taper_pt2_weight_find(const taper_pt2_program *program, const char *name);

#endif
