# SPDX-License-Identifier: BSD-2-Clause
# The imitation (double) of libneuralnetworks.so, one library for each level:
# build/tests/nnapi/LEVEL/libneuralnetworks.so.
find_package(Threads REQUIRED)
set(double ${CMAKE_CURRENT_LIST_DIR}/double)
# Sources that do not depend on the level are compiled once.
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
    target_compile_definitions(${name} PRIVATE _DEFAULT_SOURCE) # declares mincore
    taper_compile_options(${name})
endforeach()

# The test of the imitation, which loads each library as a program does.
add_executable(double_test ${CMAKE_CURRENT_LIST_DIR}/double_test.c ${CMAKE_CURRENT_LIST_DIR}/double_misuse.c
                           ${CMAKE_CURRENT_LIST_DIR}/double_misuse_run.c ${CMAKE_CURRENT_LIST_DIR}/double_results.c
                           ${CMAKE_CURRENT_LIST_DIR}/double_results_quantized.c ${CMAKE_CURRENT_LIST_DIR}/nnapi_fixture.c)
target_include_directories(double_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_include_directories(double_test SYSTEM PRIVATE ${CMOCKA_INCLUDE})
target_compile_definitions(double_test PRIVATE _DEFAULT_SOURCE NNAPI_DOUBLES="${CMAKE_BINARY_DIR}/tests/nnapi")
target_link_libraries(double_test PRIVATE ${CMOCKA_LIBRARY} Threads::Threads m ${CMAKE_DL_LIBS})
taper_compile_options(double_test)
taper_link_options(double_test)
foreach(level RANGE 27 31)
    add_dependencies(double_test nnapi_double_${level})
endforeach()
add_test(NAME nnapi_double_test COMMAND double_test)
set_tests_properties(nnapi_double_test PROPERTIES LABELS "nnapi;threads;foreign")
set_property(GLOBAL APPEND PROPERTY TAPER_FOREIGN_TESTS double_test)
