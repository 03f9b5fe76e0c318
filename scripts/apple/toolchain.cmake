# SPDX-License-Identifier: BSD-2-Clause
# Toolchain file: one slice of Apple's systems. TAPER_APPLE_SLICE says which, TAPER_APPLE_CC what compiles C for it (a list:
# the compiler and what it is always given), TAPER_APPLE_AR and TAPER_APPLE_RANLIB what makes archives, TAPER_APPLE_SYSROOT
# where headers and libraries are. slice.sh calls it, with an SDK's compiler, Debian's clang or zig.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_APPLE_SLICE TAPER_APPLE_CC TAPER_APPLE_AR TAPER_APPLE_RANLIB TAPER_APPLE_SYSROOT
     TAPER_APPLE_INSTALL_NAME_TOOL)
set(CMAKE_SYSTEM_NAME Darwin)
if(TAPER_APPLE_SLICE MATCHES "x86_64")
    set(CMAKE_SYSTEM_PROCESSOR x86_64)
else()
    set(CMAKE_SYSTEM_PROCESSOR arm64)
endif()
# -target and -isysroot are among the compiler's arguments.
set(CMAKE_OSX_SYSROOT "" CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "")
set(CMAKE_C_COMPILER ${TAPER_APPLE_CC})
foreach(tool AR RANLIB INSTALL_NAME_TOOL)
    set(CMAKE_${tool} ${TAPER_APPLE_${tool}} CACHE FILEPATH "")
endforeach()
if(NOT TAPER_APPLE_SLICE MATCHES "^macos")
    # What links for a phone is the app's project.
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
endif()
set(CMAKE_FIND_ROOT_PATH ${TAPER_APPLE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# zlib is a library of the system; its compiler finds the header by itself.
set(ZLIB_INCLUDE_DIR ${TAPER_APPLE_SYSROOT}/usr/include CACHE PATH "")
set(ZLIB_LIBRARY ${TAPER_APPLE_SYSROOT}/usr/lib/libz.tbd CACHE FILEPATH "")
