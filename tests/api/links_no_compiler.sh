#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# links_no_compiler.sh LOADS OPENS OBJECT…: checks that the program LOADS, which only calls the loads of taper.h, contains no function of
# the compiler's objects. The program OPENS, which calls taper_model_open, contains some of these functions. Both programs are linked
# with the static library.
command -v nm >/dev/null || { echo "SKIPPED: no nm"; exit 77; }
loads=$1 opens=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
functions() { nm --defined-only "$@" | sed -n 's/.* T //p' | sort -u; }
functions "$@" | grep '^taper_' >"$scratch/compiler"
functions "$loads" | comm -12 - "$scratch/compiler" >"$scratch/loads"
functions "$opens" | comm -12 - "$scratch/compiler" >"$scratch/opens"
if [ -s "$scratch/loads" ]; then
    echo "a program that only loads has these functions of the compiler:"
    cat "$scratch/loads"
    exit 1
fi
if [ ! -s "$scratch/opens" ]; then
    echo "no function of the compiler was found in the program that opens: what is compared is not what it should be"
    exit 1
fi
echo "$(wc -l <"$scratch/compiler") functions of the compiler: none in a program that loads, $(wc -l <"$scratch/opens") in one that opens"
