list(APPEND TAPER_SOURCES
    src/base/arena.c
    src/base/arguments.c
    src/base/budget.c
    src/base/hash.c
    src/base/inline.c
    src/base/json.c
    src/base/memory.c
    src/base/name_map.c
    src/base/pointer_map.c
    src/base/sha256.c
    src/base/status.c
    src/base/text.c
)
if(TAPER_WITH_ZLIB)
    list(APPEND TAPER_SOURCES src/base/inflate_zlib.c)
else()
    list(APPEND TAPER_SOURCES src/base/inflate.c)
endif()
