#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# apple.sh OUT: the xcframework with the Swift package and the pods around it, as an archive in OUT. scripts/apple/build.sh makes and checks
# them. Exit status 77 where neither Xcode nor zig is here.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: apple.sh OUT}"
out=$(cd "$1" && pwd)
work=$root/build/apple
"$root/scripts/apple/build.sh" "$work"
echo "checked: every slice by check_macho.py, the package by tests/apple/package_test.py"
cp "$work/package/package.zip" "$out/taper-apple-$("$root/scripts/release/version.sh").zip"
