# SPDX-License-Identifier: BSD-2-Clause
# Release builds: most of the library is called rarely or moves few bytes, so it is built for size. The files below hold the
# loops over elements; the CPU kernels set their own level (kernels.cmake).
set(TAPER_HOT_SOURCES
    src/ir/tensor_copy.c
    src/ops/nn/attention_rows.c
    src/ops/math/binary.c
    src/ops/tensor/cat.c
    src/ops/nn/conv_run.c
    src/ops/engine/elementwise_convert.c
    src/ops/signal/fft_plan.c
    src/ops/signal/istft.c
    src/ops/linalg/linalg_dense.c
    src/ops/engine/elementwise_vector.c
    src/ops/engine/matmul_gemm.c
    src/ops/engine/matmul_packed.c
    src/ops/nn/norm.c
    src/ops/nn/norm_layer.c
    src/ops/nn/pool_avg.c
    src/ops/nn/pool_max.c
    src/ops/quantized/quantized_linear_packed.c
    src/ops/quantized/quantized_table.c
    src/ops/tensor/reduce_ops.c
    src/ops/nn/resize_bilinear.c
    src/ops/nn/resize_bilinear_u8.c
    src/ops/nn/resize_loops.c
    src/ops/quantized/quantized_decomposed.c
    src/ops/quantized/quantized_decomposed_embedding.c
    src/ops/engine/rows.c
    src/ops/nn/softmax.c
    src/ops/signal/stft.c
    src/ops/engine/tiles.c
    src/ops/math/unary.c
    src/ops/engine/view_move.c
    src/ops/engine/view_transpose.c
)

if(TAPER_PROFILE STREQUAL "one") # in the profile one all convolutions, pools and products run in kernels, so these files need no speed
    list(REMOVE_ITEM TAPER_HOT_SOURCES src/ops/nn/conv_run.c src/ops/nn/pool_avg.c src/ops/engine/matmul_gemm.c src/ops/engine/matmul_packed.c)
endif()

# Loops that the compiler turns into vectors of the baseline instruction set.
set(TAPER_VECTOR_SOURCES
    src/base/hash.c
    src/backends/cpu/quantized_conv_cpu.c
    src/ops/quantized/quantized_pack.c
    src/compiler/fold_batch_norm.c
    src/ir/scaled_storage.c
    src/platform/crc32.c
    src/ops/quantized/quantized_sums.c
    src/ops/vision/vision_nms.c
)

# Loops that are vectorized only in builds for speed. Builds for size compile these files like all other files, for
# size.
set(TAPER_FAST_SOURCES
    src/ops/linalg/linalg_dense.c
    src/backends/cpu/quantized_decomposed_cpu.c
    src/ops/math/binary.c
    src/ops/math/ternary.c
    src/ops/math/unary.c
    src/ops/engine/elementwise_convert.c
    src/ops/engine/index_into.c
    src/ops/engine/index_keys.c
    src/ops/engine/matmul_gemm.c
    src/ops/engine/reduce.c
    src/ops/engine/reduce_vector.c
    src/ops/engine/sort_order.c
    src/ops/engine/view_transpose.c
    src/ops/nn/affine_grid.c
    src/ops/nn/conv_fold.c
    src/ops/nn/conv_run.c
    src/ops/nn/grid_sample.c
    src/ops/nn/index_bag.c
    src/ops/nn/linear_distance.c
    src/ops/nn/loss.c
    src/ops/nn/pad.c
    src/ops/nn/pool_max.c
    src/ops/nn/pool_planes.c
    src/ops/nn/resize_loops.c
    src/ops/quantized/fake_quantize.c
    src/ops/quantized/quantized_bytes.c
    src/ops/signal/fft_plan.c
    src/ops/tensor/count_bins.c
    src/ops/tensor/count_values.c
    src/ops/tensor/create_range.c
    src/ops/tensor/elementwise_copy.c
    src/ops/tensor/gather.c
    src/ops/tensor/gather_rows.c
    src/ops/tensor/histogram.c
    src/ops/tensor/index_advanced.c
    src/ops/tensor/index_fill.c
    src/ops/tensor/index_rows.c
    src/ops/tensor/index_search.c
    src/ops/tensor/index_select.c
    src/ops/tensor/index_unique.c
    src/ops/tensor/reduce_index.c
    src/ops/tensor/reduce_index_lines.c
    src/ops/tensor/reduce_kernels.c
    src/ops/tensor/reduce_ops.c
    src/ops/tensor/scan.c
    src/ops/tensor/scan_lines.c
    src/ops/vision/vision_deform.c
    src/ops/vision/vision_roi.c
    src/ops/vision/vision_roi_align.c
)

set(TAPER_OPTIMIZE "all" CACHE STRING "What a release build compiles for speed: all; float: the kernels of float32 layers alone, in a third of the time")
set_property(CACHE TAPER_OPTIMIZE PROPERTY STRINGS all float)

include(CheckCCompilerFlag)
function(taper_optimize)
    if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # With -Os gcc still has passes for the speed of loops, which cost 1 percent of the library. In files without hot
        # loops all passes for speed are disabled, which saves 3 percent.
        check_c_compiler_flag(-Oz TAPER_HAS_OZ) # gcc has -Oz since version 12
        foreach(source IN LISTS ARGN)
            if(NOT source MATCHES "^src/ops/kernels/")
                set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-ivopts -fno-tree-ch -fno-tree-loop-im -fno-tree-pre)
                if(NOT source MATCHES "^src/backends/" AND NOT source IN_LIST TAPER_HOT_SOURCES AND NOT source IN_LIST TAPER_VECTOR_SOURCES)
                    set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS $<$<BOOL:${TAPER_HAS_OZ}>:-Oz> -fno-tree-dominator-opts
                        -fno-tree-loop-optimize -fno-move-loop-invariants -fno-expensive-optimizations -fno-thread-jumps
                        -fno-partial-inlining -fno-shrink-wrap -fno-tree-fre -fno-tree-tail-merge)
                endif()
            endif()
        endforeach()
    endif()
    if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND CMAKE_C_COMPILER_ID MATCHES "Clang")
        foreach(source IN LISTS ARGN)
            if(NOT source MATCHES "^src/(backends/(cpu|gpu)|ops/kernels)/" AND NOT source IN_LIST TAPER_HOT_SOURCES AND NOT source IN_LIST TAPER_VECTOR_SOURCES)
                set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Oz)
            endif()
        endforeach()
    endif()
    if(NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
        return()
    endif()
    foreach(source IN LISTS ARGN)
        if(TAPER_OPTIMIZE STREQUAL "float" AND NOT source MATCHES "^src/ops/kernels/[a-z0-9]+/(gemm|dwconv|winograd|planar|vector)_f32_")
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O0)
        elseif(source MATCHES "^src/ops/kernels/") # kernels have their own flags
            continue()
        elseif(source IN_LIST TAPER_VECTOR_SOURCES OR source IN_LIST TAPER_FAST_SOURCES)
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O3)
        elseif(source MATCHES "^src/(ops/(call|gradient|lang|list|quantized)|format|frontend|compiler)/" AND NOT source IN_LIST TAPER_HOT_SOURCES
               AND NOT source MATCHES "/torchscript/") # loading a .pt runs these files for each source line
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Os)
        else()
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O2)
        endif()
    endforeach()
endfunction()
