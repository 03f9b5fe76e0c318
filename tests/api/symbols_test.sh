#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# symbols_test.sh INCLUDE LIBRARY: the shared library exports every function of the public headers and nothing else.
command -v nm >/dev/null || { echo "SKIPPED: no nm"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nm -D --defined-only "$2" | sed 's/.* //; s/@.*//' | grep -vxE '_init|_fini|_edata|_end|__bss_start' | sort -u >"$scratch/exported"
cat "$1"/taper/*.h | grep -v '^#' | tr '\n' ' ' | grep -oE 'TAPER_API[^;(]*\(' | sed -E 's/.*[ *](taper_[a-z0-9_]+)\($/\1/' | sort -u >"$scratch/declared"
if ! cmp -s "$scratch/exported" "$scratch/declared"; then
    echo "exported but not declared:" $(comm -23 "$scratch/exported" "$scratch/declared")
    echo "declared but not exported:" $(comm -13 "$scratch/exported" "$scratch/declared")
    exit 1
fi
echo "$(wc -l <"$scratch/declared") functions"
