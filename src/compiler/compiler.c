// SPDX-License-Identifier: BSD-2-Clause
// The list of passes, and the compiler's functions for the runtime and for the public header.
#include <taper/taper_compile.h>

#include "base/charge.h"
#ifdef TAPER_WITH_DRAFTS
#include "compiler/emit_bytecode.h"
#include "compiler/quantization.h"
#endif
#include "compiler/pass.h"

typedef struct pass {
    const char *name, *summary;
    taper_pass_function run;
    unsigned stages;
    // PACKED: the pass runs only if the weights of layers are packed for a device (prepack.c). PLAIN: the pass runs
    // only if they are not packed, because the model will be quantized.
    enum { ANY, PACKED, PLAIN } layers;
} pass;

// In a build without drafts, the compiler optimizes models while they are loaded and writes no files. A build without
// passes is small and runs models that were prepared elsewhere. While loading, such a build runs only the passes whose
// results no file can store, and the passes that these passes need. The summaries of passes are only in builds with
// drafts, because they are shown to people who choose passes for a draft.
#ifdef TAPER_WITH_DRAFTS
#define SUMMARY(text) text
#else
#define SUMMARY(text) ""
#endif
#define AT_LOAD(name, summary) {#name, SUMMARY(summary), taper_pass_##name, TAPER_PASS_AT_LOAD, ANY},
#define ALWAYS(name, summary)                                                                                          \
    {#name, SUMMARY(summary), taper_pass_##name, TAPER_PASS_AT_LOAD | TAPER_PASS_IN_DRAFT, ANY},
#ifdef TAPER_WITH_DRAFTS
#define IN_DRAFT(name, summary) {#name, summary, taper_pass_##name, TAPER_PASS_IN_DRAFT, ANY},
#define PACKS(name, summary) {#name, summary, taper_pass_##name, TAPER_PASS_IN_DRAFT, PACKED},
#define UNPACKS(name, summary) {#name, summary, taper_pass_##name, TAPER_PASS_IN_DRAFT, PLAIN},
#else
#define IN_DRAFT(name, summary)
#define PACKS(name, summary)
#define UNPACKS(name, summary)
#endif
#if TAPER_DIFFERENTIATES
#define WITH_GRADIENTS(pass) pass
#else
#define WITH_GRADIENTS(pass)
#endif
#ifdef TAPER_WITH_PASSES
#define UNPREPARED(name, summary) ALWAYS(name, summary)
#define UNPREPARED_AT_LOAD(name, summary) AT_LOAD(name, summary)
#else
#define UNPREPARED(name, summary)
#define UNPREPARED_AT_LOAD(name, summary)
#endif

// All passes in the order of execution. A name may occur several times; disabling it disables all of its entries.
// clang-format off
static const pass passes[] = {
    ALWAYS(freeze, "attributes that no method sets become constants")
    ALWAYS(constant_lists, "lists of constants that are never changed become constants")
    ALWAYS(fold_constants, "operators on constants are computed, branches on constants taken")
    ALWAYS(dead_code, "unused nodes are removed") // early, so that later passes read fewer nodes
    UNPREPARED_AT_LOAD(dissolve_containers, "lists and dicts that only carry values between layers go")
    // freeze runs again, because branches for training are removed now, and the attributes they wrote became constant.
    IN_DRAFT(freeze, "attributes that no method sets become constants")
    ALWAYS(constant_lists, "lists of constants that are never changed become constants")
    UNPREPARED(known_ranks, "numbers of dimensions that were checked before are known")
    UNPREPARED_AT_LOAD(known_devices, "tensors are known to be on the CPU")
    ALWAYS(fold_constants, "operators on constants are computed, branches on constants taken")
    ALWAYS(remove_dropout, "dropout outside training is nothing")
    UNPREPARED(unroll, "short loops of a constant number of trips become their trips")
    WITH_GRADIENTS(AT_LOAD(dissolve_containers, "lists and dicts that only carry values between layers go"))
    WITH_GRADIENTS(AT_LOAD(differentiate, "gradients of code without branches are nodes"))
    WITH_GRADIENTS(AT_LOAD(dissolve_containers, "lists and dicts that only carry values between layers go"))
    IN_DRAFT(remove_mutation, "in-place operators without other users become functional")
    UNPREPARED(constant_lists, "lists of constants that are never changed become constants")
    UNPREPARED(recompose, "operators between dequantize and quantize compute with integers")
    UNPREPARED(peephole, "results that are at hand already are taken")
    UNPREPARED(fold_tensors, "small tensors that follow from constants are computed")
    UNPREPARED(cse, "what was computed before is not computed again")
    ALWAYS(dead_code, "unused nodes are removed")
    UNPREPARED(recognize_linear, "products with constant matrices are linear layers")
    UNPREPARED_AT_LOAD(narrow_weights, "linear layers keep weights of 8 or 4 bits as they are")
    UNPREPARED_AT_LOAD(signed_products, "products of bytes that were raised by 128 are products of signed bytes")
    UNPREPARED_AT_LOAD(expanded_heads, "attention reads heads of keys and values that several queries share once")
    UNPACKS(unpack, "packed layers that are to be quantized are plain again")
    IN_DRAFT(name_layers, "layers that may be quantized get the names of their modules")
    IN_DRAFT(fold_batch_norm, "batch norm goes into the weights before or behind it")
    UNPREPARED(conv1d_to_conv2d, "convolutions over one dimension are done over two")
    PACKS(prepack, "layers take their weights as the backend's objects")
    // known_ranks runs here because ranks also follow from convolutions with packed weights.
    IN_DRAFT(known_ranks, "numbers of dimensions that were checked before are known")
    IN_DRAFT(fold_constants, "operators on constants are computed, branches on constants taken")
    IN_DRAFT(dead_code, "unused nodes are removed")
    PACKS(fuse_clamp, "activations become bounds of packed weights")
    PACKS(fuse_add_relu, "sums and a following relu become one operator")
    // known_ranks runs again, because removed branches no longer hide ranks.
    UNPREPARED_AT_LOAD(known_ranks, "numbers of dimensions that were checked before are known")
    UNPREPARED_AT_LOAD(fold_constants, "operators on constants are computed, branches on constants taken")
    UNPREPARED_AT_LOAD(check_ranks, "checks of numbers of dimensions are operators")
    UNPREPARED(dead_code, "unused nodes are removed")
    IN_DRAFT(copy_to_host, "tensors that are returned come back from the GPU")
    PACKS(hoist_packed, "packed weights for GPUs are attributes")
    AT_LOAD(segments, "backends take parts of the graph, such as layers and what follows")
};
// clang-format on

enum { PASSES = sizeof passes / sizeof passes[0], STEPS_A_NODE = 8 };

static bool is_disabled(const taper_compilation *compilation, const char *name)
{
    for (size_t i = 0; i < compilation->disabled_count; i++) {
        if (strcmp(compilation->disabled[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// The passes for which PyTorch has an optimization with the same effect, and PyTorch's name of it
// (MobileOptimizerType). Disabling the name disables the pass.
static const char *const pytorch_names[][2] = {
    {"remove_dropout", "REMOVE_DROPOUT"},
#ifdef TAPER_WITH_DRAFTS
    {"fold_batch_norm", "CONV_BN_FUSION"},        {"prepack", "INSERT_FOLD_PREPACK_OPS"},
    {"fuse_add_relu", "FUSE_ADD_RELU"},           {"conv1d_to_conv2d", "CONV_1D_TO_2D"},
    {"hoist_packed", "HOIST_CONV_PACKED_PARAMS"},
#endif
};

static bool is_left_out(const taper_compilation *compilation, const char *name)
{
    if (is_disabled(compilation, name)) {
        return true;
    }
    for (size_t i = 0; i < sizeof pytorch_names / sizeof pytorch_names[0]; i++) {
        if (strcmp(pytorch_names[i][0], name) == 0 && is_disabled(compilation, pytorch_names[i][1])) {
            return true;
        }
    }
    return false;
}

#ifdef TAPER_WITH_GRADIENTS
// Returns true if runs of the graphs record for gradients, and the pass makes operators without derivatives or computes
// with weights.
static bool hides_gradients(const taper_compilation *compilation, const pass *p)
{
    static const taper_pass_function hiding[] = {
#ifdef TAPER_WITH_PASSES
        taper_pass_narrow_weights, taper_pass_signed_products, taper_pass_expanded_heads, taper_pass_recompose,
        taper_pass_conv1d_to_conv2d,
#ifdef TAPER_WITH_DRAFTS
        taper_pass_prepack, taper_pass_fuse_clamp, taper_pass_fuse_add_relu, taper_pass_hoist_packed,
#endif
        taper_pass_cse, // a request for a gradient frees what was recorded for the requested value, so two equal values
                        // must remain two
#endif
        taper_pass_segments};
    for (size_t i = 0; compilation->takes_gradients && i < sizeof hiding / sizeof *hiding; i++) {
        if (p->run == hiding[i]) {
            return true;
        }
    }
    return false;
}
#else
#define hides_gradients(compilation, p) false
#endif

static void forget(taper_compilation *compilation)
{
    taper_pass_freeze_end(compilation);
    taper_written_storages_free(compilation);
}

static taper_status run_passes(taper_compilation *compilation, unsigned stage)
{
    const bool packs = compilation->preparer != NULL && compilation->preparer->packer != TAPER_PACKER_NONE;
    for (size_t p = 0; p < PASSES; p++) {
        if ((passes[p].stages & stage) == 0 || is_left_out(compilation, passes[p].name) ||
            passes[p].layers == (packs ? PLAIN : PACKED) || hides_gradients(compilation, &passes[p])) {
            continue;
        }
        if (passes[p].run == taper_pass_freeze) {
            forget(compilation); // the facts about all graphs are outdated, because the graphs have changed
        }
        for (size_t g = 0; g < compilation->count; g++) {
            taper_graph *graph = compilation->graphs[g];
            if (graph == NULL) {
                continue;
            }
            TAPER_TRY(taper_charge(compilation->allocator, STEPS_A_NODE * (uint64_t)graph->node_count,
                                   // The pass and the verifier both read all nodes, and these steps count against the
                                   // limit on the work of loading a file.
                                   compilation->error));
            TAPER_TRY(passes[p].run(compilation, graph));
            const taper_status status = taper_graph_verify(graph, compilation->error);
            if (status != TAPER_OK) {
                taper_error_prefix(compilation->error, "after pass %s: ", passes[p].name);
                return status;
            }
        }
    }
    return TAPER_OK;
}

static taper_status optimize(taper_compilation *compilation)
{
    const taper_status status = run_passes(compilation, TAPER_PASS_AT_LOAD);
    forget(compilation);
    return status;
}

#ifdef TAPER_WITH_DRAFTS
static taper_status prepare(taper_compilation *compilation, taper_val *root)
{
    *root = taper_val_none();
    compilation->portable = true;
    taper_status status = run_passes(compilation, TAPER_PASS_IN_DRAFT);
    if (status == TAPER_OK && compilation->converter != NULL) {
        status = compilation->converter->convert(compilation, compilation->options);
    }
    forget(compilation);
    TAPER_TRY(status);
    return compilation->preparer != NULL ? taper_prune_attributes(compilation, root) : TAPER_OK;
}

static taper_status emit(taper_compilation *compilation, taper_graph *graph, int version, taper_arena *arena,
                         taper_module_function *function)
{
    const taper_emit_target target = {.allocator = compilation->allocator,
                                      .arena = arena,
                                      .heap = compilation->module->heap,
                                      .version = version,
                                      .debug = taper_module_has_bytecode(compilation->module),
                                      .callstacks = compilation->callstacks};
    return taper_emit_bytecode(&target, graph, function, compilation->error);
}

static const struct taper_compiler compiler = {.optimize = optimize,
                                               .prepare = prepare,
                                               .emit = emit,
#if TAPER_CONVERTS
                                               .specialize = taper_specialize,
                                               .segments = taper_pass_segments,
#endif
                                               .quantization = &taper_quantization_functions};
#else
static const struct taper_compiler compiler = {.optimize = optimize};
#endif

const struct taper_compiler *taper_compiler(void)
{
    return &compiler;
}

taper_pass_function taper_pass_find(const char *name)
{
    for (size_t p = 0; p < PASSES; p++) {
        if (strcmp(passes[p].name, name) == 0) {
            return passes[p].run;
        }
    }
    return NULL;
}

size_t taper_compiler_pass_count(void)
{
    return PASSES;
}

const char *taper_compiler_pass_name(size_t index)
{
    return index < PASSES ? passes[index].name : NULL;
}

const char *taper_compiler_pass_summary(size_t index)
{
    return index < PASSES ? passes[index].summary : NULL;
}

int taper_compiler_pass_stages(size_t index)
{
    return index < PASSES ? (int)passes[index].stages : 0;
}

int taper_compiler_has_pass(const char *name, size_t length)
{
    if (name == NULL) {
        return 0;
    }
    for (size_t i = 0; i < PASSES; i++) {
        if (strlen(passes[i].name) == length && memcmp(passes[i].name, name, length) == 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof pytorch_names / sizeof pytorch_names[0]; i++) {
        if (strlen(pytorch_names[i][1]) == length && memcmp(pytorch_names[i][1], name, length) == 0) {
            return 1;
        }
    }
    return 0;
}
