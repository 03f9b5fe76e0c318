if(TAPER_WITH_NNAPI)
    list(APPEND TAPER_SOURCES
        src/backends/nnapi/claim.c
        src/backends/nnapi/network.c
        src/backends/nnapi/serialize.c
        src/backends/nnapi/translate_nodes.c
        src/backends/nnapi/translate_arguments.c
        src/backends/nnapi/translate_images.c
        src/backends/nnapi/translate_layers.c
        src/backends/nnapi/translate_moves.c
        src/backends/nnapi/translate_numbers.c
        src/backends/nnapi/translate_operands.c
    )
endif()
