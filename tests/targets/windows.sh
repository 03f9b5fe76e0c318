#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# windows.sh FOLDER: builds the library for 64-bit Windows with MinGW-w64 in FOLDER, as a DLL and as a static library, and checks the DLL: it
# exports only what the headers declare, needs only the system's DLLs, and moves no aligned vector on the stack (gcc's bug 54412). If wine
# is installed, it runs the tests of the C++ binding. Exit status 77 if MinGW-w64 or its zlib is missing.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
tool=x86_64-w64-mingw32
if ! command -v $tool-gcc-posix >/dev/null || [ ! -e /usr/$tool/lib/libz.a ]; then
    echo "SKIPPED: no compiler for Windows (Debian: g++-mingw-w64-x86-64-posix libz-mingw-w64-dev)"
    exit 77
fi
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$source/cmake/MinGW.cmake" -DCMAKE_BUILD_TYPE=Release -DTAPER_BUILD_TESTS=OFF \
    -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_PYTHON=OFF -DTAPER_WITH_VULKAN=OFF >"$work/log" 2>&1 &&
    cmake --build "$work" -j "${JOBS:-2}" --target taper taper_shared cpp_headers >>"$work/log" 2>&1 || { tail -n 40 "$work/log"; exit 1; }
dll=$work/bin/libtaper.dll
passed=2

$tool-objdump -p "$dll" >"$work/headers"
sed -n 's/^\tDLL Name: //p' "$work/headers" | grep -viE '^(kernel32|advapi32|msvcrt)\.dll$' >"$work/others" || true
[ ! -s "$work/others" ] || { echo "FAILED: the DLL needs $(cat "$work/others")"; exit 1; }
$tool-nm "$work/lib/libtaper.dll.a" | sed -n 's/^[0-9a-f]* T //p' | grep -v '^taper_' >"$work/extra" || true
[ ! -s "$work/extra" ] || { echo "FAILED: the DLL exports $(head -n 3 "$work/extra" | tr '\n' ' ')"; exit 1; }
aligned=$($tool-objdump -d --no-show-raw-insn "$dll" | grep -E 'vmov(aps|apd|dqa|dqa32|dqa64|ntps|ntdq) .*%[yz]mm' | grep -cE '\(%r[sb]p' || true)
[ "$aligned" = 0 ] || { echo "FAILED: $aligned instructions move aligned vectors on the stack"; exit 1; }
passed=$((passed + 3))

build() { # build SOURCE PROGRAM: compiles and links a program of the C++ binding's tests
    $tool-g++-posix -std=c++14 -O1 -I"$source/bindings/cpp/include" -I"$work/bindings/cpp/made" -I"$work/bindings/cpp/spellings" -I"$source/include" \
        "$1" "$work/lib/libtaper.a" -lz -lpthread -ladvapi32 -static -o "$2"
}
build "$source/tests/cpp/behaviour_test.cpp" "$work/behaviour.exe"
build "$source/tests/cpp/operators_test.cpp" "$work/operators.exe"
passed=$((passed + 2))
wine=$(command -v wine || command -v wine64 || ls /usr/lib/wine/wine64 2>/dev/null || true)
if [ -z "$wine" ]; then
    echo "nothing was run, because wine is not installed (Debian: wine64)"
    echo "$passed passed, 0 failed"
    exit 0
fi
export WINEPREFIX="$work/wine" WINEDEBUG=-all
"$wine" "$work/operators.exe" "$source/tests/models/data" >"$work/said" 2>&1 || { tail -n 20 "$work/said"; echo "FAILED: operators.exe"; exit 1; }
"$wine" "$work/behaviour.exe" "$source/tests/data/samples" "$source/tests/models/data" "$source/examples/demo" >"$work/said" 2>&1 ||
    { tail -n 20 "$work/said"; echo "FAILED: behaviour.exe"; exit 1; }
echo "$((passed + 2)) passed, 0 failed"
