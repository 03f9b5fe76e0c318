# SPDX-License-Identifier: BSD-2-Clause
# Release builds: most operators are called rarely or move few bytes, so their portable forms are built for size. The files
# below hold the loops over elements; the CPU kernels set their own level (kernels.cmake).
set(TAPER_HOT_SOURCES
    src/ir/tensor_copy.c
    src/ops/attention_rows.c
    src/ops/binary.c
    src/ops/cat.c
    src/ops/conv_run.c
    src/ops/elementwise_convert.c
    src/ops/fft_plan.c
    src/ops/istft.c
    src/ops/linalg_dense.c
    src/ops/matmul_gemm.c
    src/ops/norm.c
    src/ops/norm_layer.c
    src/ops/pool_avg.c
    src/ops/pool_max.c
    src/ops/quantized_table.c
    src/ops/reduce_ops.c
    src/ops/resize_loops.c
    src/ops/softmax.c
    src/ops/stft.c
    src/ops/unary.c
    src/ops/view_move.c
)

# Loops that the compiler turns into vectors of the baseline instruction set.
set(TAPER_VECTOR_SOURCES
    src/backends/cpu/conv2d_i8.c
    src/backends/cpu/layer_i8.c
    src/compiler/fold_batch_norm.c
    src/ir/scaled_storage.c
    src/platform/crc32.c
    src/ops/quantized_sums.c
    src/ops/vision_nms.c
)

function(taper_optimize)
    if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
        # What gcc still does for the speed of loops under -Os: 1 percent of the library.
        foreach(source IN LISTS ARGN)
            if(NOT source MATCHES "/kernels/")
                set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-ivopts -fno-tree-ch -fno-tree-loop-im -fno-tree-pre)
            endif()
        endforeach()
    endif()
    if(NOT CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
        return()
    endif()
    foreach(source IN LISTS ARGN)
        if(source IN_LIST TAPER_VECTOR_SOURCES)
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O3)
        elseif(source MATCHES "^src/(ops|format|frontend|compiler)/" AND NOT source IN_LIST TAPER_HOT_SOURCES
               AND NOT source MATCHES "/torchscript/") # all of which every .pt goes through, line by line
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Os)
        elseif(NOT source MATCHES "/kernels/")
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O2)
        endif()
    endforeach()
endfunction()
