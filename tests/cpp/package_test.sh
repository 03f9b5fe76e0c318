#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# package_test.sh CMAKE BUILD SOURCE CXX GENERATOR MAKE: installs the library into a scratch folder and builds examples/cpp/HelloWorld with
# it by find_package(Torch); the program reports wrong arguments by name.
set -eu
cmake=$1 build=$2 source=$3 cxx=$4 generator=$5 make=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/usr" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
mkdir "$scratch/moved"
mv "$scratch/usr" "$scratch/moved/usr" # nothing in it knows where it was
"$cmake" -S "$source/examples/cpp/HelloWorld" -B "$scratch/hello" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" \
    -DCMAKE_PREFIX_PATH="$scratch/moved/usr" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release >"$scratch/log" 2>&1 ||
    { cat "$scratch/log"; exit 1; }
"$cmake" --build "$scratch/hello" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
status=0
"$scratch/hello/hello_world" "$scratch/absent.pt" x y 2>"$scratch/said" || status=$?
cat "$scratch/said"
[ $status -eq 1 ] && grep -q "^hello_world: .*absent.pt" "$scratch/said" || { echo "FAILED: hello_world ended in $status"; exit 1; }
for spelling in Libtorch-Lite/Libtorch-Lite.h LibTorch-Lite/LibTorch-Lite.h LibTorch/LibTorch.h torch/script.h; do
    [ -e "$scratch/moved/usr/include/taper-torch/$spelling" ] || { echo "FAILED: $spelling is not installed"; exit 1; }
done
echo "5 passed, 0 failed"
