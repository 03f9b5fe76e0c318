#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# built_levels.sh LIBRARY LEVEL…: checks that the static library has a file of kernels for each of these instruction
# sets.
library=$1
shift
status=0
files=$(ar t "$library") || exit 1
for level in "$@"; do
    echo "$files" | grep -q "_$level\\.c" || { echo "$library has no kernels for $level"; status=1; }
done
[ $status = 0 ] && echo "$# instruction sets: $*"
exit $status
