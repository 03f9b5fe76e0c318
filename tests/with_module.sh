#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# with_module.sh PYTHON MODULE SCRIPT ARGUMENT…: runs the script, or says that it is skipped (exit 77) where Python has no such module.
python=$1 module=$2
shift 2
if ! "$python" -c "import importlib.util, sys; sys.exit(importlib.util.find_spec('$module') is None)"; then
    echo "SKIPPED: $(basename "$1") needs Python's $module (Debian: python3-$module)"
    exit 77
fi
exec "$python" "$@"
