# SPDX-License-Identifier: BSD-2-Clause
# The double of libneuralnetworks.so, a library for each level: build/tests/nnapi/LEVEL/libneuralnetworks.so.
find_package(Threads REQUIRED)
set(double ${CMAKE_CURRENT_LIST_DIR}/double)
# What does not depend on the level is compiled once.
add_library(nnapi_double_common OBJECT ${double}/cpu_conv.c ${double}/cpu_elementwise.c ${double}/cpu_image.c
                                       ${double}/cpu_move.c ${double}/cpu_reduce.c ${double}/cpu_table.c
                                       ${double}/cpu_tensor.c ${double}/objects.c ${double}/switches.c)
set(double_targets nnapi_double_common)
foreach(level RANGE 27 31)
    set(name nnapi_double_${level})
    add_library(${name} SHARED ${double}/compilation.c ${double}/device.c ${double}/execution.c ${double}/memory.c
                               ${double}/model.c ${double}/run.c ${double}/scales.c ${double}/shapes.c
                               ${double}/signatures.c ${double}/start.c ${double}/types.c ${double}/values.c)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME neuralnetworks PREFIX lib SUFFIX .so
                                             LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/nnapi/${level})
    target_compile_definitions(${name} PRIVATE DOUBLE_LEVEL=${level})
    target_link_libraries(${name} PRIVATE nnapi_double_common Threads::Threads m)
    taper_link_options(${name})
    list(APPEND double_targets ${name})
endforeach()
foreach(name ${double_targets})
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_compile_definitions(${name} PRIVATE _DEFAULT_SOURCE) # mincore
    taper_compile_options(${name})
endforeach()
