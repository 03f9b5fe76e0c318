#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# build_ios.sh [-D…]: builds Taper for phones or their simulator, with headers and libraries in build_ios/install/{include,lib}, where apps
# that link PyTorch Mobile from its sources look for them. It is called like PyTorch Mobile's script of this name. All code is in
# libtorch.a; the other libraries that such projects name are empty.
#
#   IOS_PLATFORM=OS | SIMULATOR   the target (OS)
#   IOS_ARCH=arm64 | x86_64       the processor, or several with semicolons (OS: arm64; SIMULATOR: both)
#   BUILD_LITE_INTERPRETER=1      omits TorchScript (.pt), so that models are .ptl; otherwise both are supported
#   SELECTED_OP_LIST=FILE         only the operators of this list: a YAML of names from torch.jit.export_opnames, or the header of
#                                 `taper ops MODEL --config`, which lists exactly the needed operators
#   USE_PYTORCH_METAL=1           with the device "metal", which needs Xcode, glslc and spirv-cross; without them models prepared for
#                                 Metal run on the CPU
#   IOS_DEPLOYMENT_TARGET         the oldest iOS (12.0)
#   BUILD_ROOT                    a folder instead of build_ios
#
# The script uses Xcode's compiler and SDK. Without xcrun the script uses clang with the headers of scripts/apple/zig.sh, which
# are enough for C.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${BUILD_ROOT:-$root/build_ios}
platform=${IOS_PLATFORM:-OS}
case $platform in
OS) archs=${IOS_ARCH:-arm64} suffix="" ;;
SIMULATOR) archs=${IOS_ARCH:-"arm64;x86_64"} suffix=-simulator ;;
*)
    echo "IOS_PLATFORM=$platform: OS or SIMULATOR" >&2
    exit 1 ;;
esac
for arch in ${archs//;/ }; do
    case $platform-$arch in
    OS-arm64 | SIMULATOR-arm64 | SIMULATOR-x86_64) ;;
    OS-x86_64)
        echo "IOS_ARCH=x86_64: no phone has it; with IOS_PLATFORM=SIMULATOR it is for the simulator" >&2
        exit 1 ;;
    *)
        echo "IOS_ARCH=$arch: arm64, or x86_64 for the simulator; since iOS 11 no phone runs code of 32 bits" >&2
        exit 1 ;;
    esac
done
options=()
if [ "${BUILD_LITE_INTERPRETER:-0}" = 1 ]; then
    options+=(-DTAPER_WITH_TORCHSCRIPT=OFF -DTAPER_WITH_PT2=OFF)
fi
if [ "${USE_PYTORCH_METAL:-0}" = 1 ]; then
    if command -v xcrun >/dev/null && command -v glslc >/dev/null && command -v spirv-cross >/dev/null; then
        options+=(-DTAPER_WITH_METAL=ON)
    else
        echo "USE_PYTORCH_METAL=1: models prepared for Metal run on the CPU (xcrun, glslc or spirv-cross is not here)"
    fi
fi
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ -n "${SELECTED_OP_LIST:-}" ]; then
    config=$folder/taper_ops.h
    if head -n 5 "$SELECTED_OP_LIST" | grep -q '^#define TAPER_USE_'; then
        cp "$SELECTED_OP_LIST" "$config.new"
    else
        python3 "$root/scripts/android/op_config.py" "$SELECTED_OP_LIST" >"$config.new"
    fi
    cmp -s "$config.new" "$config" || mv "$config.new" "$config"
    # An app with an operator list runs models that are ready, so these are omitted: other file formats, preparing
    # models, other devices, single operators.
    options+=(-DTAPER_OP_CONFIG="$config" -DTAPER_WITH_FLATBUFFER=OFF -DTAPER_WITH_PASSES=OFF)
    [ "${USE_PYTORCH_METAL:-0}" = 1 ] || options+=(-DTAPER_WITH_METAL=OFF)
    grep -q TAPER_USE_class__nnapi_Compilation "$config" || options+=(-DTAPER_WITH_NNAPI=OFF)
fi
# CMake remembers options. If the options differ from those of the last call, the build starts anew.
printf '%s\n' "$platform" "${IOS_DEPLOYMENT_TARGET:-}" "${options[@]+"${options[@]}"}" "$@" >"$folder/options.new"
if ! cmp -s "$folder/options.new" "$folder/options"; then
    rm -rf "$folder"/{arm64,x86_64}
    mv "$folder/options.new" "$folder/options"
fi

install=$folder/install
rm -rf "$install"
mkdir -p "$install/lib"
built=()
for arch in ${archs//;/ }; do
    echo "== ios-$arch$suffix"
    "$root/scripts/apple/slice.sh" "ios-$arch$suffix" "$folder/$arch" "${options[@]+"${options[@]}"}" "$@"
    built+=("$folder/$arch")
done
"$root/scripts/apple/join.py" "$install/lib" "${built[@]}"
"$root/scripts/apple/headers.sh" "$install/include"
echo "Installed: $install"
ls -l "$install/lib"
