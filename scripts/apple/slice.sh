#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# slice.sh SLICE FOLDER [options of cmake]: builds the static library for one slice of Apple's systems (ios-arm64, ios-arm64-simulator,
# ios-x86_64-simulator, macos-arm64, macos-x86_64) in FOLDER, with Xcode's compiler and SDK if xcrun exists. Without it clang compiles for
# phones, with the headers of Apple's C library that come with zig (zig.sh), and zig compiles and links for macOS. TAPER_TARGETS: targets to
# build instead of the library. Exit status 77 if neither is installed.
set -eu
slice=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/scripts/apple
# The oldest supported systems: iOS 12 on phones. On arm64 the simulator exists since iOS 14, and macOS since version 11.
case $slice in
ios-arm64) sdk=iphoneos target=arm64-apple-ios${IOS_DEPLOYMENT_TARGET:-12.0} ;;
ios-arm64-simulator) sdk=iphonesimulator target=arm64-apple-ios14.0-simulator ;;
ios-x86_64-simulator) sdk=iphonesimulator target=x86_64-apple-ios${IOS_DEPLOYMENT_TARGET:-12.0}-simulator ;;
macos-arm64) sdk=macosx target=arm64-apple-macos11.0 ;;
macos-x86_64) sdk=macosx target=x86_64-apple-macos11.0 ;;
*)
    echo "$slice is no slice: ios-arm64, ios-arm64-simulator, ios-x86_64-simulator, macos-arm64 and macos-x86_64 are" >&2
    exit 2 ;;
esac

if command -v xcrun >/dev/null; then
    sysroot=$(xcrun --sdk $sdk --show-sdk-path)
    compiler="$(xcrun --sdk $sdk --find clang);-target;$target;-isysroot;$sysroot"
    set -- -DTAPER_WARNINGS_AS_ERRORS=OFF "$@" # Xcode's compiler may have unknown warnings, so warnings are no errors
    ar=$(xcrun --sdk $sdk --find ar) ranlib=$(xcrun --sdk $sdk --find ranlib) tool=$(xcrun --sdk $sdk --find install_name_tool)
else
    for tool in clang llvm-ar llvm-ranlib; do
        command -v $tool >/dev/null || {
            echo "neither xcrun nor $tool is here: Xcode, or clang and llvm, with which to build for $slice" >&2
            exit 1
        }
    done
    zig=$("$here/zig.sh")
    # This folder takes the place of an SDK: it has zig's headers, and the list of symbols that the system's zlib exports.
    sysroot=$root/build/apple/sysroot
    mkdir -p "$sysroot/usr/lib"
    ln -sfn "$zig/lib/libc/include/any-darwin-any" "$sysroot/usr/include"
    cp "$here/libz.tbd" "$sysroot/usr/lib"
    tool=$(command -v llvm-install-name-tool llvm-install-name-tool-14 true | head -n 1)
    ZIG_GLOBAL_CACHE_DIR=$root/build/zig-cache ZIG_LOCAL_CACHE_DIR=$root/build/zig-cache
    export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
    case $slice in
    macos-*)
        compiler="$here/zig-cc;$zig/zig;-target;$(echo "$target" | sed 's/^arm64/aarch64/; s/-apple-macos/-macos./')" ;;
    *)
        compiler="$(command -v clang);-target;$target;-isysroot;$sysroot"
        # The headers declare functions of a type that older clangs lack on x86. No code of Taper calls these functions.
        echo '_Float16 x;' | clang -target "$target" -x c -fsyntax-only - 2>/dev/null || compiler="$compiler;-D_Float16=short" ;;
    esac
    ar=$(command -v llvm-ar) ranlib=$(command -v llvm-ranlib)
fi
# CMake keeps the first compiler it saw, so a folder of another slice or compiler is emptied.
made="$slice $compiler"
[ ! -e "$folder/slice" ] || [ "$(cat "$folder/slice")" = "$made" ] || find "$folder" -mindepth 1 -delete
echo "$made" >"$folder/slice"
cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$here/toolchain.cmake" -DTAPER_APPLE_SLICE="$slice" -DTAPER_APPLE_CC="$compiler" \
    -DTAPER_APPLE_AR="$ar" -DTAPER_APPLE_RANLIB="$ranlib" -DTAPER_APPLE_INSTALL_NAME_TOOL="$tool" -DTAPER_APPLE_SYSROOT="$sysroot" \
    -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_PROFILE=lean -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_BENCH=OFF -DTAPER_TOOLS_PICTURES=OFF \
    -DTAPER_WITH_LAPACK=OFF -DCMAKE_INSTALL_NAME_DIR=@rpath -DCMAKE_BUILD_WITH_INSTALL_NAME_DIR=ON "$@" >"$folder/configure.log" 2>&1 || {
    tail -n 20 "$folder/configure.log"
    exit 1
}
# shellcheck disable=SC2086
cmake --build "$folder" -j "${JOBS:-2}" --target ${TAPER_TARGETS:-taper} >"$folder/build.log" 2>&1 || {
    grep -E 'error|warning' "$folder/build.log" || tail -n 20 "$folder/build.log"
    exit 1
}
if grep -E 'warning:' "$folder/build.log" && ! command -v xcrun >/dev/null; then
    echo "compiling or linking for $slice warns" >&2
    exit 1
fi
