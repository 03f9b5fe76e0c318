#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# build_ios_test.sh FOLDER TAPER: runs build_ios.sh twice with the operators of one model, as the tutorials do: once for a phone, and
# once for both processors of the simulator. Checks the contents of install/ after each run.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$1 taper=${2:-}
[ -n "$taper" ] || { echo "SKIPPED: the taper program is not built"; exit 77; }
command -v clang >/dev/null && command -v llvm-ar >/dev/null || { echo "SKIPPED: no clang or llvm here"; exit 77; }
mkdir -p "$folder"
stubs=()
if ! command -v xcrun >/dev/null; then
    zig=$(sh "$root/scripts/apple/zig.sh" 2>"$folder/zig") || { cat "$folder/zig"; exit 77; }
    stubs=(--stub "$zig/lib/libc/darwin/libSystem.tbd" --stub "$root/scripts/apple/libz.tbd")
fi
passed=0 failed=0
holds() {
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED  $*"
        failed=$((failed + 1))
    fi
}
check() { # check SLICE: checks the files that an app's project finds in build_ios/install
    holds "$root/scripts/apple/check_macho.py" --slice "$1" "${stubs[@]}" --privacy "$root/bindings/apple/PrivacyInfo.xcprivacy" \
        "$folder/install/lib/libtorch.a"
    for name in torch_cpu c10 XNNPACK pytorch_qnnpack; do
        holds "$root/scripts/apple/check_macho.py" --slice "$1" "$folder/install/lib/lib$name.a"
    done
    for header in torch/script.h torch/csrc/jit/mobile/import.h torch/csrc/jit/mobile/module.h taper/taper.h; do
        holds [ -e "$folder/install/include/$header" ]
    done
}
export BUILD_ROOT=$folder
"$taper" ops "$root/examples/demo/classifier.ptl" | sed 's/^/- /' >"$folder/model.yaml"
holds env IOS_ARCH=arm64 USE_PYTORCH_METAL=1 BUILD_LITE_INTERPRETER=1 SELECTED_OP_LIST="$folder/model.yaml" "$root/scripts/build_ios.sh"
check ios-arm64
holds grep -q "TAPER_WITH_TORCHSCRIPT:.*=OFF" "$folder/arm64/CMakeCache.txt"
holds env IOS_PLATFORM=SIMULATOR IOS_ARCH="arm64;x86_64" SELECTED_OP_LIST="$folder/model.yaml" "$root/scripts/build_ios.sh"
holds "$root/scripts/apple/check_macho.py" "${stubs[@]}" "$folder/install/lib/libtorch.a"
if command -v llvm-lipo >/dev/null || command -v llvm-lipo-14 >/dev/null; then
    lipo=$(command -v llvm-lipo llvm-lipo-14 | head -n 1)
    holds "$lipo" "$folder/install/lib/libtorch.a" -verify_arch arm64 x86_64
fi
holds grep -q "TAPER_WITH_TORCHSCRIPT:.*=ON" "$folder/arm64/CMakeCache.txt" # the script must not remember the option of its previous call
echo "$passed passed, $failed failed"
exit $((failed != 0))
