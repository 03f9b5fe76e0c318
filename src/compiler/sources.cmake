list(APPEND TAPER_SOURCES
    src/compiler/compiler.c
    src/compiler/constant_lists.c
    src/compiler/cse.c
    src/compiler/dead_code.c
    src/compiler/facts.c
    src/compiler/fold_constants.c
    src/compiler/freeze.c
    src/compiler/fuse_epilogue.c
    src/compiler/pass.c
    src/compiler/known_ranks.c
    src/compiler/peephole.c
    src/compiler/peephole_containers.c
    src/compiler/peephole_tensors.c
    src/compiler/remove_dropout.c
    src/compiler/remove_mutation.c
    src/compiler/unroll.c
)
