#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# apple.sh OUT: the xcframework with the Swift package and the pods around it, as an archive in OUT. scripts/apple/build.sh makes and checks
# them. Without Xcode clang and zig make the same files; a release has those of Xcode. Exit status 77 where neither is here.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: apple.sh OUT}"
out=$(cd "$1" && pwd)
work=$root/build/apple
"$root/scripts/apple/build.sh" "$work"
command -v xcrun >/dev/null || echo "checked: made with clang and zig, without Xcode"
echo "checked: every slice by check_macho.py, the package by tests/apple/package_test.py"
cp "$work/package/package.zip" "$out/taper-apple-$("$root/scripts/release/version.sh").zip"
