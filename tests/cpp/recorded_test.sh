#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# recorded_test.sh TEXT PROGRAM ARGUMENT…: checks that the program prints the text of the file, which PyTorch's libtorch 1.13.1 printed for the same
# source. The argument SCRATCH stands for an empty folder. To record the text anew, build the source with libtorch, as compare_text.py does, and write
# its output to the file.
set -eu
text=$1 program=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for argument; do
    shift
    [ "$argument" = SCRATCH ] && argument=$scratch
    set -- "$@" "$argument"
done
"$program" "$@" >"$scratch/printed"
if diff "$text" "$scratch/printed"; then
    echo "$(wc -l <"$text" | tr -d ' ') passed, 0 failed"
else
    echo "FAILED: < is recorded, > was printed"
    exit 1
fi
