list(APPEND TAPER_SOURCES src/backends/common/preparers.c)
if(TAPER_WITH_NNAPI OR TAPER_WITH_DEVICES) # for backends other than the CPU, and for files that are written for them
    list(APPEND TAPER_SOURCES
        src/backends/common/claim.c
        src/backends/common/node_reader.c
        src/backends/common/segment_log.c
        src/backends/common/segment_values.c
        src/backends/common/shape_nodes.c
    )
endif()
