#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# one_model_test.sh CMAKE SOURCE LIBRARY TAPER CC GENERATOR MAKE: builds the library for the demo's classifier alone, at one instruction-set
# level, with the profile for one model. This library must be small, give the results of LIBRARY (the whole library), and report what is missing for
# other models.
set -eu
cmake=$1 source=$2 library=$3 taper=$4 cc=$5 generator=$6 make=$7
LIMIT=$(sed -n 's/.*\bONE_LIMIT=\([0-9]*\).*/\1/p' "$source/scripts/size.sh")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
samples=$source/tests/data/samples
model=$source/examples/demo/classifier.ptl
case $(uname -m) in
x86_64 | i?86) level=avx2 ;;
aarch64 | arm64) level="neon;neondot;neoni8mm" ;;
*) level=scalar ;;
esac

quiet() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }; }
"$taper" ops "$model" --config >"$scratch/config.h"
quiet "$cmake" -S "$source" -B "$scratch/build" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_OP_CONFIG="$scratch/config.h" -DTAPER_CPU_LEVELS="$level" \
    -DTAPER_PROFILE=one -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_TESTS=OFF -DTAPER_BUILD_BENCH=OFF
quiet "$cmake" --build "$scratch/build" --target taper_shared --parallel "$(getconf _NPROCESSORS_ONLN)"
small=$scratch/build/lib
quiet "$cc" -std=c99 -I"$source/include" "$source/tests/api/one_model.c" -L"$small" -ltaper -o "$scratch/one_model"

passed=0
pass() { passed=$((passed + 1)); }
fail() { echo "FAILED $*"; exit 1; }

if command -v strip >/dev/null; then
    strip -s -o "$scratch/stripped" "$small/libtaper.so"
    size=$(wc -c <"$scratch/stripped" | tr -d ' ')
    echo "$size bytes"
    [ "$size" -lt $LIMIT ] || fail "the library for one model has $size bytes, more than $LIMIT"
    pass
fi

run() { LD_LIBRARY_PATH=$1 "$scratch/one_model" "$2"; }
run "$(dirname "$library")" "$model" >"$scratch/whole" || fail "the whole library does not run the model"
run "$small" "$model" >"$scratch/one" || { cat "$scratch/one"; fail "the library for one model does not run it"; }
# The two libraries have different kernels, which add in different orders, so results may differ slightly.
paste "$scratch/whole" "$scratch/one" | awk '
    { d = $1 - $2; if (d < 0) d = -d; if (NF != 2 || !(d < 1e-3)) bad = 1 }
    END { exit bad || NR != 20 }' || { paste "$scratch/whole" "$scratch/one"; fail "the results differ"; }
pass

# refused FILE WORDS...: loading the file must fail with these words.
refused() {
    file=$1
    shift
    run "$small" "$file" >"$scratch/out" && fail "$file should not load"
    for words in "$@"; do
        grep -qF "$words" "$scratch/out" || { cat "$scratch/out"; fail "$file: no \"$words\""; }
    done
    pass
}
refused "$source/examples/demo/segmenter.ptl" "that this build of Taper does not have" "  aten::"
refused "$samples/s04_containers.ptl" "operators that this build of Taper does not have" "  aten::format ("
refused "$samples/s15_nnapi_float.ptl" "operators and classes that this build of Taper does not have" \
    "__torch__.torch.classes._nnapi.Compilation (1 object)"
refused "$samples/s01_convnet.pt" "TorchScript" "TAPER_WITH_TORCHSCRIPT"
refused "$samples/s01_convnet.fb.ptl" "flatbuffer" "TAPER_WITH_FLATBUFFER"
echo "$passed passed, 0 failed"
