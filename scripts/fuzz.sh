#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fuzz.sh [TARGET [SECONDS]]: runs one libFuzzer target, or all, for SECONDS each (60), in build-fuzz, with ASan and UBSan.
# fuzz.sh --coverage [TARGET]: replays the corpora in a build with coverage and prints the line coverage of each parser's files.
# New inputs are kept in build-fuzz/corpus/TARGET; inputs that crash are put into build-fuzz/crashes/TARGET.
set -eu
cd "$(dirname "$0")/.."
DIR=${FUZZ_DIR:-build-fuzz}
JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)}
ALL="zip pickle lite_archive pt2 type flatbuffer write program nnapi_blob optimize quantize torchscript image npy npz json settings"

tool() { # prints the path of the first of NAME, NAME-19, NAME-18 … that exists
    for version in "" -19 -18 -17 -16 -15 -14; do
        command -v "$1$version" && return 0
    done
    return 1
}

# Each target has a longest input, files whose coverage is reported for it, and further seeds.
max_len() {
    case $1 in
    program | optimize | quantize) echo 32768 ;;
    flatbuffer | lite_archive | write | torchscript) echo 20000 ;;
    pt2) echo 65536 ;; # room for a sample and a few repeated parts
    zip | image | nnapi_blob) echo 8192 ;;
    type) echo 2048 ;;
    *) echo 4096 ;;
    esac
}

files() {
    case $1 in
    zip) echo src/format/zip.c src/format/name_sort.c ;;
    pickle) echo src/format/pickle.c src/format/pickle_globals.c src/format/pickle_tensors.c src/format/saved_value.c ;;
    lite_archive) echo src/format/lite_archive.c src/format/lite_bytecode.c src/format/lite_debug.c src/format/detect.c ;;
    pt2) echo src/format/pt2_*.c src/base/json.c ;;
    type) echo src/ir/type.c src/ir/type_text.c ;;
    flatbuffer) echo src/format/flatbuffer.c src/format/lite_flatbuffer*.c ;;
    write) ls src/format/*_write*.c src/format/flatbuffer_build.c src/format/set_states.c src/format/sink.c | grep -v callstack ;;
    program) echo src/frontend/bytecode.c src/frontend/bytecode_arguments.c src/ir/graph.c src/runtime/model.c src/runtime/model_functions.c src/runtime/program.c src/runtime/interpreter*.c ;;
    optimize) ls src/runtime/draft*.c src/backends/nnapi/convert/*.c src/compiler/*.c src/format/lite_callstack_write.c | grep -v -e quantiz -e observer -e unpack -e name_layers -e none.c ;;
    quantize) ls src/runtime/calibrator*.c src/compiler/quantiz*.c src/compiler/observer*.c src/compiler/unpack.c src/compiler/name_layers.c | grep -v none.c ;;
    nnapi_blob) echo src/frontend/nnapi/*.c src/runtime/made_program.c ;;
    torchscript) echo src/frontend/torchscript/*.c ;;
    image) echo tools/common/image_png.c tools/common/image_jpeg.c tools/common/image_exif.c ;;
    npy) echo tools/common/npy.c ;;
    npz) echo tools/common/npz_read.c tools/common/file_kind.c ;;
    settings) echo src/app/settings.c src/app/picture.c src/app/picture_resize.c ;;
    json) echo src/base/json.c tools/common/json_value.c tools/common/input.c tools/common/input_made.c ;;
    esac
}

seeds() {
    case $1 in
    pt2) echo "tests/fuzz/corpus/pt2 tests/data/pt2 tests/data/pt2/calls" ;;
    flatbuffer | program) echo "tests/fuzz/corpus/$1 tests/unit/data/flatbuffer" ;;
    write) echo "tests/fuzz/corpus/write tests/fuzz/corpus/lite_archive tests/fuzz/corpus/flatbuffer tests/fuzz/corpus/pickle tests/unit/data/flatbuffer" ;;
    image) echo "tests/fuzz/corpus/image" ;;
    *) echo "tests/fuzz/corpus/$1" ;;
    esac
}

build() { # build FOLDER [options of cmake…]: configures and compiles the fuzz targets in FOLDER
    folder=$1
    shift
    clang=$(tool clang) || { echo "fuzz.sh: clang is needed" >&2; exit 1; }
    cmake -S . -B "$folder" -G Ninja -DCMAKE_C_COMPILER="$clang" -DTAPER_BUILD_FUZZ=ON -DTAPER_BUILD_TESTS=OFF \
        -DTAPER_BUILD_BENCH=OFF -DTAPER_BUILD_TOOLS=ON "$@" >"$folder.log" 2>&1 || { cat "$folder.log"; exit 1; }
    rm -f "$folder.log"
    for target in $TARGETS; do
        cmake --build "$folder" -j "$JOBS" --target "fuzz_$target" >"$folder/build.log" 2>&1 || { tail -n 40 "$folder/build.log"; exit 1; }
    done
}

coverage() {
    profdata=$(tool llvm-profdata) && cov=$(tool llvm-cov) || { echo "fuzz.sh: llvm-profdata and llvm-cov are needed" >&2; exit 1; }
    flags="-fprofile-instr-generate -fcoverage-mapping"
    # The build uses the project's main, which replays files. Unlike libFuzzer's main, this main returns, so that the
    # profile is written.
    build "$DIR-coverage" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-O1 $flags" -DTAPER_HAS_LIBFUZZER_FLAG=OFF
    for target in $TARGETS; do
        program=$DIR-coverage/bin/fuzz_$target
        folders=$(seeds "$target")
        [ ! -d "$DIR/corpus/$target" ] || folders="$folders $DIR/corpus/$target"
        # shellcheck disable=SC2086
        LLVM_PROFILE_FILE="$DIR-coverage/$target.profraw" "$program" $folders 2>/dev/null | sed "s/^/$target: /"
        "$profdata" merge -sparse "$DIR-coverage/$target.profraw" -o "$DIR-coverage/$target.profdata"
        # shellcheck disable=SC2046
        "$cov" report "$program" -instr-profile="$DIR-coverage/$target.profdata" $(files "$target") |
            awk 'NR > 2 && NF > 9 { printf "  %-50s %5d lines, %s covered\n", $1, $8, $10 }'
    done
}

fuzz() {
    build "$DIR" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="-O1 -g" -DTAPER_SANITIZE="address,undefined,fuzzer-no-link"
    status=0
    for target in $TARGETS; do
        corpus=$DIR/corpus/$target crashes=$DIR/crashes/$target log=$DIR/$target.log
        mkdir -p "$corpus" "$crashes"
        dictionary=""
        [ ! -f "tests/fuzz/dict/$target.dict" ] || dictionary="-dict=tests/fuzz/dict/$target.dict"
        echo "== $target, $SECONDS_EACH seconds"
        # shellcheck disable=SC2046,SC2086
        ASAN_OPTIONS="allocator_may_return_null=1:max_allocation_size_mb=1024:detect_leaks=1" \
            "$DIR/bin/fuzz_$target" -max_total_time="$SECONDS_EACH" -max_len="$(max_len "$target")" -timeout=20 -rss_limit_mb=3000 \
            -malloc_limit_mb=2000 -close_fd_mask=3 -print_final_stats=1 -artifact_prefix="$crashes/" $dictionary "$corpus" $(seeds "$target") \
            >"$log" 2>&1 || status=1
        grep -E "stat::number_of_executed_units|stat::average_exec_per_sec|stat::peak_rss_mb|SUMMARY|^artifact_prefix|Test unit written" "$log" || true
    done
    return $status
}

if [ "${1:-}" = --coverage ]; then
    TARGETS=${2:-$ALL}
    coverage
else
    TARGETS=${1:-$ALL}
    [ "$TARGETS" != all ] || TARGETS=$ALL
    SECONDS_EACH=${2:-60}
    fuzz
fi
