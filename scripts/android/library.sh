#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# library.sh ABI FOLDER [options of cmake]: builds libpytorch_jni.so and its stubs for one ABI of Android (arm64-v8a, armeabi-v7a, x86_64,
# x86) in FOLDER: stripped in lib, and with symbols and line numbers for crash reports in symbols. The compiler is the NDK in ANDROID_NDK,
# or clang and lld with the headers, stubs and toolchain files in ANDROID_SYSROOT: <sysroot>/{arm64,arm,x86_64,x86}.cmake. TAPER_TARGETS:
# targets to build instead of the libraries.
set -eu
abi=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
root=$(cd "$(dirname "$0")/../.." && pwd)
case $abi in
arm64-v8a) short=arm64 ;;
armeabi-v7a) short=arm ;;
x86_64 | x86) short=$abi ;;
*)
    echo "$abi is no ABI of Android: arm64-v8a, armeabi-v7a, x86_64 and x86 are" >&2
    exit 2 ;;
esac
LDFLAGS="-Wl,--build-id=sha1 ${LDFLAGS:-}"
export CFLAGS="-gline-tables-only ${CFLAGS:-}"
if [ -n "${ANDROID_NDK:-}" ]; then
    strip=$(find "$ANDROID_NDK" -name llvm-strip -path '*/bin/*' | head -n 1)
    set -- -DCMAKE_TOOLCHAIN_FILE="$ANDROID_NDK/build/cmake/android.toolchain.cmake" -DANDROID_ABI="$abi" \
        -DANDROID_PLATFORM=android-21 -DANDROID_STL=none -DTAPER_WARNINGS_AS_ERRORS=OFF "$@"
elif [ -n "${ANDROID_SYSROOT:-}" ]; then
    sysroot=$(cd "$ANDROID_SYSROOT" && pwd)
    strip=$(command -v llvm-strip || true)
    case $abi in
    arm64-v8a) target=aarch64-linux-android21 linker=linker64 ;;
    armeabi-v7a) target=armv7a-linux-androideabi21 linker=linker ;;
    x86_64) target=x86_64-linux-android21 linker=linker64 ;;
    x86) target=i686-linux-android21 linker=linker ;;
    esac
    clang --target=$target --sysroot=/nonexistent -isystem "$sysroot/$short/include" -Os -fPIC -c "$root/scripts/android/start.c" -o "$folder/start.o"
    if [ $short = arm ]; then
        # The NDK compiles for Thumb too: many of its instructions have only two bytes, which halves the size.
        CFLAGS="-mthumb ${CFLAGS:-}"
        # clang calls functions for 64-bit divisions. If clang's own library of these functions is missing, gcc's
        # library has them under the names of ARM's ABI. Debian's armel passes arguments as Android does.
        if ! grep -q builtins "$ANDROID_SYSROOT/arm.cmake"; then
            "$root/scripts/foreign_libraries.sh" armel "$folder/armel" libgcc-12-dev
            LDFLAGS="$LDFLAGS $(find "$folder/armel/root" -name libgcc.a)"
        fi
        export CFLAGS
    fi
    set -- -DCMAKE_TOOLCHAIN_FILE="$sysroot/$short.cmake" -DCMAKE_EXE_LINKER_FLAGS="-fuse-ld=lld -nostdlib -pie \
-Wl,-dynamic-linker,/system/bin/$linker -L$sysroot/$short/lib -Wl,-z,max-page-size=16384 -Wl,--gc-sections $folder/start.o $LDFLAGS" "$@"
else
    echo "neither ANDROID_NDK nor ANDROID_SYSROOT says with what to build for $abi" >&2
    exit 1
fi
export LDFLAGS
cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_PROFILE=lean -DCMAKE_SKIP_RPATH=ON -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_TOOLS=OFF \
    -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_LAPACK=OFF -DTAPER_WITH_JNI=ON "$@" >"$folder/configure.log" 2>&1 || {
    tail -n 20 "$folder/configure.log"
    exit 1
}
# shellcheck disable=SC2086
cmake --build "$folder" -j "${JOBS:-2}" --target ${TAPER_TARGETS:-pytorch_jni pytorch_jni_lite torchvision_ops} >"$folder/build.log" 2>&1 || {
    grep -E 'error|warning' "$folder/build.log" || tail -n 20 "$folder/build.log"
    exit 1
}
# Warnings are errors only for the known compiler: an NDK's compiler may have other warnings.
if grep -E 'warning:' "$folder/build.log" && [ -z "${ANDROID_NDK:-}" ]; then
    echo "compiling or linking for $abi warns" >&2
    exit 1
fi
if [ -z "$strip" ]; then
    echo "there is no llvm-strip (Debian: llvm; it is part of an NDK)" >&2
    exit 1
fi
# The stripped library and its symbols have the same build id, by which a crash report finds its symbols.
rm -rf "$folder/symbols"
for library in "$folder"/lib/*.so; do
    [ -e "$library" ] || continue
    mkdir -p "$folder/symbols"
    cp "$library" "$folder/symbols/"
    "$strip" --strip-all "$library"
done
