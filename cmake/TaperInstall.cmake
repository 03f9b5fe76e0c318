# SPDX-License-Identifier: BSD-2-Clause
# `cmake --install`: headers, static and shared library, the programs, a CMake package (taper::runtime, taper::shared), taper.pc.
include(CMakePackageConfigHelpers)

set_target_properties(taper PROPERTIES EXPORT_NAME runtime)
set_target_properties(taper_shared PROPERTIES EXPORT_NAME shared)
install(TARGETS taper taper_shared EXPORT taper-targets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/taper DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(program taper_program speed_benchmark_torch)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endforeach()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/taper)
install(EXPORT taper-targets NAMESPACE taper:: DESTINATION ${package})
configure_package_config_file(cmake/taper-config.cmake.in ${PROJECT_BINARY_DIR}/taper-config.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/taper-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/taper-config.cmake ${PROJECT_BINARY_DIR}/taper-config-version.cmake DESTINATION ${package})

# The prefix is found from where taper.pc lies, so an installed tree can be moved.
file(RELATIVE_PATH TAPER_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TAPER_PC_PREFIX "${TAPER_PC_PREFIX}")
configure_file(cmake/taper.pc.in ${PROJECT_BINARY_DIR}/taper.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/taper.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
