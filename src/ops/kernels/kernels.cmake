# Adds the CPU kernels of the instruction sets that are built, with the flags of each set. isa_list.inc and the kernels'
# lists name the files.
include(cmake/TaperIsa.cmake)
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TAPER_ISA_LIST})
foreach(family IN LISTS TAPER_KERNEL_FAMILIES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TAPER_ROOT}/${TAPER_KERNELS}/${family}_list.inc)
endforeach()
taper_isa_read()

set(TAPER_CPU_LEVELS "" CACHE STRING "Instruction sets whose kernels are built, of ${TAPER_ISA_KEYS}; empty: all of the architecture; native: this machine's")
if(TAPER_CPU_LEVELS STREQUAL "native")
    if(CMAKE_CROSSCOMPILING)
        message(FATAL_ERROR "TAPER_CPU_LEVELS=native is for builds that run on the building machine: name the instruction sets")
    endif()
    try_run(ran compiled ${PROJECT_BINARY_DIR}/native_levels ${PROJECT_SOURCE_DIR}/cmake/native_levels.c
            CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${PROJECT_SOURCE_DIR}/src\\;${PROJECT_SOURCE_DIR}/include"
            COMPILE_OUTPUT_VARIABLE said RUN_OUTPUT_VARIABLE levels)
    if(NOT compiled OR NOT ran EQUAL 0)
        message(FATAL_ERROR "TAPER_CPU_LEVELS=native: cmake/native_levels.c does not run here: ${said}")
    endif()
    list(FILTER levels INCLUDE REGEX ".") # the last item ends in a semicolon, so the list has an empty item
    list(LENGTH levels count)
    if(count GREATER 1)
        list(REMOVE_ITEM levels scalar) # the scalar kernels are then the last resort, built for size
    endif()
    message(STATUS "Instruction sets of this machine: ${levels}")
    set(TAPER_CPU_LEVELS ${levels}) # the levels are set only for this run of CMake; the cache keeps "native"
endif()
foreach(level IN LISTS TAPER_CPU_LEVELS)
    if(NOT level IN_LIST TAPER_ISA_KEYS)
        message(FATAL_ERROR "TAPER_CPU_LEVELS: there is no level \"${level}\"; there are: ${TAPER_ISA_KEYS}")
    endif()
endforeach()

# TAPER_COMPILES_<architecture>, for each architecture in the rows, is true if the compiler builds for it. The machine
# that runs the compiler may have another architecture.
check_c_source_compiles("#if !defined(__x86_64__) && !defined(__i386__)
    #error
    #endif
    int main(void) { return 0; }" TAPER_COMPILES_x86)
check_c_source_compiles("#ifndef __x86_64__
    #error
    #endif
    int main(void) { return 0; }" TAPER_COMPILES_x64)
check_c_source_compiles("#ifndef __aarch64__
    #error
    #endif
    int main(void) { return 0; }" TAPER_COMPILES_arm)
check_c_source_compiles("#ifndef __arm__
    #error
    #endif
    int main(void) { return 0; }" TAPER_COMPILES_arm32)
check_c_source_compiles("#ifndef __wasm__
    #error
    #endif
    int main(void) { return 0; }" TAPER_COMPILES_wasm)
set(TAPER_COMPILES_any ON)

set(TAPER_KERNEL_SOURCES
    src/ops/kernels/kernel_select.c
    src/ops/kernels/scalar/gemm_f32_pack.c
    src/ops/kernels/scalar/gemm_half_pack.c
    src/ops/kernels/scalar/gemm_i8_pack.c
    src/ops/kernels/scalar/winograd_i8_pack.c
)
# Kernels that small builds omit, as <family>_<instruction set>. A kernel list then leaves out the row of the omitted
# kernel.
set(TAPER_LEFT_OUT_SMALL cast_avx512 cast_avx2 native_avx512 native_avx2 fft_f32_avx2 gemm_half_amx gemm_half_avx512bf16 gemm_i8_amx
    gemm_i8_avx512 winograd_i8_avx512vnni winograd_i8_avx512 winograd_i8_avx2 winograd_i8_simd128)
set(TAPER_LEFT_OUT)
if(NOT TAPER_PROFILE STREQUAL "full")
    set(TAPER_LEFT_OUT ${TAPER_LEFT_OUT_SMALL})
endif()
# Sets `result` to the definitions that omit the rows of these kernels, and of the family that then has no kernel.
function(taper_left_out_definitions result)
    set(definitions)
    foreach(kernel IN LISTS ARGN)
        list(APPEND definitions TAPER_LEFT_OUT_${kernel}=1)
    endforeach()
    if(ARGN AND NOT TAPER_COMPILES_arm AND NOT TAPER_COMPILES_arm32)
        list(APPEND definitions TAPER_LEFT_OUT_winograd_i8=1)
    endif()
    set(${result} ${definitions} PARENT_SCOPE)
endfunction()

taper_left_out_definitions(TAPER_LEVEL_DEFINITIONS ${TAPER_LEFT_OUT}) # definitions for files that include the lists
set(TAPER_BUILT_LEVELS)
foreach(key IN LISTS TAPER_ISA_KEYS)
    if(MINGW AND key STREQUAL "amx")
        continue() # gcc's intrinsics for tiles take the stride as a long, which has 32 bits on Windows and cannot be part of an address
    endif()
    if(NOT TAPER_COMPILES_${TAPER_ISA_${key}_ARCHITECTURE} OR
       (TAPER_CPU_LEVELS AND NOT key IN_LIST TAPER_CPU_LEVELS AND NOT key STREQUAL "scalar"))
        continue()
    endif()
    list(JOIN TAPER_ISA_${key}_FLAGS " " flags)
    if(flags)
        check_c_compiler_flag("${flags}" TAPER_COMPILES_ISA_${key})
        if(NOT TAPER_COMPILES_ISA_${key})
            message(STATUS "The compiler does not know ${flags}: no kernels for ${key}")
            continue()
        endif()
    endif()
    set(hints)
    foreach(hint IN LISTS TAPER_ISA_${key}_HINTS)
        string(MAKE_C_IDENTIFIER "TAPER_COMPILES${hint}" known)
        set(CMAKE_REQUIRED_FLAGS -Werror) # clang only warns about options that it ignores
        check_c_compiler_flag("${hint}" ${known})
        unset(CMAKE_REQUIRED_FLAGS)
        if(${known})
            list(APPEND hints ${hint})
        endif()
    endforeach()
    taper_isa_sources(${key} sources)
    foreach(kernel IN LISTS TAPER_LEFT_OUT)
        list(FILTER sources EXCLUDE REGEX "/${kernel}\\.c$")
    endforeach()
    if(NOT sources)
        continue()
    endif()
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${TAPER_ISA_${key}_FLAGS};${hints}")
    list(APPEND TAPER_KERNEL_SOURCES ${sources})
    list(APPEND TAPER_LEVEL_DEFINITIONS TAPER_BUILT_${key}=1)
    list(APPEND TAPER_BUILT_LEVELS ${key})
endforeach()
list(APPEND TAPER_SOURCES ${TAPER_KERNEL_SOURCES})
foreach(level IN LISTS TAPER_CPU_LEVELS)
    if(NOT level IN_LIST TAPER_BUILT_LEVELS)
        message(FATAL_ERROR "TAPER_CPU_LEVELS: this compiler does not build for \"${level}\"")
    endif()
endforeach()

# The scalar kernels are always built, as the last resort. If other kernels are built too, the scalar kernels are built
# for size, unless TAPER_CPU_LEVELS names them or the whole build is for speed.
set(TAPER_LAST_RESORT OFF)
if(TAPER_CPU_LEVELS)
    if(NOT "scalar" IN_LIST TAPER_CPU_LEVELS)
        set(TAPER_LAST_RESORT ON)
    endif()
elseif(NOT TAPER_PROFILE STREQUAL "full" AND NOT TAPER_BUILT_LEVELS STREQUAL "scalar")
    set(TAPER_LAST_RESORT ON)
endif()
if(TAPER_LAST_RESORT)
    list(APPEND TAPER_LEVEL_DEFINITIONS TAPER_LAST_RESORT=1)
endif()

foreach(source IN LISTS TAPER_KERNEL_SOURCES)
    if(source MATCHES "/kernels/scalar/" AND TAPER_LAST_RESORT)
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS "-Os;-DTAPER_LAST_RESORT_KERNEL=1")
    elseif(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND source MATCHES "/vector_f32_")
        # These files have many loops that wait for memory. -Os makes their code a seventh smaller.
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -Os)
    elseif(source MATCHES "/(cast|native|fft_f32)_" AND NOT CMAKE_BUILD_TYPE STREQUAL "MinSizeRel")
        # The compiler must vectorize the loops of these files.
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O3)
    elseif(source MATCHES "/kernels/")
        # Kernels are built for speed in every build type, because otherwise the tests of a debug build would take minutes.
        set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -O2)
        if(CMAKE_BUILD_TYPE STREQUAL "MinSizeRel" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
            # Kernels have long loops, so they are not aligned to cache lines, which saves space.
            set_property(SOURCE ${source} APPEND PROPERTY COMPILE_OPTIONS -fno-align-loops -fno-align-jumps -fno-align-labels -fno-align-functions)
        endif()
    endif()
endforeach()

# In the quick sanitizer build kernels are not instrumented for undefined behaviour: their unrolled loops of vectors would
# take longer to compile than the rest of the library. `./dev check` instruments all kernels.
if(TAPER_SANITIZE MATCHES "undefined" AND NOT TAPER_TESTS_ALL)
    set_property(SOURCE ${TAPER_KERNEL_SOURCES} APPEND PROPERTY COMPILE_OPTIONS -O1 -fno-sanitize=undefined)
endif()
