list(APPEND TAPER_SOURCES
    src/base/memory.c
    src/base/status.c
    src/base/text.c
)
