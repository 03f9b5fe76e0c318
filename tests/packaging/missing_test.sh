#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# missing_test.sh CMAKE SOURCE CC GENERATOR MAKE: simulates, for one library after the other, a machine without the library's
# headers. CMake must stop, and name the package with the header and the option that omits the library.
set -eu
cmake=$1 source=$2 cc=$3 generator=$4 make=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0

# without PACKAGE WORDS…: the error must contain all of the words.
without() {
    package=$1
    shift
    if "$cmake" -S "$source" -B "$scratch/build" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_C_COMPILER="$cc" -DTAPER_CPU_LEVELS=scalar \
        -DTAPER_WITH_VULKAN=OFF -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_BENCH=OFF "-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON" >"$scratch/log" 2>&1; then
        echo "FAILED: CMake goes on without $package"
        exit 1
    fi
    said=$(tr -s ' \n' ' ' <"$scratch/log") # joins the lines of the message, which CMake wraps
    for words in "$@"; do
        case $said in
        *"$words"*) passed=$((passed + 1)) ;;
        *)
            echo "FAILED: without $package CMake does not say \"$words\": $said"
            exit 1 ;;
        esac
    done
    rm -rf "$scratch/build"
}
without ZLIB "ZLIB is missing" zlib1g-dev zlib-devel -DTAPER_WITH_ZLIB=OFF
without PNG "PNG is missing" libpng-dev -DTAPER_TOOLS_PICTURES=OFF
without JPEG "JPEG is missing" libjpeg-dev -DTAPER_TOOLS_PICTURES=OFF
echo "$passed passed, 0 failed"
