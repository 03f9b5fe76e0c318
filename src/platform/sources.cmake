list(APPEND TAPER_SOURCES
    src/platform/cores.c
    src/platform/cpu.c
    src/platform/crc32.c
    src/platform/isa.c
    src/platform/lapack.c
    src/platform/posix.c
    src/platform/threads.c
)
