list(APPEND TAPER_SOURCES
    src/platform/cores.c
    src/platform/cpu.c
    src/platform/crc32.c
    src/platform/isa.c
    src/platform/kept_files.c
    src/platform/lapack.c
    src/platform/posix.c
    src/platform/threads.c
)
if(TAPER_WITH_LAPACK OR ((TAPER_WITH_NNAPI OR TAPER_WITH_VULKAN) AND TAPER_WITH_DEVICES))
    list(APPEND TAPER_SOURCES src/platform/dynamic_library.c)
endif()
if(TAPER_WITH_NNAPI AND TAPER_WITH_DEVICES)
    list(APPEND TAPER_SOURCES src/platform/shared_memory.c)
endif()
