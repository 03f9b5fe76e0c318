#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# macos.sh arm64|x86_64 FOLDER: compiles and links the library and the programs for macOS, with Xcode or with zig (scripts/apple/slice.sh),
# and checks the files: processor, oldest system, symbols. On a Mac with this processor it also runs the program taper on the demo's
# picture. Exit status 77 if neither compiler is available.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
processor=$1
mkdir -p "$2"
work=$(cd "$2" && pwd)
stubs=""
if ! command -v xcrun >/dev/null; then
    for tool in clang llvm-ar llvm-strip; do
        command -v $tool >/dev/null || { echo "SKIPPED: no $tool here (Debian: clang llvm)"; exit 77; }
    done
    zig=$("$root/scripts/apple/zig.sh") || { echo "SKIPPED: apt cannot get zig, and there is no Python wheel of zig here"; exit 77; }
    stubs="--stub $zig/lib/libc/darwin/libSystem.tbd --stub $root/scripts/apple/libz.tbd"
fi
TAPER_TARGETS="taper taper_shared taper_program" "$root/scripts/apple/slice.sh" "macos-$processor" "$work" -DTAPER_BUILD_TOOLS=ON
# shellcheck disable=SC2086
"$root/scripts/apple/check_macho.py" --slice "macos-$processor" --privacy "$root/bindings/apple/PrivacyInfo.xcprivacy" $stubs \
    "$work/lib/libtaper.a" "$work/lib/libtaper.dylib" "$work/bin/taper"
passed=3
if [ "$(uname -s) $(uname -m)" = "Darwin $processor" ]; then
    "$work/bin/taper" --version
    passed=$((passed + 1))
else
    echo "linked, and nothing was run: this machine is no Mac with that processor"
fi
echo "$passed passed, 0 failed"
