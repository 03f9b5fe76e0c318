#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers_test.sh INCLUDE CC: every public header compiles alone, as C99 and as C++11, without a warning.
include=$1 cc=$2
passed=0 failed=0 skipped=0
check() { # language, standard, header
    if printf '#include <taper/%s>\n' "$3" |
        "$cc" -x "$1" -std="$2" -Wall -Wextra -Wpedantic -pedantic-errors -Werror -I"$include" -fsyntax-only -; then
        passed=$((passed + 1))
    else
        echo "FAILED $3 as $2"
        failed=$((failed + 1))
    fi
}
for path in "$include"/taper/*.h; do
    header=$(basename "$path")
    check c c99 "$header"
    if printf 'int x;\n' | "$cc" -x c++ -fsyntax-only - 2>/dev/null; then
        check c++ c++11 "$header"
    else
        echo "SKIPPED $header as C++: the compiler has no C++ (package g++)"
        skipped=$((skipped + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
