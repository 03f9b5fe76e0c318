#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# apple.sh OUT: packs the xcframework with the Swift package and the pods as an archive in OUT. scripts/apple/build.sh makes and checks
# them. Without Xcode, clang and zig make the same files, but a release contains the files that Xcode makes. Exit status 77 if neither
# is installed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: apple.sh OUT}"
out=$(cd "$1" && pwd)
work=$root/build/apple
# If the machine has neither Xcode nor zig, the script fails before anything is built.
if ! command -v xcrun >/dev/null; then
    why=$("$root/scripts/apple/zig.sh" 2>&1 >/dev/null) || { status=$?; echo "$why"; exit $status; }
fi
# size.sh asks a program of this machine which operators a library for one model needs.
if [ ! -x "$root/build/bin/taper" ]; then
    BUILD=$root/build/release-work/apple-host
    export BUILD
    mkdir -p "$BUILD"
    cmake -S "$root" -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTAPER_TOOLS_PICTURES=OFF -DTAPER_WITH_VULKAN=OFF -DTAPER_BUILD_TESTS=OFF \
        -DTAPER_BUILD_BENCH=OFF >"$BUILD/configure.log"
    cmake --build "$BUILD" -j "${JOBS:-2}" --target taper_program >"$BUILD/build.log"
fi
"$root/scripts/apple/build.sh" "$work"
command -v xcrun >/dev/null || echo "checked: made with clang and zig, without Xcode"
echo "checked: every slice by check_macho.py, the package by tests/apple/package_test.py"
cp "$work/package/package.zip" "$out/taper-apple-$("$root/scripts/release/version.sh").zip"
