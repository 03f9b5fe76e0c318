# The GPU backend. The build compiles the shaders with glslc. If spirv-opt is installed, it unrolls loops that weak
# drivers do not unroll. spirv-cross translates the shaders to Metal's language. Then the build deflates the shaders and
# writes them as tables of C.
if((TAPER_WITH_VULKAN OR TAPER_WITH_METAL) AND TAPER_WITH_DEVICES)
    set(TAPER_GPU ${PROJECT_SOURCE_DIR}/src/backends/gpu)
    find_program(TAPER_SPIRV_OPT spirv-opt DOC "SPIR-V's optimizer")
    set(TAPER_GPU_INCLUDED common.glsl winograd.glsl) # files that the shaders include; gpu_kernels.inc names the shaders
    list(TRANSFORM TAPER_GPU_INCLUDED PREPEND ${TAPER_GPU}/shaders/)
    file(STRINGS ${TAPER_GPU}/gpu_kernels.inc rows REGEX "^KERNEL")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TAPER_GPU}/gpu_kernels.inc)
    set(TAPER_GPU_VULKAN)
    set(TAPER_GPU_METAL)
    set(TAPER_GPU_BUILT_VULKAN)
    set(TAPER_GPU_BUILT_METAL)
    file(MAKE_DIRECTORY ${TAPER_GENERATED}/shaders ${TAPER_GENERATED}/backends/gpu)
    foreach(row ${rows})
        string(REGEX MATCH "^KERNEL\\(([A-Z0-9_]+), ([a-z_]+), ?(.*)\\)$" matched "${row}")
        set(id ${CMAKE_MATCH_1})
        set(source ${TAPER_GPU}/shaders/${CMAKE_MATCH_2}.comp)
        separate_arguments(defines UNIX_COMMAND "${CMAKE_MATCH_3}")
        set(environment vulkan1.0)
        set(unroll --loop-unroll --scalar-replacement=200 --ssa-rewrite)
        if(defines MATCHES "-DLANES") # not unrolled here, because drivers with subgroups unroll loops, and the library would be larger
            set(environment vulkan1.1)
            set(unroll --eliminate-dead-functions)
        endif()
        foreach(texels "" "-DTEXELS")
            if((texels AND defines MATCHES "-DIN_[2_]*SCALARS") OR (NOT texels AND defines MATCHES "-DLANES"))
                list(APPEND TAPER_GPU_VULKAN "-")
                continue()
            endif()
            set(compiled ${TAPER_GENERATED}/shaders/${id}${texels}.spv)
            set(optimize)
            if(TAPER_SPIRV_OPT)
                set(optimize COMMAND ${TAPER_SPIRV_OPT} --strip-debug --ssa-rewrite ${unroll} --simplify-instructions
                    --eliminate-dead-code-aggressive --redundancy-elimination --cfg-cleanup --compact-ids ${compiled} -o ${compiled})
            endif()
            add_custom_command(
                OUTPUT ${compiled}
                COMMAND ${TAPER_GLSLC} --target-env=${environment} ${defines} ${texels} -o ${compiled} ${source}
                ${optimize}
                DEPENDS ${source} ${TAPER_GPU_INCLUDED}
                COMMENT "Compiling shader ${id}${texels}" VERBATIM)
            list(APPEND TAPER_GPU_VULKAN ${compiled})
            list(APPEND TAPER_GPU_BUILT_VULKAN ${compiled})
        endforeach()
        if(defines MATCHES "-DLANES")
            list(APPEND TAPER_GPU_METAL - -)
            continue()
        endif()
        # The version of Metal's language is that of iOS 12 and macOS 10.14. Each buffer gets the number of its binding.
        set(compiled ${TAPER_GENERATED}/shaders/${id})
        add_custom_command(
            OUTPUT ${compiled}.metal
            COMMAND ${TAPER_SPIRV_CROSS} --msl --msl-version 20100 --msl-decoration-binding --output ${compiled}.metal ${compiled}.spv
            DEPENDS ${compiled}.spv
            COMMENT "Making shader ${id} for Metal" VERBATIM)
        list(APPEND TAPER_GPU_METAL ${compiled}.metal -) # Metal needs no variant for texel buffers
        list(APPEND TAPER_GPU_BUILT_METAL ${compiled}.metal)
    endforeach()
    add_custom_command(
        OUTPUT ${TAPER_GENERATED}/make_shaders
        COMMAND ${TAPER_HOST_CC} -O1 -o ${TAPER_GENERATED}/make_shaders ${TAPER_GPU}/shaders/make_shaders.c -lz
        DEPENDS ${TAPER_GPU}/shaders/make_shaders.c
        COMMENT "Compiling make_shaders for this machine" VERBATIM)
    foreach(interface vulkan metal)
        string(TOUPPER ${interface} upper)
        add_custom_command(
            OUTPUT ${TAPER_GENERATED}/backends/gpu/${interface}_shaders.inc
            COMMAND ${TAPER_GENERATED}/make_shaders ${TAPER_GENERATED}/backends/gpu/${interface}_shaders.inc
                    taper_gpu_${interface}_shaders ${TAPER_GPU_${upper}}
            DEPENDS ${TAPER_GENERATED}/make_shaders ${TAPER_GPU_BUILT_${upper}} ${TAPER_GPU}/gpu_kernels.inc
            COMMENT "Packing shaders for ${interface}" VERBATIM)
    endforeach()
    list(APPEND TAPER_SOURCES
        src/backends/gpu/gpu_arena.c
        src/backends/gpu/gpu_backend.c
        src/backends/gpu/gpu_chain.c
        src/backends/gpu/gpu_check.c
        src/backends/gpu/gpu_emit.c
        src/backends/gpu/gpu_estimate.c
        src/backends/gpu/gpu_held.c
        src/backends/gpu/gpu_kept.c
        src/backends/gpu/gpu_kernels.c
        src/backends/gpu/gpu_log.c
        src/backends/gpu/gpu_maker.c
        src/backends/gpu/gpu_moves.c
        src/backends/gpu/gpu_options.c
        src/backends/gpu/gpu_peak.c
        src/backends/gpu/gpu_program.c
        src/backends/gpu/gpu_quirks.c
        src/backends/gpu/gpu_recording.c
        src/backends/gpu/gpu_running.c
        src/backends/gpu/gpu_state.c
        src/backends/gpu/gpu_submit.c
        src/backends/gpu/gpu_trouble.c
        src/backends/gpu/gpu_view.c
        src/backends/gpu/gpu_weights.c
        src/backends/gpu/layer_weights.c
        src/backends/gpu/product.c
        src/backends/gpu/rules_attention.c
        src/backends/gpu/rules_gather.c
        src/backends/gpu/rules_images.c
        src/backends/gpu/rules_conv.c
        src/backends/gpu/rules_layout.c
        src/backends/gpu/rules_linear.c
        src/backends/gpu/rules_joins.c
        src/backends/gpu/rules_moves.c
        src/backends/gpu/rules_pointwise.c
        src/backends/gpu/rules_quantized.c
        src/backends/gpu/rules_recurrent.c
        src/backends/gpu/rules_rows.c
        src/backends/gpu/rules_tables.c
        src/backends/gpu/rules_winograd.c
    )
    if(TAPER_WITH_VULKAN)
        list(APPEND TAPER_SOURCES
            ${TAPER_GENERATED}/backends/gpu/vulkan_shaders.inc
            src/backends/gpu/vulkan/vulkan.c
            src/backends/gpu/vulkan/vulkan_backend.c
            src/backends/gpu/vulkan/vulkan_copy.c
            src/backends/gpu/vulkan/vulkan_loader.c
            src/backends/gpu/vulkan/vulkan_memory.c
            src/backends/gpu/vulkan/spirv.c
            src/backends/gpu/vulkan/spirv_cut.c
            src/backends/gpu/vulkan/vulkan_pipeline.c
            src/backends/gpu/vulkan/vulkan_record.c
            src/backends/gpu/vulkan/vulkan_shaders.c
        )
    endif()
    if(TAPER_WITH_METAL)
        list(APPEND TAPER_SOURCES
            ${TAPER_GENERATED}/backends/gpu/metal_shaders.inc
            src/backends/gpu/metal/metal.m
            src/backends/gpu/metal/metal_backend.c
            src/backends/gpu/metal/metal_record.m
            src/backends/gpu/metal/metal_shaders.c
        )
        set_source_files_properties(src/backends/gpu/metal/metal.m src/backends/gpu/metal/metal_record.m PROPERTIES
            LANGUAGE C COMPILE_OPTIONS "-xobjective-c;-fno-objc-arc")
    endif()
    if(TAPER_SPIRV_CROSS) # for tests on systems without Metal
        add_custom_target(taper_metal_shaders DEPENDS ${TAPER_GENERATED}/backends/gpu/metal_shaders.inc)
    endif()
endif()
