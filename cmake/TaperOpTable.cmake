# SPDX-License-Identifier: BSD-2-Clause
# Makes three files: op_table.inc has the operator list as compact tables, op_uses.h lists the code that the rows of the list use, and
# op_rows.h the numbers of the rows. A small program that runs on the building machine writes these files (src/ops/list/make_op_table.c). When
# building for another system, TAPER_HOST_CC compiles the program.
if(CMAKE_CROSSCOMPILING)
    find_program(TAPER_HOST_CC NAMES cc gcc clang NO_CMAKE_FIND_ROOT_PATH DOC "C compiler for programs that run while building")
    if(NOT TAPER_HOST_CC)
        message(FATAL_ERROR "a C compiler for this machine is needed too: pass -DTAPER_HOST_CC=…")
    endif()
else()
    set(TAPER_HOST_CC ${CMAKE_C_COMPILER})
endif()

set(TAPER_GENERATED ${PROJECT_BINARY_DIR}/generated) # the compiler searches this folder for includes, like src
file(MAKE_DIRECTORY ${TAPER_GENERATED}/ops/list)
# op_list.h includes all files of the list.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/list/op_list.h)
file(STRINGS ${PROJECT_SOURCE_DIR}/src/ops/list/op_list.h TAPER_OP_LISTS REGEX "^#include \"ops/list/list_")
list(TRANSFORM TAPER_OP_LISTS REPLACE "^#include \"(.*)\"" "${PROJECT_SOURCE_DIR}/src/\\1")
set(TAPER_NAMED_ROWS ${TAPER_GENERATED}/ops/list/named_rows.inc ${TAPER_GENERATED}/ops/list/op_config_nnapi.h) # made by TaperNamedRows.cmake
set(TAPER_OP_CONFIG_FLAG)
if(TAPER_OP_CONFIG)
    set(TAPER_OP_CONFIG_FLAG "-DTAPER_OP_CONFIG=\"${TAPER_OP_CONFIG}\"")
endif()
set(TAPER_GRADIENTS_FLAG)
if(TAPER_WITH_GRADIENTS)
    set(TAPER_GRADIENTS_FLAG -DTAPER_WITH_GRADIENTS=1)
endif()
add_custom_command(
    OUTPUT ${TAPER_GENERATED}/make_op_table
    COMMAND ${TAPER_HOST_CC} -O1 -I${PROJECT_SOURCE_DIR}/src -I${TAPER_GENERATED} ${TAPER_OP_CONFIG_FLAG} ${TAPER_GRADIENTS_FLAG} -o ${TAPER_GENERATED}/make_op_table
            ${PROJECT_SOURCE_DIR}/src/ops/list/make_op_table.c
    DEPENDS ${TAPER_OP_LISTS} ${PROJECT_SOURCE_DIR}/src/ops/list/make_op_table.c ${PROJECT_SOURCE_DIR}/src/ops/list/op_list.h
            ${TAPER_NAMED_ROWS} ${PROJECT_SOURCE_DIR}/src/ops/list/op_config.h ${PROJECT_SOURCE_DIR}/src/ops/list/name_hash.h
            ${PROJECT_SOURCE_DIR}/src/ops/list/expand_rows.h ${PROJECT_SOURCE_DIR}/src/ops/list/pack_texts.h ${PROJECT_SOURCE_DIR}/src/ir/op.h ${TAPER_OP_CONFIG}
    COMMENT "Compiling make_op_table for this machine" VERBATIM)
add_custom_command(
    OUTPUT ${TAPER_GENERATED}/ops/list/op_table.inc ${TAPER_GENERATED}/ops/list/op_uses.h ${TAPER_GENERATED}/ops/list/op_rows.h
    COMMAND ${TAPER_GENERATED}/make_op_table ${TAPER_GENERATED}/ops/list/op_table.inc ${TAPER_GENERATED}/ops/list/op_uses.h
            ${TAPER_GENERATED}/ops/list/op_rows.h
    DEPENDS ${TAPER_GENERATED}/make_op_table
    COMMENT "Packing the operator list" VERBATIM)
list(APPEND TAPER_SOURCES ${TAPER_GENERATED}/ops/list/op_table.inc ${TAPER_GENERATED}/ops/list/op_uses.h ${TAPER_GENERATED}/ops/list/op_rows.h
     ${TAPER_NAMED_ROWS})

# gradient_table.inc: the derivatives of ops/gradient/gradient_list.h as code, checked against the schemas of the list.
if(TAPER_WITH_GRADIENTS)
    file(MAKE_DIRECTORY ${TAPER_GENERATED}/ops/gradient)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/gradient/gradient_list.h)
    file(STRINGS ${PROJECT_SOURCE_DIR}/src/ops/gradient/gradient_list.h TAPER_GRADIENT_LISTS REGEX "^#include \"ops/gradient/gradients_")
    list(TRANSFORM TAPER_GRADIENT_LISTS REPLACE "^#include \"(.*)\"" "${PROJECT_SOURCE_DIR}/src/\\1")
    add_custom_command(
        OUTPUT ${TAPER_GENERATED}/make_gradients
        COMMAND ${TAPER_HOST_CC} -O1 -I${PROJECT_SOURCE_DIR}/src -I${TAPER_GENERATED} ${TAPER_OP_CONFIG_FLAG} ${TAPER_GRADIENTS_FLAG} -o ${TAPER_GENERATED}/make_gradients
                ${PROJECT_SOURCE_DIR}/src/ops/gradient/make_gradients.c
        DEPENDS ${TAPER_OP_LISTS} ${TAPER_GRADIENT_LISTS} ${PROJECT_SOURCE_DIR}/src/ops/gradient/make_gradients.c
                ${PROJECT_SOURCE_DIR}/src/ops/gradient/gradient_list.h ${PROJECT_SOURCE_DIR}/src/ops/gradient/gradient_code.h
                ${PROJECT_SOURCE_DIR}/src/ops/gradient/formula_text.h ${PROJECT_SOURCE_DIR}/src/ops/gradient/pack_gradients.h
                ${PROJECT_SOURCE_DIR}/src/ops/list/op_list.h ${TAPER_NAMED_ROWS}
                ${PROJECT_SOURCE_DIR}/src/ops/list/expand_rows.h ${PROJECT_SOURCE_DIR}/src/ops/list/op_config.h ${TAPER_OP_CONFIG}
        COMMENT "Compiling make_gradients for this machine" VERBATIM)
    add_custom_command(
        OUTPUT ${TAPER_GENERATED}/ops/gradient/gradient_table.inc
        COMMAND ${TAPER_GENERATED}/make_gradients ${TAPER_GENERATED}/ops/gradient/gradient_table.inc
        DEPENDS ${TAPER_GENERATED}/make_gradients
        COMMENT "Checking the table of derivatives" VERBATIM)
    list(APPEND TAPER_SOURCES ${TAPER_GENERATED}/ops/gradient/gradient_table.inc)
endif()
