#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# unwind_test.sh SOURCE FOLDER [arm64]: builds the library with Android's settings for Linux, for this machine or for arm64 under qemu.
# From inside a kernel an unwinder must find the caller of the library; without TAPER_UNWIND it must not find the caller. The library
# must be within a size limit, which replaces Android's limit on machines without an NDK. For arm64 clang and lld build the library if
# they are installed, as for Android, because gcc's code is larger. Exit 77 (skipped) if compiler or emulator are missing.
set -eu
source=$1 folder=$2 architecture=${3:-here}
LIMIT_arm64=2330000 # largest size of libtaper.so in bytes, stripped, with unwind tables, without drafts and Vulkan
run="" cc=${CC:-cc} strip=strip
set -- -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_PYTHON=OFF -DTAPER_WITH_LAPACK=OFF \
    -DTAPER_WITH_VULKAN=OFF -DTAPER_WITH_ZLIB=OFF -DTAPER_WITH_DRAFTS=OFF
if [ "$architecture" = arm64 ]; then
    cc=aarch64-linux-gnu-gcc strip=aarch64-linux-gnu-strip
    run="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    for tool in "$cc" qemu-aarch64; do
        command -v "$tool" >/dev/null || {
            echo "SKIPPED: there is no $tool (Debian: gcc-aarch64-linux-gnu, qemu-user)"
            exit 77
        }
    done
    set -- "$@" -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64
    if command -v clang >/dev/null && command -v ld.lld >/dev/null; then
        LIMIT_arm64=2010000
        target=aarch64-linux-gnu
        set -- "$@" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER_TARGET=$target -DCMAKE_CXX_COMPILER_TARGET=$target \
            -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld
    else
        set -- "$@" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++
    fi
else
    set -- "$@" -DTAPER_CPU_LEVELS=avx2
    case $(uname -m) in x86_64 | amd64) ;; *) shift; set -- -DCMAKE_BUILD_TYPE=MinSizeRel "$@" ;; esac
fi
passed=0 failed=0
verdict() { # verdict WHAT STATUS WANTED: counts the check WHAT as passed if its exit status STATUS equals WANTED
    if [ "$2" = "$3" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED  $1: exit status $2, wanted $3"
    fi
}
for unwind in ON OFF; do
    [ "$architecture" = here ] || [ $unwind = ON ] || continue
    mkdir -p "$folder/$unwind"
    { cmake -S "$source" -B "$folder/$unwind" -G Ninja "$@" -DTAPER_UNWIND=$unwind && cmake --build "$folder/$unwind" -j "${JOBS:-2}" --target taper_shared; } \
        >"$folder/$unwind/log" 2>&1 || {
        tail -n 20 "$folder/$unwind/log"
        exit 1
    }
    "$cc" -O2 -funwind-tables -I"$source/include" "$source/tests/android/unwind_probe.c" -o "$folder/$unwind/probe" "$folder/$unwind/lib/libtaper.so" \
        -lm -Wl,-rpath,"$folder/$unwind/lib"
    status=0
    # shellcheck disable=SC2086
    $run "$folder/$unwind/probe" || status=$?
    verdict "the probe with TAPER_UNWIND=$unwind" $status "$([ $unwind = ON ] && echo 0 || echo 1)"
done
if [ "$architecture" = arm64 ]; then
    "$strip" -s -o "$folder/stripped.so" "$folder/ON/lib/libtaper.so"
    bytes=$(wc -c <"$folder/stripped.so" | tr -d ' ')
    echo "$bytes bytes (limit $LIMIT_arm64)"
    verdict "its size" "$([ "$bytes" -le $LIMIT_arm64 ] && echo 0 || echo 1)" 0
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ]
