if(TAPER_WITH_NNAPI)
    list(APPEND TAPER_SOURCES
        src/backends/nnapi/network.c
    )
endif()
