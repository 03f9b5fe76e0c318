list(APPEND TAPER_SOURCES
    src/base/budget.c
    src/base/memory.c
    src/base/status.c
    src/base/text.c
)
