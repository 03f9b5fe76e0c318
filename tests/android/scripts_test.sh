#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scripts_test.sh: checks that without an NDK the build scripts say what is missing, and that they refuse an unknown
# ABI.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset ANDROID_NDK ANDROID_SYSROOT
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

refused "ANDROID_NDK is not set" env BUILD_ROOT="$scratch/a" sh "$root/scripts/build_android.sh" -DBUILD_BINARY=ON
refused "ANDROID_NDK is not set" bash "$root/scripts/build_pytorch_android.sh" x86
for script in build_android.sh build_pytorch_android.sh; do
    refused "is no NDK: it has no source.properties" env ANDROID_NDK="$scratch" BUILD_ROOT="$scratch/a" bash "$root/scripts/$script"
    refused "there is no folder /nonexistent" env ANDROID_SYSROOT=/nonexistent BUILD_ROOT="$scratch/a" bash "$root/scripts/$script"
done
refused "neither ANDROID_NDK nor ANDROID_SYSROOT" sh "$root/scripts/android/library.sh" arm64-v8a "$scratch/b"
refused "mips is no ABI of Android" sh "$root/scripts/android/library.sh" mips "$scratch/c"
refused "android.toolchain.cmake" env ANDROID_NDK="$scratch" sh "$root/scripts/android/library.sh" x86 "$scratch/d"
mkdir "$scratch/bin"
for tool in sh dirname mkdir; do
    ln -s "$(command -v $tool)" "$scratch/bin/$tool"
done
refused "there is no glslc" env PATH="$scratch/bin" ANDROID_NDK="$scratch" sh "$root/scripts/android/build.sh" "$scratch/e"
refused "SKIPPED" sh "$root/scripts/android/apps.sh" "$scratch"
echo "this is no library" >"$scratch/no.so"
refused "is no little-endian ELF file" "$root/scripts/android/check_library.py" "$scratch/no.so"
head -c 100 "$root/README.md" | { printf '\177ELF\002\001'; cat; } >"$scratch/short.so"
refused "FAILED" "$root/scripts/android/check_library.py" "$scratch/short.so"
echo "$passed passed, $failed failed"
exit $((failed != 0))
