# SPDX-License-Identifier: BSD-2-Clause
# Toolchain file for static programs with the C library musl on x86-64 (Debian: musl-tools). TAPER_FOREIGN_ROOT has zlib and CMocka,
# which scripts/foreign_sources.sh compiled with the same compiler. Programs run on the building machine.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_FOREIGN_ROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-musl)
set(CMAKE_CROSSCOMPILING_EMULATOR ${TAPER_TARGET_EMULATOR})
set(CMAKE_FIND_ROOT_PATH ${TAPER_FOREIGN_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
