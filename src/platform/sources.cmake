list(APPEND TAPER_SOURCES
    src/platform/background.c
    src/platform/crc32.c
    src/platform/isa.c
    src/platform/lapack.c
    src/platform/threads.c
)
set(needs_libraries OFF)
if(TAPER_WITH_LAPACK OR ((TAPER_WITH_NNAPI OR TAPER_WITH_VULKAN) AND TAPER_WITH_DEVICES))
    set(needs_libraries ON)
endif()
if(WIN32)
    list(APPEND TAPER_SOURCES
        src/platform/windows_files.c
        src/platform/windows_cpu.c
        src/platform/windows_kept_files.c
    )
    if(needs_libraries)
        list(APPEND TAPER_SOURCES src/platform/windows_library.c)
    endif()
else()
    list(APPEND TAPER_SOURCES
        src/platform/cores.c
        src/platform/cpu.c
        src/platform/kept_files.c
        src/platform/posix.c
    )
    if(needs_libraries)
        list(APPEND TAPER_SOURCES src/platform/dynamic_library.c)
    endif()
endif()
if(TAPER_WITH_NNAPI AND TAPER_WITH_DEVICES)
    list(APPEND TAPER_SOURCES src/platform/shared_memory.c)
endif()
