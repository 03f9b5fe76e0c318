#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# headers_test.sh SOURCE FOLDER;FOLDER… some|all COMPILER…: each header of the C++ binding compiles alone and twice, without a warning, and
# takes nothing from a PyTorch that is installed. some: in turn by each compiler that there is, as C++14, C++17 and C++20; all: by
# each, as each. torch/script.h and the sources of the tests go through all of them either way.
source=$1 folders=$(echo "$2" | tr ';' ' ') how=$3
shift 3
include=""
for folder in $folders; do
    include="$include -I$folder"
done
passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
compile() { # compiler, standard, source, what it is
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
for way in $ways; do
    for file in "$source"/tests/cpp/*.cpp "$source"/examples/cpp/*/main.cpp; do
        compile "${way%,*}" "${way#*,}" "$file" "$(basename "$file")"
    done
done
rest=$ways
for header in $(for folder in $folders; do (cd "$folder" && find . -name '*.h'); done | sed 's|^\./||' | sort); do
    printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$scratch/one.cpp"
    now=$ways
    if [ "$how" = some ]; then
        rest=${rest# }
        [ -n "$rest" ] || rest=${ways# }
        now=${rest%% *}
        case $rest in
        *" "*) rest=${rest#* } ;;
        *) rest="" ;;
        esac
    fi
    for way in $now; do
        compile "${way%,*}" "${way#*,}" "$scratch/one.cpp" "$header"
    done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
