list(APPEND TAPER_SOURCES
    src/compiler/check_ranks.c
    src/compiler/compiler.c
    src/compiler/constant_lists.c
    src/compiler/conv1d_to_conv2d.c
    src/compiler/copy_to_host.c
    src/compiler/cse.c
    src/compiler/dead_code.c
    src/compiler/emit_bytecode.c
    src/compiler/dissolve_containers.c
    src/compiler/expanded_heads.c
    src/compiler/facts.c
    src/compiler/fold_batch_norm.c
    src/compiler/fold_constants.c
    src/compiler/fold_tensors.c
    src/compiler/freeze.c
    src/compiler/fuse_add_relu.c
    src/compiler/fuse_clamp.c
    src/compiler/hoist_packed.c
    src/compiler/known_devices.c
    src/compiler/known_ranks.c
    src/compiler/layer.c
    src/compiler/pass.c
    src/compiler/peephole.c
    src/compiler/peephole_tools.c
    src/compiler/narrow_weights.c
    src/compiler/peephole_containers.c
    src/compiler/peephole_numbers.c
    src/compiler/peephole_tensors.c
    src/compiler/prepack.c
    src/compiler/prepack_object.c
    src/compiler/prepack_recurrent.c
    src/compiler/prune_attributes.c
    src/compiler/recognize_linear.c
    src/compiler/remove_dropout.c
    src/compiler/remove_mutation.c
    src/compiler/segments.c
    src/compiler/signed_products.c
    src/compiler/unroll.c
    src/compiler/written_storages.c
)
if(TAPER_WITH_PASSES) # recompose needs these files of the quantizer too, in builds without drafts
    list(APPEND TAPER_SOURCES
        src/compiler/quantize_steps.c
        src/compiler/quantize_weights.c
        src/compiler/recompose.c
        src/compiler/recompose_numbers.c
        src/compiler/recompose_steps.c
        src/compiler/recompose_values.c
        src/compiler/recompose_weights.c
    )
endif()
if(TAPER_DIFFERENTIATES)
    list(APPEND TAPER_SOURCES
        src/compiler/differentiate.c
        src/compiler/differentiate_facts.c
        src/compiler/differentiate_formulas.c
        src/compiler/differentiate_nodes.c
        src/compiler/differentiate_paths.c
        src/compiler/differentiate_writes.c
    )
endif()
if(TAPER_WITH_DRAFTS)
    list(APPEND TAPER_SOURCES
        src/compiler/name_layers.c
        src/compiler/observer.c
        src/compiler/observer_histogram.c
        src/compiler/quantization.c
        src/compiler/quantize_equalize.c
        src/compiler/quantize_functional.c
        src/compiler/quantize_plan.c
        src/compiler/quantize_recurrent.c
        src/compiler/quantize_rewrite.c
        src/compiler/unpack.c
    )
endif()
if(TAPER_WITH_DEVICES)
    list(APPEND TAPER_SOURCES src/compiler/learn_types.c)
endif()
if(TAPER_CONVERTS) # converters need specialize.c
    list(APPEND TAPER_SOURCES src/compiler/specialize.c)
endif()
