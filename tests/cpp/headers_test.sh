#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers_test.sh SOURCE FOLDER:FOLDER… some|all COMPILER…: checks that each header of the C++ binding compiles alone and twice, without a
# warning, and includes no file of an installed PyTorch. all: each header and each source of the tests is compiled with each compiler as
# C++14, C++17 and C++20. some: the headers use the compilers and standards in turn, and the headers with PyTorch's names that only include
# others are compiled together.
source=$1 folders=$(echo "$2" | tr ':' ' ') how=$3
shift 3
include=""
for folder in $folders; do
    include="$include -I$folder"
done
passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compile() { # compile COMPILER STANDARD SOURCE NAME: compiles SOURCE and counts a warning as a failure of NAME
    if "$1" -std="$2" -Wall -Wextra -Wpedantic -Werror $include -I"$source/include" -fsyntax-only -MD \
        -MF "$scratch/one.d" "$3" && ! grep -E ' /usr/(local/)?include/(torch|ATen|c10|caffe2)/' "$scratch/one.d"; then
        passed=$((passed + 1))
    else
        echo "FAILED $4 as $2 by $1"
        failed=$((failed + 1))
    fi
}
ways=""
for compiler in "$@"; do
    if command -v "$compiler" >/dev/null; then
        ways="$ways $compiler,c++14 $compiler,c++17 $compiler,c++20"
    else
        echo "SKIPPED $compiler: it is not installed"
        skipped=$((skipped + 1))
    fi
done
if [ -z "$ways" ]; then
    echo "SKIPPED: there is none of these compilers: $*"
    exit 77
fi
rest=""
next_way() { # sets `now` to the next compiler and standard
    [ -n "$rest" ] || rest=$ways
    rest=${rest# }
    now=${rest%% *}
    case $rest in
    *" "*) rest=${rest#* } ;;
    *) rest="" ;;
    esac
}
for file in "$source"/tests/cpp/*.cpp "$source"/examples/cpp/*/main.cpp; do
    now=$ways
    [ "$how" = all ] || next_way
    for way in $now; do
        compile "${way%,*}" "${way#*,}" "$file" "$(basename "$file")"
    done
done
together=""
for header in $(for folder in $folders; do (cd "$folder" && find . -name '*.h'); done | sed 's|^\./||' | sort); do
    case $how,$header in
    some,taper/*) next_way ;;
    some,*)
        together="$together $header"
        continue
        ;;
    *) now=$ways ;;
    esac
    printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$scratch/one.cpp"
    for way in $now; do
        compile "${way%,*}" "${way#*,}" "$scratch/one.cpp" "$header"
    done
done
if [ -n "$together" ]; then
    for header in $together $together; do
        printf '#include <%s>\n' "$header"
    done >"$scratch/one.cpp"
    for way in $ways; do
        compile "${way%,*}" "${way#*,}" "$scratch/one.cpp" "the headers under PyTorch's names"
    done
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
