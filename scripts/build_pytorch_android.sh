#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# build_pytorch_android.sh [ABI,ABI…]: builds AARs of the Android binding, for all four ABIs by default. It is called like PyTorch Mobile's script of
# this name and puts the AARs in the same place, android/NAME/build/outputs/aar/NAME-release.aar, and in a Maven repository, android/repository.
#
#   ANDROID_NDK               the NDK (or ANDROID_SYSROOT: see scripts/android/library.sh)
#   BUILD_LITE_INTERPRETER=1  omits TorchScript (.pt), so that models are .ptl; otherwise both are supported
#   SELECTED_OP_LIST=FILE     only the operators of this list: a YAML of names from torch.jit.export_opnames, or the header of
#                             `taper ops MODEL --config`, which lists exactly the needed operators
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/android/need_ndk.sh"
export ANDROID_ABIS="arm64-v8a armeabi-v7a x86_64 x86"
if [ $# -gt 0 ]; then
    ANDROID_ABIS=${*//,/ }
fi
options=()
if [ "${BUILD_LITE_INTERPRETER:-0}" = 1 ]; then
    options+=(-DTAPER_WITH_TORCHSCRIPT=OFF -DTAPER_WITH_PT2=OFF)
fi
work=$root/build/android-script
mkdir -p "$work" "$root/android"
if [ -n "${SELECTED_OP_LIST:-}" ]; then
    config=$work/taper_ops.h
    if head -n 5 "$SELECTED_OP_LIST" | grep -q '^#define TAPER_USE_'; then
        cp "$SELECTED_OP_LIST" "$config.new"
    else
        python3 "$root/scripts/android/op_config.py" "$SELECTED_OP_LIST" >"$config.new"
    fi
    cmp -s "$config.new" "$config" || mv "$config.new" "$config"
    # An app with an operator list runs models that are ready, so these are omitted: other file formats, preparing
    # models, other devices, single operators.
    options+=(-DTAPER_OP_CONFIG="$config" -DTAPER_WITH_FLATBUFFER=OFF -DTAPER_WITH_PASSES=OFF -DTAPER_WITH_OPERATORS=OFF -DTAPER_WITH_APP=OFF
        -DTAPER_WITH_VULKAN=OFF)
    grep -q TAPER_USE_class__nnapi_Compilation "$config" || options+=(-DTAPER_WITH_NNAPI=OFF)
fi
if [ ! -e "$root/build/CMakeCache.txt" ]; then
    cmake -S "$root" -B "$root/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_TOOLS=OFF -DTAPER_WITH_JNI=ON >/dev/null
fi
# CMake remembers options. If the options differ from those of the last call, the build starts anew.
printf '%s\n' "${options[@]+"${options[@]}"}" >"$work/options.new"
if ! cmp -s "$work/options.new" "$work/options"; then
    rm -rf "$work"/{arm64-v8a,armeabi-v7a,x86_64,x86}/CMakeCache.txt
    mv "$work/options.new" "$work/options"
fi
BUILD=$root/build "$root/scripts/android/build.sh" "$work" "${options[@]+"${options[@]}"}"
rm -rf "$root/android/repository"
cp -r "$work/repository" "$root/android/repository"
version=$(sed -n 's/^project(taper VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
for name in pytorch_android pytorch_android_torchvision; do
    mkdir -p "$root/android/$name/build/outputs/aar"
    cp "$root/android/repository/dev/taper/$name/$version/$name-$version.aar" "$root/android/$name/build/outputs/aar/$name-release.aar"
done
echo "BUILD SUCCESSFUL"
find "$root/android" -path "$root/android/repository" -prune -o -type f -name '*aar' -print | xargs ls -lah
