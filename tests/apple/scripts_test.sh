#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts_test.sh: tests which arguments the scripts for Apple's systems refuse, and that they use an SDK's compiler if xcrun exists. The
# test's xcrun is a stand-in for Xcode's that calls clang.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

# refused WORDS COMMAND…: checks that the command fails and that its message has these words.
refused() {
    words=$1
    shift
    if "$@" >"$scratch/out" 2>&1; then
        echo "FAILED  $* should fail"
        failed=$((failed + 1))
    elif ! grep -qF -- "$words" "$scratch/out"; then
        echo "FAILED  $* does not say \"$words\":"
        cat "$scratch/out"
        failed=$((failed + 1))
    else
        passed=$((passed + 1))
    fi
}

holds() {
    if "$@"; then
        passed=$((passed + 1))
    else
        echo "FAILED  $*"
        failed=$((failed + 1))
    fi
}

ios="$root/scripts/build_ios.sh"
refused "IOS_ARCH=armv7" env IOS_ARCH=armv7 BUILD_ROOT="$scratch/a" bash "$ios"
refused "IOS_ARCH=arm64e" env IOS_ARCH="arm64;arm64e" BUILD_ROOT="$scratch/a" bash "$ios"
refused "no phone has it" env IOS_ARCH=x86_64 BUILD_ROOT="$scratch/a" bash "$ios"
refused "OS or SIMULATOR" env IOS_PLATFORM=WATCH BUILD_ROOT="$scratch/a" bash "$ios"
refused "watchos-arm64 is no slice" sh "$root/scripts/apple/slice.sh" watchos-arm64 "$scratch/b"
if ! command -v xcrun >/dev/null; then
    refused "there is no zig in $scratch/none" env TAPER_ZIG="$scratch/none" sh "$root/scripts/apple/slice.sh" ios-arm64 "$scratch/c"
    refused "there is no zig in $scratch/none" env TAPER_ZIG="$scratch/none" BUILD_ROOT="$scratch/a" bash "$ios"
fi
echo "- aten::no_such_operator" >"$scratch/ops.yaml"
refused "no_such_operator" env SELECTED_OP_LIST="$scratch/ops.yaml" BUILD_ROOT="$scratch/a" bash "$ios"

# ---- the headers, in all spellings

sh "$root/scripts/apple/headers.sh" "$scratch/include"
for header in torch/script.h torch/csrc/jit/mobile/import.h LibTorch-Lite.h LibTorch-Lite/LibTorch-Lite.h Libtorch-Lite/Libtorch-Lite.h \
    LibTorch-Lite-Nightly/LibTorch-Lite.h Libtorch-Lite-Nightly/Libtorch-Lite.h LibTorch/LibTorch.h Libtorch/Libtorch.h taper/taper.h; do
    holds [ -e "$scratch/include/$header" ]
done

# ---- with an SDK

if command -v clang >/dev/null && command -v llvm-ar >/dev/null && command -v llvm-ranlib >/dev/null && ! command -v xcrun >/dev/null; then
    mkdir -p "$scratch/bin" "$scratch/sdk/usr/include" "$scratch/sdk/usr/lib"
    echo "int pthread_create(void), pthread_detach(void), pthread_cancel(void), pthread_join(void), pthread_atfork(void);" \
        >"$scratch/sdk/usr/include/pthread.h"
    echo '#define ZLIB_VERSION "1.2.12"' >"$scratch/sdk/usr/include/zlib.h"
    cat >"$scratch/bin/xcrun" <<END2
#!/bin/sh
echo "\$*" >>"$scratch/asked"
case "\$*" in
*--show-sdk-path) echo "$scratch/sdk" ;;
*"--find clang") command -v clang ;;
*"--find install_name_tool") command -v true ;;
*"--find "*) command -v "llvm-\${4}" ;;
esac
END2
    chmod +x "$scratch/bin/xcrun"
    for slice in ios-arm64 ios-arm64-simulator ios-x86_64-simulator; do
        holds env PATH="$scratch/bin:$PATH" TAPER_TARGETS=generated/ops/list/op_table.inc sh "$root/scripts/apple/slice.sh" $slice "$scratch/$slice"
    done
    holds grep -q -- "--sdk iphoneos --show-sdk-path" "$scratch/asked"
    holds grep -q -- "--sdk iphonesimulator --show-sdk-path" "$scratch/asked"
    holds grep -q -- "-target arm64-apple-ios12.0 -isysroot $scratch/sdk" "$scratch/ios-arm64/CMakeFiles/rules.ninja"
    holds grep -q -- "-target arm64-apple-ios14.0-simulator" "$scratch/ios-arm64-simulator/CMakeFiles/rules.ninja"
    holds grep -q -- "-mavx2" "$scratch/ios-x86_64-simulator/build.ninja"
    holds grep -q -- "-march=armv8.2-a+dotprod" "$scratch/ios-arm64/build.ninja"
else
    echo "SKIPPED: an SDK's compiler: there is no clang or llvm here to stand in"
fi
echo "$passed passed, $failed failed"
exit $((failed != 0))
