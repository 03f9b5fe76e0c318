#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers_test.sh SOURCE SPELLINGS quick|all COMPILER…: each header of the C++ binding compiles alone, without a warning, and takes
# nothing from a PyTorch that is installed. quick: as C++14; all: as C++14, C++17 and C++20 by each compiler that there is.
source=$1 spellings=$2 how=$3
shift 3
include=$source/bindings/cpp/include
standards=c++14
[ "$how" = all ] && standards="c++14 c++17 c++20"
passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for compiler in "$@"; do
    if ! command -v "$compiler" >/dev/null; then
        echo "SKIPPED $compiler: it is not installed"
        skipped=$((skipped + 1))
        continue
    fi
    for standard in $standards; do
        for header in $(cd "$include" && find . -name '*.h' | sed 's|^\./||' | sort) $(cd "$spellings" && find . -name '*.h' | sed 's|^\./||' | sort); do
            printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$scratch/one.cpp"
            if "$compiler" -std="$standard" -Wall -Wextra -Wpedantic -Werror -I"$include" -I"$spellings" -I"$source/include" \
                -fsyntax-only -MD -MF "$scratch/one.d" "$scratch/one.cpp" &&
                ! grep -E ' /usr/(local/)?include/(torch|ATen|c10|caffe2)/' "$scratch/one.d"; then
                passed=$((passed + 1))
            else
                echo "FAILED $header as $standard by $compiler"
                failed=$((failed + 1))
            fi
        done
    done
done
if [ $((passed + failed)) -eq 0 ]; then
    echo "SKIPPED: there is none of these compilers: $*"
    exit 77
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
