# SPDX-License-Identifier: BSD-2-Clause
# Makes ops/call/packs_build.h, a number that depends on all sources that decide how weights are packed. A file of
# packed weights (src/ops/call/packs_file.c) with another number was written by another build, so it is not used.
# Included, this file adds the header to the build; run with -P, it writes the header.
set(rooms ops/kernels backends/cpu ops/quantized ops/call ops/engine ops/nn lean one)
if(CMAKE_SCRIPT_MODE_FILE)
    set(sums "${VERSION}")
    foreach(room ${rooms})
        file(GLOB_RECURSE sources ${SOURCE}/${room}/*)
        list(SORT sources)
        foreach(source ${sources})
            file(SHA256 ${source} sum)
            string(APPEND sums ${sum})
        endforeach()
    endforeach()
    string(SHA256 sum "${sums}")
    string(SUBSTRING ${sum} 0 16 number)
    file(WRITE ${OUTPUT} "#define TAPER_PACKS_BUILD UINT64_C(0x${number})\n")
    return()
endif()

file(MAKE_DIRECTORY ${TAPER_GENERATED}/ops/call)
# The folders themselves are dependencies: adding or removing a file changes its folder's time of modification.
set(TAPER_PACK_SOURCES)
foreach(room ${rooms})
    file(GLOB_RECURSE sources LIST_DIRECTORIES true ${PROJECT_SOURCE_DIR}/src/${room}/*)
    list(APPEND TAPER_PACK_SOURCES ${PROJECT_SOURCE_DIR}/src/${room} ${sources})
endforeach()
add_custom_command(
    OUTPUT ${TAPER_GENERATED}/ops/call/packs_build.h
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR}/src -DVERSION=${PROJECT_VERSION}
            -DOUTPUT=${TAPER_GENERATED}/ops/call/packs_build.h -P ${PROJECT_SOURCE_DIR}/cmake/TaperPacksBuild.cmake
    DEPENDS ${TAPER_PACK_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/TaperPacksBuild.cmake
    COMMENT "Numbering the layouts of packed weights" VERBATIM)
list(APPEND TAPER_SOURCES ${TAPER_GENERATED}/ops/call/packs_build.h)
