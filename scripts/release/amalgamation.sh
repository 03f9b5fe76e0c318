#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# amalgamation.sh OUT: packs the library as one source and one header, with the licence, as an archive in OUT. scripts/amalgamate.py writes both files; the compiler checks the source without writing code. Exit status 77 if python3, CMake or a C compiler is missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: amalgamation.sh OUT}"
out=$(cd "$1" && pwd)
for tool in python3 cmake ninja cc; do
    command -v $tool >/dev/null || { echo "SKIPPED: the one source is made with $tool, which is not here"; exit 77; }
done
name=taper-$("$root/scripts/release/version.sh")-amalgamation
work=$root/build/release-work/amalgamation
rm -rf "$work"
mkdir -p "$work/$name"
python3 "$root/scripts/amalgamate.py" "$work"
cc -O2 -fsyntax-only "$work/taper.c"
echo "checked: cc -fsyntax-only; the test package_amalgamation compares its results"
cp "$work/taper.c" "$work/taper.h" "$root/LICENSE" "$work/$name"
(cd "$work" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-1764028800}" -cf - "$name") | gzip -n >"$out/$name.tar.gz"
