#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# package_test.sh CMAKE BUILD SOURCE CC GENERATOR MAKE: installs the library into a scratch folder. Builds examples/ with the
# installed library, which CMake's find_package (static and shared) and pkg-config find, and runs them. At the end the test
# requests versions that must be found, and versions that must not be found.
set -eu
cmake=$1 build=$2 source=$3 cc=$4 generator=$5 make=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0
model="$source/examples/demo/classifier.ptl"
prefix="$scratch/usr"
"$cmake" --install "$build" --prefix "$prefix" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }

same() { # same PROGRAM NAME: runs the example PROGRAM and checks its output; a failure prints NAME
    LD_LIBRARY_PATH="$libraries" "$1" "$model" >"$scratch/out"
    cat "$scratch/out"
    grep -q '^output: 1 x 20, first: -*[0-9.]*$' "$scratch/out" || { echo "FAILED $2"; exit 1; }
    passed=$((passed + 1))
}

pc=$(dirname "$(find "$prefix" -name taper.pc)")
libraries=$(dirname "$pc")
"$cmake" -S "$source/examples" -B "$scratch/cmake" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release \
    >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$cmake" --build "$scratch/cmake" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
same "$scratch/cmake/run_model" "find_package, static"
same "$scratch/cmake/run_model_shared" "find_package, shared"

# A program that links the shared library does not need the libraries of its build: in this configuration CMake cannot
# find zlib.
"$cmake" -S "$source/examples" -B "$scratch/bare" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$cmake" --build "$scratch/bare" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
same "$scratch/bare/run_model" "find_package, without zlib"
for file in LICENSE README.md CHANGELOG.md docs/architecture.md examples/run_model.c examples/demo/classifier.ptl; do
    [ -e "$prefix/share/doc/taper/$file" ] || { echo "FAILED $file is not installed"; exit 1; }
done
# The command-line programs are installed with the shared library, and find it by a relative path.
if [ -e "$prefix/bin/taper" ]; then
    "$prefix/bin/taper" run "$model" -i zeros:1x3x96x96 | grep -q '^output  float32 \[1, 20\]' || { echo "FAILED the installed program"; exit 1; }
    passed=$((passed + 1))
    if command -v readelf >/dev/null && [ "${PROGRAMS_SHARED:-OFF}" = ON ]; then
        readelf -d "$prefix/bin/taper" | grep -q 'NEEDED.*libtaper' || { echo "FAILED the program does not need libtaper"; exit 1; }
        readelf -d "$prefix/bin/taper" | grep -i 'r.*path' | grep -vq '\[\$ORIGIN/' && { echo "FAILED the program knows where it was"; exit 1; }
    fi
fi

# Before 1.0 each minor version has its own interface, and the loader, CMake and pkg-config must know this.
version=$(sed -n 's/^Version: //p' "$pc/taper.pc")
case $version in
0.*) interface=${version%.*} ;;
*) interface=${version%%.*} ;;
esac
[ -e "$libraries/libtaper.so.$interface" ] || { ls "$libraries"; echo "FAILED there is no libtaper.so.$interface"; exit 1; }
if command -v readelf >/dev/null; then
    readelf -d "$libraries/libtaper.so" | grep -q "soname: \[libtaper.so.$interface\]" ||
        { readelf -d "$libraries/libtaper.so" | grep -i soname; echo "FAILED the soname is not libtaper.so.$interface"; exit 1; }
    readelf -d "$scratch/cmake/run_model_shared" | grep -q "\[libtaper.so.$interface\]" || { echo "FAILED a program needs another library"; exit 1; }
    passed=$((passed + 1))
fi
wanted() { # wanted VERSION FOUND: find_package with VERSION must set taper_FOUND to FOUND
    mkdir -p "$scratch/wants"
    printf 'cmake_minimum_required(VERSION 3.16)\nproject(wants LANGUAGES C)\nfind_package(taper %s QUIET)\nmessage("found: ${taper_FOUND}")\n' "$1" \
        >"$scratch/wants/CMakeLists.txt"
    found=$("$cmake" -S "$scratch/wants" -B "$scratch/wants/build" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$cc" 2>&1 | sed -n 's/^found: //p')
    [ "$found" = "$2" ] || { echo "FAILED find_package(taper $1): found $found, wanted $2"; exit 1; }
    passed=$((passed + 1))
}
wanted "$version" 1
wanted "${interface%.*}.$((${interface##*.} + 1))" 0
if command -v pkg-config >/dev/null; then
    export PKG_CONFIG_PATH="$pc"
    # shellcheck disable=SC2046
    "$cc" -std=c99 -Wall -Wextra -Werror "$source/examples/run_model.c" $(pkg-config --cflags --libs taper) -o "$scratch/shared"
    same "$scratch/shared" "pkg-config, shared"
    # shellcheck disable=SC2046
    "$cc" -std=c99 "$source/examples/run_model.c" $(pkg-config --cflags taper) "$libraries/libtaper.a" \
        $(pkg-config --static --libs-only-l taper | sed 's/-ltaper//') -o "$scratch/static"
    same "$scratch/static" "pkg-config, static"
    # Links a static program, if the C library and zlib are available as static libraries.
    printf 'int main(void) { return 0; }\n' >"$scratch/empty.c"
    if "$cc" -static "$scratch/empty.c" -lz -lm -o "$scratch/empty" 2>/dev/null; then
        # shellcheck disable=SC2046
        "$cc" -static -std=c99 "$source/examples/run_model.c" $(pkg-config --static --cflags --libs taper) -o "$scratch/whole" 2>"$scratch/log" ||
            { cat "$scratch/log"; exit 1; }
        same "$scratch/whole" "pkg-config, with all libraries static"
    fi
    echo "$passed passed, 0 failed"
else
    echo "SKIPPED: no pkg-config"
    echo "$passed passed, 0 failed, 2 skipped"
fi
