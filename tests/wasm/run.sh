#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh FOLDER PROGRAM TEST [arguments]: runs a test, a script of sh or of Node.js, if the folder was built and the program is installed,
# otherwise exits with status 77.
set -eu
folder=$1 program=$2 test=$3
shift 3
if [ ! -e "$folder" ]; then
    echo "SKIPPED: $folder was not built: WebAssembly needs Emscripten (package emscripten)"
    exit 77
fi
for tool in node "$program"; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: $tool is not there"; exit 77; }
done
case $test in
*.sh) exec sh "$test" "$@" ;;
*) exec node "$test" "$@" ;;
esac
