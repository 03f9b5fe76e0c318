# The CPU kernels and the flags of their instruction sets: a file's suffix says what it may use. Every file guards its
# architecture and its level, so that the list is the same everywhere.
set(TAPER_KERNEL_SOURCES
    src/backends/cpu/kernel_select.c
    src/backends/cpu/kernels/scalar/gemm_f32_pack.c
    src/backends/cpu/kernels/scalar/gemm_f32_scalar.c
    src/backends/cpu/kernels/scalar/gemm_i8_pack.c
    src/backends/cpu/kernels/scalar/gemm_i8_scalar.c
    src/backends/cpu/kernels/scalar/dwconv_f32_scalar.c
    src/backends/cpu/kernels/scalar/dwconv_i8_scalar.c
    src/backends/cpu/kernels/scalar/vector_f32_scalar.c
    src/backends/cpu/kernels/scalar/vector_u8_scalar.c
    src/backends/cpu/kernels/x86/gemm_f32_avx2.c
    src/backends/cpu/kernels/x86/gemm_f32_avx512.c
    src/backends/cpu/kernels/x86/gemm_i8_avx2.c
    src/backends/cpu/kernels/x86/gemm_i8_avx512.c
    src/backends/cpu/kernels/x86/gemm_i8_avx512vnni.c
    src/backends/cpu/kernels/x86/dwconv_f32_avx2.c
    src/backends/cpu/kernels/x86/dwconv_f32_avx512.c
    src/backends/cpu/kernels/x86/dwconv_i8_avx2.c
    src/backends/cpu/kernels/x86/dwconv_i8_avx512vnni.c
    src/backends/cpu/kernels/x86/vector_f32_avx2.c
    src/backends/cpu/kernels/x86/vector_f32_avx512.c
    src/backends/cpu/kernels/x86/vector_u8_avx2.c
    src/backends/cpu/kernels/x86/vector_u8_avx512.c
    src/backends/cpu/kernels/arm/gemm_f32_neon.c
    src/backends/cpu/kernels/arm/gemm_i8_neon.c
    src/backends/cpu/kernels/arm/gemm_i8_neondot.c
    src/backends/cpu/kernels/arm/gemm_i8_neoni8mm.c
    src/backends/cpu/kernels/arm/dwconv_f32_neon.c
    src/backends/cpu/kernels/arm/dwconv_i8_neon.c
    src/backends/cpu/kernels/arm/vector_f32_neon.c
    src/backends/cpu/kernels/arm/vector_u8_neon.c
)
list(APPEND TAPER_SOURCES ${TAPER_KERNEL_SOURCES})

# Which of them are built: `scalar` always is, as the last resort, but only for size when it is not named here.
set(TAPER_KNOWN_LEVELS scalar avx2 avx512 neon)
set(TAPER_CPU_LEVELS "" CACHE STRING "Instruction sets whose kernels are built, of ${TAPER_KNOWN_LEVELS}; empty: all of the architecture")
set(TAPER_LEVELS_LEFT_OUT)
if(TAPER_CPU_LEVELS)
    foreach(level IN LISTS TAPER_CPU_LEVELS)
        if(NOT level IN_LIST TAPER_KNOWN_LEVELS)
            message(FATAL_ERROR "TAPER_CPU_LEVELS: there is no level \"${level}\"; there are: ${TAPER_KNOWN_LEVELS}")
        endif()
    endforeach()
    set(TAPER_LEVELS_LEFT_OUT ${TAPER_KNOWN_LEVELS})
    list(REMOVE_ITEM TAPER_LEVELS_LEFT_OUT ${TAPER_CPU_LEVELS})
endif()
# Every processor that these have kernels for has better ones than the scalar: those are built for size.
if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64|ARM64)$")
    list(APPEND TAPER_LEVELS_LEFT_OUT scalar)
    list(REMOVE_DUPLICATES TAPER_LEVELS_LEFT_OUT)
endif()
# For whatever includes the lists: the library, and the kernels' tests and benchmarks.
set(TAPER_LEVEL_DEFINITIONS)
foreach(level IN LISTS TAPER_LEVELS_LEFT_OUT)
    string(TOUPPER ${level} level)
    list(APPEND TAPER_LEVEL_DEFINITIONS TAPER_WITHOUT_${level}=1)
endforeach()

if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
    list(APPEND TAPER_LEVEL_DEFINITIONS TAPER_WITHOUT_AVX512_I8=1)
endif()

foreach(source IN LISTS TAPER_KERNEL_SOURCES)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|i[3-6]86|x86)$")
        if(source MATCHES "_avx2\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma;-mf16c")
        elseif(source MATCHES "_avx512\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mf16c;-mtune=skylake-avx512")
        elseif(source MATCHES "_avx512vnni\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS
                "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mavx512vnni;-mfma;-mf16c;-mtune=skylake-avx512")
        endif()
    endif()
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
        if(source MATCHES "_neondot\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-march=armv8.2-a+dotprod")
        elseif(source MATCHES "_neoni8mm\\.c$")
            set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "-march=armv8.2-a+i8mm")
        endif()
        if(source MATCHES "_neon(dot|i8mm)\\.c$" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
            # gcc would load all weights of a step first and have no registers left for the sums.
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-schedule-insns)
        endif()
    endif()
    if(source MATCHES "/kernels/scalar/" AND "scalar" IN_LIST TAPER_LEVELS_LEFT_OUT)
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "-Os;-DTAPER_SMALL_KERNEL=1")
    elseif(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND source MATCHES "/vector_f32_")
        # Many loops that wait for memory: a seventh less code.
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Os)
    elseif(source MATCHES "/kernels/")
        # For speed in every build type: a debug build would take minutes to run its tests.
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O2)
        if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
            # Their loops are long; room before each, to begin on a line of the cache, is left out.
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-align-loops -fno-align-jumps -fno-align-labels -fno-align-functions)
        endif()
    endif()
endforeach()
