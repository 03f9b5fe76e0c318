#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# debian.sh OUT: Debian's packages for this machine and their source package, in OUT. scripts/debian.sh makes them and lets lintian look at
# them. Exit status 77 where Debian's tools are not here.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: debian.sh OUT}"
out=$(cd "$1" && pwd)
work=$root/build/release-work/debian
"$root/scripts/debian.sh" "$work"
echo "checked: lintian without errors"
find "$work" -maxdepth 1 -type f \( -name '*.deb' -o -name '*.dsc' -o -name '*.tar.*' \) ! -name '*-dbgsym_*' -exec cp {} "$out" \;
