list(APPEND TAPER_SOURCES
    src/backends/cpu/conv2d_cpu.c
    src/backends/cpu/conv2d_dense.c
    src/backends/cpu/conv2d_depthwise.c
    src/backends/cpu/conv2d_stem.c
    src/backends/cpu/cpu_backend.c
    src/backends/cpu/epilogue.c
    src/backends/cpu/linear_cpu.c
    src/backends/cpu/elementwise_cpu.c
    src/backends/cpu/fast_cpu.c
    src/backends/cpu/matmul_cpu.c
    src/backends/cpu/resize_cpu.c
    src/backends/cpu/rows_cpu.c
    src/backends/cpu/norm_cpu.c
    src/backends/cpu/pool_cpu.c
    src/backends/cpu/softmax_cpu.c
)
