#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# demo_test.sh CMAKE SOURCE CC GENERATOR MAKE: builds the program as `./dev demo` does, with the operators of two networks and little else, and
# runs both networks. The compiler optimizes little, because the test only looks for errors.
set -eu
cmake=$1 source=$2 cc=$3 generator=$4 make=$5
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=$scratch/build

run() {
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        echo "FAILED: $*"
        exit 1
    }
}
run "$cmake" -S "$source" --preset demo -B "$build" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O1
run "$cmake" --build "$build" --target taper_program --parallel 2
demo=$source/examples/demo
run "$build/bin/taper" classify "$demo/classifier.ptl" "$demo/images/forest.jpg" --top 1
grep -q '%' "$scratch/log" || {
    cat "$scratch/log"
    echo "FAILED: no class for the picture"
    exit 1
}
run "$build/bin/taper" segment "$demo/segmenter.ptl" "$demo/images/lake.jpg" -o "$scratch/lake.png"
test -s "$scratch/lake.png"
echo "4 passed, 0 failed"
