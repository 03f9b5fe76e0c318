#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# debian.sh [--binary] OUT: makes Debian's packages for this machine and their source package, in OUT. scripts/debian.sh makes them and
# checks them with lintian. --binary omits the source package, which another machine's job makes under the same names. Exit status 77 if
# Debian's tools are missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
source=1
if [ "${1:-}" = --binary ]; then
    source=0
    shift
fi
mkdir -p "${1:?usage: debian.sh [--binary] OUT}"
out=$(cd "$1" && pwd)
work=$root/build/release-work/debian
"$root/scripts/debian.sh" "$work"
echo "checked: lintian without errors"
for file in "$work"/*.deb "$work"/*.dsc "$work"/*.tar.*; do
    case $file in
    *-dbgsym_*) continue ;;
    *.dsc | *.tar.*) [ $source = 1 ] || continue ;;
    esac
    cp "$file" "$out"
done
