# SPDX-License-Identifier: BSD-2-Clause
# A toolchain file: builds for 64-bit Windows with MinGW-w64 (Debian: g++-mingw-w64-x86-64-posix, libz-mingw-w64-dev). Programs run under wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(triplet x86_64-w64-mingw32)
find_program(CMAKE_C_COMPILER NAMES ${triplet}-gcc-posix ${triplet}-gcc REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES ${triplet}-g++-posix ${triplet}-g++)
set(CMAKE_RC_COMPILER ${triplet}-windres)
set(ZLIB_USE_STATIC_LIBS ON) # finds the static zlib, so that the DLL needs only the system's DLLs
set(CMAKE_FIND_ROOT_PATH /usr/${triplet})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
find_program(TAPER_WINE NAMES wine wine64 wine64-stable PATHS /usr/lib/wine)
if(TAPER_WINE)
    set(CMAKE_CROSSCOMPILING_EMULATOR ${TAPER_WINE})
endif()
