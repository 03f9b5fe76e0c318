# SPDX-License-Identifier: BSD-2-Clause
# Toolchain file of wheel_zig.sh. zig, in the folder TAPER_ZIG, compiles for Linux with musl on the processor
# TAPER_ZIG_MACHINE.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TAPER_ZIG TAPER_ZIG_MACHINE)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${TAPER_ZIG_MACHINE})
set(CMAKE_C_COMPILER ${CMAKE_CURRENT_LIST_DIR}/../apple/zig-cc;${TAPER_ZIG}/zig;-target;${TAPER_ZIG_MACHINE}-linux-musl)
# zig has its own headers of musl, and must not find the headers of this machine.
set(CMAKE_FIND_ROOT_PATH ${TAPER_ZIG})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
