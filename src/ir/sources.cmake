list(APPEND TAPER_SOURCES
    src/ir/clone.c
    src/ir/dict.c
    src/ir/graph.c
    src/ir/graph_print.c
    src/ir/graph_verify.c
    src/ir/heap.c
    src/ir/liveness.c
    src/ir/scaled_storage.c
    src/ir/storage.c
    src/ir/tensor.c
    src/ir/tensor_copy.c
    src/ir/type.c
    src/ir/type_text.c
    src/ir/value.c
    src/ir/value_type.c
)
