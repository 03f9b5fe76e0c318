#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers_test.sh INCLUDE CC: checks that every public header compiles alone, as C99 and as C++11, without a warning.
# arguments_test.c or another test named below must call each function of the headers. A host can get warnings about
# experimental functions.
include=$1 cc=$2
calls=$(dirname "$0")
passed=0 failed=0 skipped=0
check() { # check LANGUAGE STANDARD HEADER: compiles a file that only includes the header
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
# warned WANTED HEADER CALL [WORD]: compiles CALL with HEADER, and checks that WANTED warnings contain WORD (default: experimental)
warned() {
    count=$(printf '#include <taper/%s>\nvoid f(void);\nvoid f(void) { (void)%s; }\n' "$2" "$3" |
        "$cc" -x c -std=c99 -I"$include" -fsyntax-only '-DTAPER_EXPERIMENTAL=__attribute__((deprecated("experimental")))' - 2>&1 |
        grep -c "warning:.*${4:-experimental}")
    if [ "$count" -eq "$1" ]; then
        passed=$((passed + 1))
    else
        echo "FAILED $3: $count warnings, wanted $1"
        failed=$((failed + 1))
    fi
}
warned 0 taper.h 'taper_session_run(0, 0, 0, 0, 0, 0)'
warned 0 taper_compile.h 'taper_draft_optimize(0, 0, 0)'
warned 1 taper_compile.h 'taper_calibrator_sqnr(0)'
warned 1 taper_inspect.h 'taper_inspect_plan_count(0)'
warned 1 taper_archive.h 'taper_archive_reader_count(0)'
warned 1 taper_gradient.h 'taper_session_record(0, 0, 0)'
warned 1 taper_memory.h 'taper_context_trim(0)'
warned 1 taper.h 'taper_model_trains(0)' 'call taper_model_uses_training'
warned 1 taper.h 'taper_cpu_set(0, 0)' 'call taper_instruction_set'
warned 0 taper_app.h 'taper_model_open(0, 0, 0, 0, 0)'
for function in $(awk '/^TAPER_API/ { open = 1 } open { print } /;/ { open = 0 }' "$include"/taper/*.h | grep -o '\btaper_[a-z0-9_]*(' | sort -u); do
    if grep -q "\b$function" "$calls"/arguments_test.c "$calls"/archive_test.c "$calls"/generators_test.c "$calls"/host_gradients_test.c; then
        passed=$((passed + 1))
    else
        echo "FAILED arguments_test.c does not call $function NULL...)"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
