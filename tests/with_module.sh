#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# with_module.sh PYTHON MODULE SCRIPT ARGUMENT…: runs the script, or skips it (exit 77) if Python has no such module.
python=$1 module=$2
shift 2
if ! "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$module') is None)"; then
    echo "SKIPPED: $(basename "$1") needs Python's $module (Debian: python3-$module)"
    exit 77
fi
"$python" "$@" && exit 0
status=$?
# If a signal ended Python itself, the script runs once more. PyTorch 1.13 writes beyond its memory in rare cases of linear algebra, which
# is no fault of the test.
case $status in
134 | 139) ;; # aborted, or a segmentation fault
*) exit $status ;;
esac
echo "AGAIN: $python ended with $status while it ran $(basename "$1")"
exec "$python" "$@"
