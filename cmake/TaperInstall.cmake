# SPDX-License-Identifier: BSD-2-Clause
# `cmake --install`: headers, static and shared library, the programs, a CMake package (taper::runtime, taper::static, taper::shared),
# taper.pc, documents and examples.
include(CMakePackageConfigHelpers)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/taper)
set_target_properties(taper PROPERTIES EXPORT_NAME static)
set_target_properties(taper_shared PROPERTIES EXPORT_NAME shared)
foreach(library ${TAPER_INSTALLED})
    # The static and the shared library each have an export set, because a program that links the shared library does not need
    # the static library's dependencies.
    get_target_property(name ${library} EXPORT_NAME)
    install(TARGETS ${library} EXPORT taper-${name}
            RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT taper-${name} NAMESPACE taper:: DESTINATION ${package})
endforeach()
install(DIRECTORY include/taper DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
file(RELATIVE_PATH libraries_from_programs /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
foreach(program taper_program speed_benchmark_torch)
    if(TARGET ${program})
        if(TAPER_PROGRAMS_SHARED)
            set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries_from_programs}")
        endif()
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()

install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/taper-config.cmake.in ${PROJECT_BINARY_DIR}/taper-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/taper-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taper-config.cmake ${PROJECT_BINARY_DIR}/taper-config-version.cmake DESTINATION ${package})

# The prefix is relative to the folder of taper.pc, so an installed tree can be moved.
file(RELATIVE_PATH TAPER_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TAPER_PC_PREFIX "${TAPER_PC_PREFIX}")
configure_file(cmake/taper.pc.in ${PROJECT_BINARY_DIR}/taper.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/taper.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
