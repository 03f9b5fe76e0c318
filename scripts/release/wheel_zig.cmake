# SPDX-License-Identifier: BSD-2-Clause
# Toolchain file of wheel_zig.sh: Linux on the processor TAPER_ZIG_MACHINE with musl, compiled by zig (TAPER_ZIG, its folder).
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_ZIG TAPER_ZIG_MACHINE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TAPER_ZIG_MACHINE})
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../apple/zig-cc;${TAPER_ZIG}/zig;-target;${TAPER_ZIG_MACHINE}-linux-musl)
# zig finds the headers of musl itself, and must not find those of this machine.
set(CMAKE_FIND_ROOT_PATH ${TAPER_ZIG})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
