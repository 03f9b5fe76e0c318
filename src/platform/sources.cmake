list(APPEND TAPER_SOURCES
    src/platform/cpu.c
    src/platform/crc32.c
    src/platform/lapack.c
    src/platform/pool_own.c
    src/platform/posix.c
    src/platform/threads.c
)
