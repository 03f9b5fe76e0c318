# SPDX-License-Identifier: BSD-2-Clause
# Reads the rows of src/platform/isa_list.inc and of the kernels' lists, which together name the kernel files, so that
#   CMake needs no second list. Run as a script, it prints the files for a build without CMake: cmake
#   -DTAPER_ARCHITECTURE=arm -P cmake/TaperIsa.cmake
# prints a line for each kernel file with its flags, and a line with the definitions.

set(TAPER_ROOT ${CMAKE_CURRENT_LIST_DIR}/..)
set(TAPER_ISA_LIST ${TAPER_ROOT}/src/platform/isa_list.inc)
set(TAPER_KERNELS src/ops/kernels)
set(TAPER_KERNEL_FAMILIES gemm_f32 gemm_half gemm_i8 dwconv_f32 dwconv_i8 winograd_f32 winograd_i8 planar_f32 vector_f32 vector_u8 narrow_f32 cast native fft_f32)

# Sets TAPER_ISA_KEYS, and for each key TAPER_ISA_<key>_ARCHITECTURE, _FLAGS and _HINTS. In a row of the list the first
# two arguments are words, only the last two are quoted texts, and the arguments between are C code.
macro(taper_isa_read)
    file(STRINGS ${TAPER_ISA_LIST} taper_lines REGEX "^[^/]")
    list(JOIN taper_lines " " taper_text)
    string(REGEX MATCHALL "ISA\\([a-z0-9]+, [a-z0-9]+,[^\"]*\"[^\"]*\", *\"[^\"]*\"\\)" taper_rows "${taper_text}")
    set(TAPER_ISA_KEYS)
    foreach(taper_row IN LISTS taper_rows)
        string(REGEX MATCH "^ISA\\(([a-z0-9]+), ([a-z0-9]+),[^\"]*\"([^\"]*)\", *\"([^\"]*)\"\\)$" taper_row "${taper_row}")
        set(taper_key ${CMAKE_MATCH_1})
        list(APPEND TAPER_ISA_KEYS ${taper_key})
        set(TAPER_ISA_${taper_key}_ARCHITECTURE ${CMAKE_MATCH_2})
        set(TAPER_ISA_${taper_key}_FLAGS "${CMAKE_MATCH_3}")
        set(TAPER_ISA_${taper_key}_HINTS "${CMAKE_MATCH_4}")
        separate_arguments(TAPER_ISA_${taper_key}_FLAGS)
        separate_arguments(TAPER_ISA_${taper_key}_HINTS)
    endforeach()
    list(LENGTH TAPER_ISA_KEYS taper_count)
    string(REGEX MATCHALL "ISA\\(" taper_rows "${taper_text}")
    list(LENGTH taper_rows taper_rows)
    if(NOT taper_rows EQUAL taper_count)
        message(FATAL_ERROR "isa_list.inc: ${taper_rows} rows, of which ${taper_count} can be read")
    endif()
endmacro()

# Sets `result` to the kernel files of one instruction set, relative to the root: <family>_<key>.c of each family whose
# list has the key.
function(taper_isa_sources key result)
    set(folder ${TAPER_ISA_${key}_ARCHITECTURE})
    if(folder STREQUAL "any")
        set(folder scalar)
    endif()
    set(sources)
    foreach(family IN LISTS TAPER_KERNEL_FAMILIES)
        file(STRINGS ${TAPER_ROOT}/${TAPER_KERNELS}/${family}_list.inc rows REGEX "^[^/]*KERNEL[A-Z_]*\\(${key}[,)]")
        if(rows)
            list(APPEND sources ${TAPER_KERNELS}/${folder}/${family}_${key}.c)
        endif()
    endforeach()
    set(${result} ${sources} PARENT_SCOPE)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
    taper_isa_read()
    set(definitions)
    foreach(key IN LISTS TAPER_ISA_KEYS)
        if(TAPER_ISA_${key}_ARCHITECTURE MATCHES "^(any|${TAPER_ARCHITECTURE})$")
            taper_isa_sources(${key} sources)
            list(JOIN TAPER_ISA_${key}_FLAGS " " flags)
            list(APPEND definitions -DTAPER_BUILT_${key}=1)
            foreach(source IN LISTS sources)
                execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${source} ${flags}")
            endforeach()
        endif()
    endforeach()
    list(JOIN definitions " " definitions)
    execute_process(COMMAND ${CMAKE_COMMAND} -E echo "definitions ${definitions}")
endif()
