#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# zig.sh: prints the folder of zig, which compiles and links for macOS and has the headers of Apple's C library: TAPER_ZIG, or the Python
# wheel of this version in an environment of its own, build/zig. Exit status 77, with a reason on stderr, if it is not available.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
VERSION=0.17.1
folder=$root/build/zig
found() {
    for zig in "$folder"/lib/python3*/site-packages/ziglang; do
        [ -x "$zig/zig" ] && echo "$zig" && exit 0
    done
    return 0
}

if [ -n "${TAPER_ZIG:-}" ]; then
    [ -x "$TAPER_ZIG/zig" ] || {
        echo "TAPER_ZIG: there is no zig in $TAPER_ZIG" >&2
        exit 1
    }
    echo "$TAPER_ZIG"
    exit 0
fi
found
mkdir -p "$root/build"
rm -rf "$folder"
if python3 -m venv "$folder" >"$root/build/zig.log" 2>&1 &&
    "$folder/bin/pip" install --disable-pip-version-check -q "ziglang==$VERSION" >>"$root/build/zig.log" 2>&1; then
    found
fi
echo "SKIPPED: zig $VERSION, the Python wheel ziglang, cannot be had here:" >&2
tail -n 2 "$root/build/zig.log" >&2
rm -rf "$folder"
exit 77
