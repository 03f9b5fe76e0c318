#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers.sh FOLDER: copies the C headers and those of the C++ binding to FOLDER, with the pods' own headers in every spelling that apps
# use.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1"
cp -R "$root/bindings/cpp/include/." "$1"
cp -R "$root/include/taper" "$1"
# A program for this machine writes the C++ headers of the operators.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$1/taper/cpp/generated"
"${TAPER_HOST_CC:-cc}" -O1 -I"$root/src" -o "$scratch/make_operators" "$root/bindings/cpp/make_operators.c"
"$scratch/make_operators" "$1/taper/cpp/generated/methods.inc" "$1/taper/cpp/generated/functions.h" \
    "$1/taper/cpp/generated/vision.h" "$1/taper/cpp/generated/spaces.h"
# If the file system ignores case, every spelling opens the one header, and no copies are needed.
[ ! -e "$1/LIBTORCH.H" ] || exit 0
sed -n '/^foreach(spelling/,/)$/p' "$root/bindings/cpp/CMakeLists.txt" | tr ' ()' '\n\n\n' | grep '\.h$' | while read -r spelling; do
    mkdir -p "$1/$(dirname "$spelling")"
    printf '/* SPDX-License-Identifier: BSD-2-Clause */\n#include <taper/cpp/all.h>\n' >"$1/$spelling"
done
