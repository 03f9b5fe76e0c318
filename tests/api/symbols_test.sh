#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# symbols_test.sh INCLUDE LIBRARY VERSION: checks that the shared library exports every function of the public headers and nothing
# else, with this symbol version ("" for none).
command -v nm >/dev/null || { echo "SKIPPED: no nm"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -n "$3" ]; then
    without=$(nm -D --defined-only --with-symbol-versions "$2" | grep ' taper_' | grep -v "@@$3\$") && { echo "not of version $3:"; echo "$without"; exit 1; }
fi
nm -D --defined-only "$2" | sed 's/.* //; s/@.*//' | grep -vx "$3" | grep -vxE '_init|_fini|_edata|_end|__bss_start' | sort -u >"$scratch/exported"
cat "$1"/taper/*.h | grep -v '^#' | tr '\n' ' ' | grep -oE 'TAPER_API[^;(]*\(' | sed -E 's/.*[ *](taper_[a-z0-9_]+)\($/\1/' | sort -u >"$scratch/declared"
if ! cmp -s "$scratch/exported" "$scratch/declared"; then
    echo "exported but not declared:" $(comm -23 "$scratch/exported" "$scratch/declared")
    echo "declared but not exported:" $(comm -13 "$scratch/exported" "$scratch/declared")
    exit 1
fi
echo "$(wc -l <"$scratch/declared") functions"
