#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run_java.sh JAVA [options of java] CLASS…: runs Java with JNI's checks; any output of the checks is a failure.
java=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$java" -Xcheck:jni -XX:-UsePerfData -Dfile.encoding=UTF-8 "$@" >"$out" 2>&1
status=$?
cat "$out"
if grep -E '^(WARNING|FATAL ERROR)' "$out" >/dev/null; then
    echo "FAILED: JNI's checks have found something"
    exit 1
fi
exit $status
