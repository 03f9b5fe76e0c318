if(TAPER_WITH_NNAPI)
    list(APPEND TAPER_SOURCES
        src/backends/nnapi/network.c
        src/backends/nnapi/network_sizes.c
        src/backends/nnapi/nnapi_options.c
        src/backends/nnapi/serialize.c
        src/backends/nnapi/translate_nodes.c
        src/backends/nnapi/translate_arguments.c
        src/backends/nnapi/translate_images.c
        src/backends/nnapi/translate_layers.c
        src/backends/nnapi/translate_moves.c
        src/backends/nnapi/translate_numbers.c
        src/backends/nnapi/translate_operands.c
        src/backends/nnapi/translate_quantized.c
    )
endif()
if(TAPER_WITH_DRAFTS OR TAPER_BUILD_TOOLS) # the program `taper` reads the settings of a conversion in every build
    list(APPEND TAPER_SOURCES src/backends/nnapi/convert/convert_options.c)
endif()
if(TAPER_WITH_NNAPI AND TAPER_WITH_DRAFTS)
    list(APPEND TAPER_SOURCES
        src/backends/nnapi/convert/convert_draft.c
        src/backends/nnapi/convert/convert_inputs.c
        src/backends/nnapi/convert/convert_module.c
        src/backends/nnapi/convert/script_nodes.c
        src/backends/nnapi/convert/script_sizes.c
    )
endif()
if(TAPER_WITH_NNAPI AND TAPER_WITH_DEVICES)
    list(APPEND TAPER_SOURCES
        src/backends/nnapi/compilation.c
        src/backends/nnapi/driver.c
        src/backends/nnapi/driver_memory.c
        src/backends/nnapi/execution.c
        src/backends/nnapi/image_orders.c
        src/backends/nnapi/nnapi_backend.c
        src/backends/nnapi/nnapi_recording.c
        src/backends/nnapi/operation_names.c
    )
endif()
