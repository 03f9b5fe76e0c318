#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# package_test.sh CMAKE BUILD SOURCE CXX GENERATOR MAKE: installs the library into a scratch folder and builds examples/cpp/HelloWorld with
# it by find_package(Torch); the program reports wrong arguments by name. After that, the project in package/ finds and links the library
# in all the ways that projects use.
set -eu
cmake=$1 build=$2 source=$3 cxx=$4 generator=$5 make=$6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --prefix "$scratch/usr" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
mkdir "$scratch/moved"
mv "$scratch/usr" "$scratch/moved/usr" # the installed tree is moved, because no installed file may contain the path of its folder
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
# A project can name the folder by CMAKE_PREFIX_PATH, like Python's torch.utils.cmake_prefix_path, or by Torch_DIR.
passed=5
for folder in "CMAKE_PREFIX_PATH=$scratch/moved/usr/share/cmake" "CMAKE_PREFIX_PATH=$scratch/moved/usr"; do
    rm -rf "$scratch/habits"
    "$cmake" -S "$source/tests/cpp/package" -B "$scratch/habits" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" "-D$folder" \
        -DCMAKE_CXX_COMPILER="$cxx" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
    passed=$((passed + 1))
done
"$cmake" --build "$scratch/habits" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
for program in "$scratch"/habits/habit?; do
    "$program" || { echo "FAILED: $program gives another result"; exit 1; }
    passed=$((passed + 1))
done
"$cmake" -S "$source/tests/cpp/package" -B "$scratch/direct" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_CXX_COMPILER="$cxx" \
    -DTorch_DIR="$scratch/moved/usr/share/cmake/Torch" -DCaffe2_DIR="$scratch/moved/usr/share/cmake/Caffe2" \
    -DTorchVision_DIR="$scratch/moved/usr/share/cmake/TorchVision" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
echo "$((passed + 1)) passed, 0 failed"
