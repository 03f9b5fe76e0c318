# SPDX-License-Identifier: BSD-2-Clause
# Tiers of tests. tests/tests.tsv has a row for each test: name, tier, places where it runs, and a fault that only this test
# finds. A name may end in *.
#   quick   `./dev test --quick`: no PyTorch, a minute
#   plain   `./dev test`, which CI runs: compares with PyTorch, and also runs the quick tests
#   full    `./dev test --full`: everything, with whole sweeps
# The column `sanitized` marks tests that the quick sanitizer run also includes. Every test gets its tier and `sanitized` as
# labels, by which ctest selects tests.
set(TAPER_TEST_TABLE ${CMAKE_CURRENT_LIST_DIR}/../tests/tests.tsv)

# Labels the tests of the current directory. Each directory with tests calls this once, before its first test; the labels are set after the directory
# has been read.
macro(taper_label_tests)
    cmake_language(DEFER CALL taper_label_tests_now)
endmacro()

# The target room_NAME builds the programs of the tests in the folder NAME, for `./dev test --room NAME`.
function(taper_label_tests_now)
    get_filename_component(room ${CMAKE_CURRENT_SOURCE_DIR} NAME)
    get_property(targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
    add_custom_target(room_${room})
    if(targets)
        add_dependencies(room_${room} ${targets})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${TAPER_TEST_TABLE})
    get_property(tests DIRECTORY PROPERTY TESTS)
    file(STRINGS ${TAPER_TEST_TABLE} rows REGEX "^[a-z]")
    file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../tests/rooms.txt known REGEX "^[a-z]")
    list(TRANSFORM known REPLACE "\t.*" "")
    list(APPEND known oracle threads foreign)
    foreach(test IN LISTS tests)
        set(found)
        foreach(row IN LISTS rows)
            string(REGEX MATCH "^([^\t]+)\t([^\t]+)\t([^\t]*)\t" matched "${row}")
            set(name ${CMAKE_MATCH_1})
            set(tier ${CMAKE_MATCH_2})
            set(where "${CMAKE_MATCH_3}")
            string(REGEX REPLACE "\\*$" ".*" pattern "${name}")
            if(name STREQUAL test OR (name MATCHES "\\*$" AND test MATCHES "^${pattern}$"))
                set(found ${tier} ${where})
                break()
            endif()
        endforeach()
        if(NOT found)
            message(FATAL_ERROR "tests/tests.tsv has no row for the test ${test}: add one that gives its tier and a fault that only it finds")
        endif()
        get_property(labels TEST ${test} PROPERTY LABELS)
        list(REMOVE_ITEM labels ${known})
        if(labels)
            message(FATAL_ERROR "the test ${test} has the labels ${labels}, which tests/rooms.txt does not list")
        endif()
        set_property(TEST ${test} APPEND PROPERTY LABELS ${found})
    endforeach()
endfunction()
