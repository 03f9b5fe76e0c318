#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# version.sh [--tag TAG] [FOLDER]: prints the version, which CMakeLists.txt defines. With --tag it fails unless TAG is vVERSION and
# CHANGELOG.md lists that version as released. FOLDER is accepted because release.py passes it to every script; nothing is written
# to it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^project(taper VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[ -n "$version" ] || { echo "CMakeLists.txt has no project(taper VERSION …)" >&2; exit 1; }
if [ "${1:-}" = --tag ]; then
    tag=${2:?usage: version.sh [--tag TAG] [FOLDER]}
    if [ "$tag" != "v$version" ]; then
        echo "the tag is $tag and CMakeLists.txt has version $version: the tag of this version is v$version" >&2
        exit 1
    fi
    if grep -q "^## $version, not yet released" "$root/CHANGELOG.md"; then
        echo "CHANGELOG.md says that $version is not yet released: give it a date before the tag" >&2
        exit 1
    fi
fi
echo "$version"
