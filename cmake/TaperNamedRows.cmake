# SPDX-License-Identifier: BSD-2-Clause
# Makes two files: named_rows.inc has the rows of the operator list that code names as TAPER_OP(id), and op_config_nnapi.h has the rows that a
# selective build for a serialized NNAPI model must have. A small program that runs on the building machine (src/ops/list/make_named_rows.c)
# reads the sources. The program does not write a file whose content stays the same. This CMake file is included after all sources are known.
set(sources ${TAPER_RUNTIME_SOURCES} ${TAPER_COMPILER_SOURCES})
list(FILTER sources INCLUDE REGEX "\\.(c|m)$")
list(FILTER sources EXCLUDE REGEX "^${TAPER_GENERATED}/")
list(APPEND sources src/backends/preparer_list.inc)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/ REGEX "^src/")
# The sources that run serialized NNAPI models: nnapi.c runs the nodes, the other sources make the nodes.
set(theirs ${sources})
list(FILTER theirs INCLUDE REGEX "/src/(frontend/nnapi/.*|ops/call/emit)\\.c$")
list(FILTER theirs EXCLUDE REGEX "/nnapi\\.c$")
foreach(list sources theirs)
    list(JOIN ${list} "\n" text)
    file(GENERATE OUTPUT ${TAPER_GENERATED}/naming_${list}.txt CONTENT "${text}\n")
endforeach()
add_custom_command(
    OUTPUT ${TAPER_GENERATED}/make_named_rows
    COMMAND ${TAPER_HOST_CC} -O1 -o ${TAPER_GENERATED}/make_named_rows ${PROJECT_SOURCE_DIR}/src/ops/list/make_named_rows.c
    DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/list/make_named_rows.c
    COMMENT "Compiling make_named_rows for this machine" VERBATIM)
add_custom_command(
    OUTPUT ${TAPER_NAMED_ROWS}
    COMMAND ${TAPER_GENERATED}/make_named_rows ${TAPER_NAMED_ROWS} ${TAPER_GENERATED}/naming_sources.txt ${TAPER_GENERATED}/naming_theirs.txt
    DEPENDS ${TAPER_GENERATED}/make_named_rows ${sources} ${TAPER_GENERATED}/naming_sources.txt ${TAPER_GENERATED}/naming_theirs.txt
    COMMENT "Looking which rows of the operator list code names" VERBATIM)
