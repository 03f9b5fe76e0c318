# SPDX-License-Identifier: BSD-2-Clause
# Toolchain file for one slice of Apple's systems, TAPER_APPLE_SLICE. TAPER_APPLE_CC is the C compiler and its fixed
# arguments, a list. TAPER_APPLE_AR and TAPER_APPLE_RANLIB make archives. TAPER_APPLE_SYSROOT is the folder of headers and
# libraries. slice.sh uses this file with an SDK's compiler, Debian's clang or zig.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_APPLE_SLICE TAPER_APPLE_CC TAPER_APPLE_AR TAPER_APPLE_RANLIB TAPER_APPLE_SYSROOT
     TAPER_APPLE_INSTALL_NAME_TOOL)
set(CMAKE_SYSTEM_NAME Darwin)
if(TAPER_APPLE_SLICE MATCHES "x86_64")
    set(CMAKE_SYSTEM_PROCESSOR x86_64)
else()
    set(CMAKE_SYSTEM_PROCESSOR arm64)
endif()
# TAPER_APPLE_CC already has -target and -isysroot.
set(CMAKE_OSX_SYSROOT "" CACHE STRING "")
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "")
set(CMAKE_C_COMPILER ${TAPER_APPLE_CC})
foreach(tool AR RANLIB INSTALL_NAME_TOOL)
    set(CMAKE_${tool} ${TAPER_APPLE_${tool}} CACHE FILEPATH "")
endforeach()
if(NOT TAPER_APPLE_SLICE MATCHES "^macos")
    # Only the app's project links for a phone, so CMake's trial programs are archives.
    set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
endif()
set(CMAKE_FIND_ROOT_PATH ${TAPER_APPLE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# zlib is a library of the system; the compiler finds its header without a path.
set(ZLIB_INCLUDE_DIR ${TAPER_APPLE_SYSROOT}/usr/include CACHE PATH "")
set(ZLIB_LIBRARY ${TAPER_APPLE_SYSROOT}/usr/lib/libz.tbd CACHE FILEPATH "")
