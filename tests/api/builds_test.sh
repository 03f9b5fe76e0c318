#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# builds_test.sh CMAKE SOURCE: checks that BUILD_SHARED_LIBS decides which library is built, installed, and linked by examples/. Two
# builds of two copies of the tree, in two folders, must be equal to the last byte.
set -eu
cmake=$1 source=$2
command -v ninja >/dev/null || { echo "SKIPPED: no ninja"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
model="$source/examples/demo/classifier.ptl"
passed=0

logged() {
    "$@" >"$scratch/log" 2>&1 || { tail -n 40 "$scratch/log"; exit 1; }
}
# build TREE SHARED: builds the tree in TREE/build-it and installs it in TREE/installed
build() {
    logged "$cmake" -S "$1/taper" -B "$1/build-it" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -g -DNDEBUG" -DTAPER_CPU_LEVELS=scalar \
        -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_VULKAN=OFF -DTAPER_WITH_PYTHON=OFF -DBUILD_SHARED_LIBS="$2"
    logged "$cmake" --build "$1/build-it" -j "${JOBS:-2}"
    rm -rf "$1/installed"
    logged "$cmake" --install "$1/build-it" --prefix "$1/installed"
}
# use PREFIX RUNTIME: builds and runs a program that links taper::runtime, which must be the library RUNTIME
use() {
    rm -rf "$scratch/use"
    mkdir "$scratch/use"
    cp "$source/examples/run_model.c" "$scratch/use"
    printf 'cmake_minimum_required(VERSION 3.16)\nproject(use LANGUAGES C)\nfind_package(taper REQUIRED COMPONENTS %s)\nadd_executable(use run_model.c)\ntarget_link_libraries(use taper::runtime)\n' \
        "$2" >"$scratch/use/CMakeLists.txt"
    logged "$cmake" -S "$scratch/use" -B "$scratch/use/build" -G Ninja -DCMAKE_PREFIX_PATH="$1"
    logged "$cmake" --build "$scratch/use/build"
    "$scratch/use/build/use" "$model" | grep '^output: 1 x 20'
    passed=$((passed + 1))
}
absent() {
    found=$(find "$1" -name "$2")
    [ -z "$found" ] || { echo "FAILED: $found is installed"; exit 1; }
    passed=$((passed + 1))
}

mkdir -p "$scratch/one/taper" "$scratch/elsewhere/two"
(cd "$source" && tar -cf - CMakeLists.txt LICENSE README.md CHANGELOG.md SECURITY.md cmake src include tools bindings docs examples) |
    tar -xf - -C "$scratch/one/taper"
cp -r "$scratch/one/taper" "$scratch/elsewhere/two/taper"
build "$scratch/one" ON
build "$scratch/elsewhere/two" ON
(cd "$scratch/one/installed" && find . -type f | sort >"$scratch/files")
[ "$(wc -l <"$scratch/files")" -gt 100 ] || { echo "FAILED: there is little installed"; exit 1; }
while read -r file; do
    cmp "$scratch/one/installed/$file" "$scratch/elsewhere/two/installed/$file" || { echo "FAILED: two builds differ"; exit 1; }
done <"$scratch/files"
passed=$((passed + 1))
absent "$scratch/one/installed" 'libtaper*.a'
use "$scratch/one/installed" shared

build "$scratch/one" OFF
absent "$scratch/one/installed" 'libtaper*.so*'
use "$scratch/one/installed" static
"$scratch/one/installed/bin/taper" version
echo "$passed passed, 0 failed"
