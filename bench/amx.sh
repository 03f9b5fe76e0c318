#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# amx.sh [--build FOLDER] [--rounds N] [--threads N] [MODEL.ptl…]: compares AMX's kernels with AVX-512's, on a machine that has both. The
# script checks the kernels, then times products of int8 and of bf16 for each layer shape, then whole models for pictures of 224x224: int8
# models unchanged, other models with bf16 weights. AMX and AVX-512 run in turns, and the best round of each counts (for models, the
# round's median run). A ratio below 1 means that AMX is faster.
set -eu
build=build rounds=3 threads=1
while [ $# -gt 0 ]; do
    case $1 in
    --build) build=$2 ;;
    --rounds) rounds=$2 ;;
    --threads) threads=$2 ;;
    *) break ;;
    esac
    shift 2
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset TAPER_CPU_MASK

grep -m1 'model name' /proc/cpuinfo || true
"$build/bin/kernel_check" gemm >"$scratch/check" || {
    cat "$scratch/check"
    exit 1
}
grep amx "$scratch/check" || {
    echo "SKIPPED: this machine, its system or this build has no AMX"
    exit 77
}

# products PROGRAM AMX PEER: prints for each layer shape the microseconds of the kernels AMX and PEER, and the ratio of
# the two times.
products() {
    : >"$scratch/times"
    for round in $(seq "$rounds"); do
        for entry in "$2" "$3"; do
            "$build/bin/$1" "$entry" | sed "s/^/$entry /" >>"$scratch/times"
        done
    done
    echo "== $1: us of $2, of $3, ratio"
    awk -v amx="$2" -v peer="$3" '
        NF >= 8 && $3 ~ /^[0-9]+$/ {
            shape = sprintf("%-5s %6d %5d %5d %d", $2, $3, $4, $5, $6)
            if (!(shape in seen)) { seen[shape] = 1; shapes[++count] = shape }
            if (!(($1, shape) in best) || $7 < best[$1, shape]) best[$1, shape] = $7
        }
        END {
            for (i = 1; i <= count; i++) {
                a = best[amx, shapes[i]]; b = best[peer, shapes[i]]
                printf "%s  %9.1f %9.1f  %.2f\n", shapes[i], a, b, a / b
                sum += log(a / b)
            }
            printf "geometric mean of %d shapes: %.3f\n", count, exp(sum / count)
        }' "$scratch/times"
}
products gemm_i8_bench 28x32_amx 14x32_avx512vnni
products gemm_bench bf16_28x32_amx bf16_14x32_avx512bf16

# median MODEL SETS [options]: prints the median milliseconds of a run of the model with the instruction sets SETS.
median() {
    model=$1 sets=$2
    shift 2
    "$build/bin/taper" bench "$model" --input-dims 1,3,224,224 --cpu "$sets" --threads "$threads" --iter 30 --json "$@" |
        sed -n 's/.*"median_ms": \([0-9.]*\).*/\1/p'
}
for model in "$@"; do
    options=
    case $model in
    *int8*) ;;
    *) options="--precision bf16" ;;
    esac
    for sets in amx avx512vnni,avx512bf16; do
        "$build/bin/taper" run "$model" -i rand:1x3x224x224 --cpu "$sets" -o "$scratch/$sets.npy" $options
    done
    if [ -z "$options" ]; then
        cmp "$scratch/amx.npy" "$scratch/avx512vnni,avx512bf16.npy" || {
            echo "FAILED $model: AMX gives other results"
            exit 1
        }
    fi
    : >"$scratch/times"
    for round in $(seq "$rounds"); do
        echo "amx $(median "$model" amx $options)" >>"$scratch/times"
        echo "other $(median "$model" avx512vnni,avx512bf16 $options)" >>"$scratch/times"
    done
    awk -v model="$model $options" '
        { if (!($1 in best) || $2 < best[$1]) best[$1] = $2 }
        END { printf "%s: %.3f ms, %.3f ms without AMX, %.3f\n", model, best["amx"], best["other"], best["amx"] / best["other"] }' "$scratch/times"
done
