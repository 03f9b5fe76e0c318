# SPDX-License-Identifier: BSD-2-Clause
# Tests of the NNAPI backend with the imitation of libneuralnetworks.so for each level.
add_executable(nnapi_driver_test ${CMAKE_CURRENT_LIST_DIR}/nnapi_driver_test.c ${CMAKE_CURRENT_LIST_DIR}/networks.c
                                 ${CMAKE_CURRENT_LIST_DIR}/double_world.c)
add_executable(nnapi_backend_test ${CMAKE_CURRENT_LIST_DIR}/nnapi_backend_test.c ${CMAKE_CURRENT_LIST_DIR}/double_world.c)
foreach(name nnapi_driver_test nnapi_backend_test)
    target_link_libraries(${name} PRIVATE test_models m)
    target_compile_definitions(${name} PRIVATE _POSIX_C_SOURCE=200809L)
    taper_compile_options(${name})
    taper_link_options(${name})
    set_property(GLOBAL APPEND PROPERTY TAPER_FOREIGN_TESTS ${name})
    foreach(level RANGE 27 31)
        add_dependencies(${name} nnapi_double_${level})
        add_test(NAME ${name}_${level} COMMAND ${name})
        set_tests_properties(${name}_${level} PROPERTIES LABELS "nnapi;threads;foreign"
            ENVIRONMENT "LD_LIBRARY_PATH=${CMAKE_BINARY_DIR}/tests/nnapi/${level};TAPER_TEST_NNAPI_LEVEL=${level}")
    endforeach()
endforeach()
