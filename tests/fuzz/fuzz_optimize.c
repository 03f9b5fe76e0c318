// SPDX-License-Identifier: BSD-2-Clause
// Reads any bytes as a model, optimizes, saves and loads it: the saved file must be valid and give the same results as
// the model. The first byte selects the backend, the format and omitted parts. The rest is a file, or the sources of a
// file with a weight and a number, or the record that maps positions in its sources. Repeats everything with a failing
// allocation.
#include <stdio.h>

#include <taper/taper_compile.h>

#include "tests/api/load_text.h"
#include "tests/cpu_mask.h"
#include "tests/fuzz/failing_allocator.h"
#include "tests/fuzz/run_and_compare.h"
#include "tests/unit/archive_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PLACES = 400 }; // approximate number of allocations for a small model

typedef struct choice {
    taper_optimize_options optimize;
    taper_nnapi_conversion conversion;
    taper_save_options save;
    bool optimizes, exact, bundles, nnapi;
} choice;

static choice choose(uint8_t byte)
{
    static const taper_device_kind devices[] = {TAPER_DEVICE_CPU, TAPER_DEVICE_VULKAN, TAPER_DEVICE_METAL};
    // Passes that change the order in which numbers are added.
    static const char *const inexact[] = {"fold_batch_norm", "prepack",          "fuse_clamp",
                                          "fuse_add_relu",   "recognize_linear", "conv1d_to_conv2d"};
    static const char *const nnapi[] = {"layout=nhwc,level=30", "layout=pytorch",
                                        "layout=pytorch_nhwc,relax_f32_to_f16=1",
                                        "layout=nhwc,level=27,preference=low_power", "level=31,flexible=sizes"};
    choice c = {.nnapi = byte % 8 == 7, .bundles = byte / 8 % 4 == 3};
    c.optimizes = byte % 4 != 3 || c.nnapi;
    c.exact = !c.nnapi && (byte % 4 == 3 || byte / 4 % 2 == 1);
    c.optimize = (taper_optimize_options){.struct_size = sizeof c.optimize,
                                          .device = c.nnapi       ? TAPER_DEVICE_NNAPI
                                                    : c.optimizes ? devices[byte % 4]
                                                                  : TAPER_DEVICE_CPU,
                                          .disabled_passes = inexact,
                                          .disabled_pass_count = c.exact ? sizeof inexact / sizeof *inexact : 0};
    c.conversion.struct_size = sizeof c.conversion;
    need(taper_nnapi_conversion_parse(c.nnapi ? nnapi[byte / 8 % 5] : NULL, &c.conversion, NULL));
    c.save = (taper_save_options){.struct_size = sizeof c.save, .flatbuffer = byte / 32 % 2, .bytecode = 0};
    if (c.save.flatbuffer == 0) {
        c.save.bytecode = 5 + byte / 64;
        c.save.debug_info = byte / 16 % 2;
    }
    return c;
}

// ---- comparison

static void compare(taper_context *context, taper_model *before, taper_model *after, const choice *c,
                    taper_error *error)
{
    const bool exact = c->exact;
    for (unsigned round = 0; round < (c->nnapi ? 1U : MADE_ROUNDS); round++) {
        taper_value *wanted, *again, *got;
        // If the original's run ends in an exception or exceeds its budgets, the optimized model may behave differently
        // from it, because passes remove unused operators.
        if (run(context, before, before, round, &wanted, error) != TAPER_OK) {
            continue;
        }
        if (run(context, before, before, round, &again, error) == TAPER_OK) {
            const bool fixed = same(wanted, again, true, 0); // false if the model uses random numbers
            const taper_status status = run(context, before, after, round, &got, error);
            if (status != TAPER_OK && status != TAPER_ERROR_RESOURCE && status != TAPER_ERROR_CANCELLED) {
                (void)fprintf(stderr, "after: %s\n", taper_error_message(error));
                abort();
            }
            if (status == TAPER_OK && fixed && !same(wanted, got, exact, 0)) {
                (void)fprintf(stderr, "other results in round %u\n", round);
                abort();
            }
            taper_value_release(got);
        }
        taper_value_release(again);
        taper_value_release(wanted);
    }
}

// ---- rewriting

static int count_bytes(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

// Lists the operators and prints the graph, if memory is sufficient.
static void look_at(taper_draft *draft, taper_error *error)
{
    size_t count = 0, bytes_printed = 0, calls = 0;
    if (taper_draft_operators(draft, &count, error) == TAPER_OK) {
        for (size_t i = 0; i < count; i++) {
            const char *name = taper_draft_operator_name(draft, i);
            calls += name[0] != '\0' ? taper_draft_operator_calls(draft, i) : 0;
        }
        if (calls > taper_draft_node_count(draft) || calls < count) {
            abort();
        }
    }
    if (taper_draft_print(draft, NULL, count_bytes, &bytes_printed, error) == TAPER_OK && bytes_printed == 0) {
        abort();
    }
}

static void count_placed(void *user, const taper_placement *p)
{
    if (p->operator_name[0] == '\0' || (p->segment < 0) != (p->reason != NULL) || !(p->work >= 0)) {
        abort();
    }
    ++*(size_t *)user;
}

// The sample inputs are made in a context of their own, whose allocations do not fail.
static taper_status optimize(taper_draft *draft, const choice *c, taper_error *error)
{
    if (!c->nnapi) {
        return taper_draft_optimize(draft, &c->optimize, error);
    }
    const taper_context_options options = {.struct_size = sizeof options, .threads = 1, .log = say_nothing};
    taper_optimize_options with = c->optimize;
    taper_context *context;
    taper_value *inputs[MADE_MOST_INPUTS];
    size_t placed = 0;
    need(taper_context_create(&options, &context, NULL));
    with.inputs = inputs;
    with.input_count = make_inputs(context, taper_draft_model(draft), 0, inputs);
    with.nnapi = &c->conversion;
    with.report = count_placed;
    with.report_user = &placed;
    const taper_status status = taper_draft_optimize(draft, &with, error);
    release_inputs(inputs, with.input_count);
    taper_context_release(context);
    return status;
}

// Rewrites and saves a draft. *saved: the file in memory, which is freed with the draft.
static taper_status rewrite(taper_context *context, taper_draft *draft, const choice *c, void **saved, size_t *size,
                            taper_error *error)
{
    taper_status status = c->optimizes ? optimize(draft, c, error) : TAPER_OK;
    if (status == TAPER_OK && c->bundles) {
        taper_value *inputs[MADE_MOST_INPUTS];
        const size_t count = make_inputs(context, taper_draft_model(draft), 0, inputs);
        const taper_status bundled = taper_draft_bundle(draft, NULL, inputs, count, NULL);
        if (bundled == TAPER_ERROR_INTERNAL) {
            abort(); // the only allowed errors are that the model already has bundled inputs, or cannot have any
        }
        release_inputs(inputs, count);
    }
    *saved = NULL;
    if (status == TAPER_OK) {
        look_at(draft, error);
    }
    return status == TAPER_OK ? taper_draft_save_memory(draft, &c->save, saved, size, error) : status;
}

static void rewrite_and_compare(const uint8_t *data, size_t size, const choice *c, taper_error *error)
{
    const taper_context_options options = {
        .struct_size = sizeof options, .threads = 1, .log = say_nothing, .cpu_mask = test_cpu_mask()};
    const taper_load_options plain = {.struct_size = sizeof plain, .flags = TAPER_LOAD_EVALUATION},
                             compiled = {
                                 .struct_size = sizeof compiled, .compiler = taper_compiler(), .device = &on_cpu};
    taper_context *context;
    taper_model *before, *after;
    taper_draft *draft;
    void *saved;
    size_t written;
    need(taper_context_create(&options, &context, NULL));
    taper_status status = taper_draft_load_memory(context, data, size, &compiled, &draft, error);
    if (status == TAPER_OK) {
        status = rewrite(context, draft, c, &saved, &written, error);
        if (taper_error_status(error) != status && status != TAPER_OK) {
            abort(); // the function failed without a message
        }
        if (status == TAPER_OK) {
            // Passes at load time may also change the order in which numbers are added.
            const taper_load_options *again = c->exact ? &plain : &compiled;
            if (taper_model_load_memory(context, saved, written, NULL, NULL, again, &after, error) != TAPER_OK) {
                (void)fprintf(stderr, "what was written cannot be read: %s\n", taper_error_message(error));
                abort();
            }
            if (taper_model_load_memory(context, data, size, NULL, NULL, &plain, &before, error) == TAPER_OK) {
                compare(context, before, after, c, error);
                taper_model_release(before);
            }
            taper_model_release(after);
            taper_saved_free(draft, saved, written);
        }
        taper_draft_release(draft);
    }
    if (status == TAPER_ERROR_INTERNAL) {
        (void)fprintf(stderr, "%s\n", taper_error_message(error));
        abort();
    }
    taper_context_release(context);
}

static void rewrite_with_failure(const uint8_t *data, size_t size, const choice *c, taper_error *error)
{
    failing_allocator failing;
    failing_start(&failing, failing_place(data, size, MOST_PLACES));
    const taper_context_options options = {.struct_size = sizeof options,
                                           .allocator = &failing.allocator,
                                           .threads = 1,
                                           .log = say_nothing,
                                           .cpu_mask = test_cpu_mask()};
    const taper_load_options compiled = {
        .struct_size = sizeof compiled, .compiler = taper_compiler(), .device = &on_cpu};
    choice without = *c;
    without.bundles = false; // saved again without bundled inputs, because generated inputs may need too much memory
    taper_context *context;
    if (taper_context_create(&options, &context, error) == TAPER_OK) {
        taper_draft *draft;
        void *saved;
        size_t written;
        if (taper_draft_load_memory(context, data, size, &compiled, &draft, error) == TAPER_OK) {
            if (rewrite(context, draft, &without, &saved, &written, error) == TAPER_OK) {
                taper_saved_free(draft, saved, written);
            }
            taper_draft_release(draft);
        }
        taper_context_release(context);
    }
    failing_end(&failing);
}

// ---- TorchScript

static const char class_start[] = "class M(Module):\n";

// Makes a TorchScript archive. text: its sources, or NULL; record: the record of positions in the sources, or NULL.
static bytes torchscript(const uint8_t *text, const uint8_t *record, size_t size)
{
    static const char source[] = "class M(Module):\n  w : Tensor\n  n : int\n  training : bool\n"
                                 "  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                                 "    y = torch.conv2d(x, self.w, None, [1, 1], [0, 0], [1, 1], 1)\n"
                                 "    return (self).twice(torch.relu(y), )\n"
                                 "  def twice(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                                 "    return torch.mul(x, 2)\n";
    // The pickle makes an object of class M with the state {"w": a float tensor [3, 3, 1, 1] of storage 0, "n": 3,
    // "training": False}.
    static const char root[] = "\x80\x02"
                               "c__torch__\nM\n)\x81}(X\1\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storage"
                               "ctorch\nFloatStorage\nX\1\0\0\0"
                               "0X\3\0\0\0cpuK\x09tQK\0(K\3K\3K\1K\1t(K\3K\1K\1K\1t\x89"
                               "ccollections\nOrderedDict\n)RtRX\1\0\0\0nK\3X\x08\0\0\0training\x89ub.";
    static const float weights[9] = {0.5F, -0.25F, 1, 0, 2, -1, 0.125F, 0.5F, -0.5F};
    builder b = {.count = 0};
    builder_add(&b, "m/data.pkl", root, sizeof root - 1, BUILD_NO_PADDING);
    builder_add(&b, "m/version", "10", 2, BUILD_NO_PADDING);
    builder_add(&b, "m/data/0", weights, sizeof weights, 0);
    builder_add(&b, "m/constants.pkl", "\x80\x02).", 4, BUILD_NO_PADDING);
    builder_add(&b, "m/code/__torch__.py", text != NULL ? text : (const void *)source,
                text != NULL ? size : sizeof source - 1, 0);
    if (record != NULL) {
        builder_add(&b, "m/code/__torch__.py.debug_pkl", record, size, 0);
    }
    return builder_finish(&b, false, "");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    const choice c = choose(data[0]);
    const size_t length = size - 1, start = sizeof class_start - 1;
    bytes file = {.data = NULL};
    if (length > start && memcmp(data + 1, class_start, start) == 0) {
        file = torchscript(data + 1, NULL, length);
    } else if (length > 2 && data[1] == 0x80) {
        file = torchscript(NULL, data + 1, length);
    } else {
        bytes_add(&file, data + 1, length); // the model's bytes are copied to a block of their own, which is aligned
    }
    taper_error *error = taper_error_create();
    rewrite_and_compare(file.data, file.size, &c, error);
    rewrite_with_failure(file.data, file.size, &c, error);
    taper_error_destroy(error);
    bytes_free(&file);
    return 0;
}
