list(APPEND TAPER_SOURCES
    src/format/blob.c
    src/format/lite_archive.c
    src/format/lite_bytecode.c
    src/format/lite_debug.c
    src/format/lite_detect.c
    src/format/lite_flatbuffer.c
    src/format/lite_module.c
    src/format/pickle.c
    src/format/pickle_globals.c
    src/format/pickle_tensors.c
    src/format/sort.c
    src/format/zip.c
)
