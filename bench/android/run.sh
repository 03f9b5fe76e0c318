#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh [pytorch_vision_jni.cpp]: measures how much longer a run takes from Java. Compares the conversion of bitmaps with PyTorch's
# published arithmetic in Java, if Maven provides JMH, and the conversion of camera images with PyTorch's published source, if the path
# of that source is given. Run `./dev build` first. If PyTorch is installed, a model with almost no work is measured as well.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
classes=$root/build/bindings/android/classes
javac -d "$scratch" -cp "$classes" "$root/bench/android/ForwardBench.java"
few=""
if /usr/bin/python3 "$root/bench/android/make_few.py" "$scratch/few.ptl" 2>/dev/null; then
    few=$scratch/few.ptl
fi
shape=1,3,224,224
for model in $few "$root/tests/data/android/kinds.ptl" "$root/examples/demo/classifier.ptl"; do
    for round in 1 2 3; do
        java=$(java -cp "$scratch:$classes" -Djava.library.path="$root/build/lib" ForwardBench "$model" $shape)
        runs=$("$root/build/bin/session_bench" "$model" $shape 1 1 2)
        echo "$java $runs" | awk -v model="$(basename "$model")" -v round=$round \
            '{ printf "%-15s round %d: Module.forward %8.2f us, the call in C %8.2f us: %.2f us more\n", model, round, $1, 1e6 / $2, $1 - 1e6 / $2 }'
    done
done
if mvn -q -B -f "$root/bench/android/pom.xml" dependency:build-classpath "-Dmdep.outputFile=$scratch/jmh" >"$scratch/maven.log" 2>&1; then
    path=$classes:$root/build/bindings/android/stub-classes:$(cat "$scratch/jmh")
    mkdir "$scratch/bitmap"
    javac -d "$scratch/bitmap" -cp "$path" "$root/bench/android/BitmapBench.java"
    java -cp "$scratch/bitmap:$path" -Djava.library.path="$root/build/lib" org.openjdk.jmh.Main -f 3 -wi 5 -w 1 -i 7 -r 1 -rf csv -rff "$scratch/bitmap.csv" \
        dev.taper.bench.BitmapBench >"$scratch/bitmap.log" || cat "$scratch/bitmap.log"
    awk -F, 'NR > 1 { gsub(/"/, ""); sub(/.*\./, "", $1); time[$1, $NF] = $5; error[$1, $NF] = $6; formats[$NF] = 1 }
        END { for (f in formats) printf "bitmap, %-13s  published %6.1f us (+-%.1f)  ours %6.1f us (+-%.1f)  %.2f\n", f, time["published", f],
                  error["published", f], time["ours", f], error["ours", f], time["ours", f] / time["published", f] }' "$scratch/bitmap.csv"
else
    echo "SKIPPED: bitmaps: Maven does not give JMH: $(grep -m1 ERROR "$scratch/maven.log")"
fi
if [ $# -gt 0 ]; then
    jdk=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
    cc -std=c11 -O2 -ffp-contract=off -c "$root/bindings/android/jni/image.c" -o "$scratch/image.o"
    c++ -std=c++17 -O2 -I"$jdk/include" -I"$jdk/include/linux" "-DPUBLISHED_SOURCE=\"$1\"" "$root/bench/android/yuv_bench.cpp" "$scratch/image.o" \
        -o "$scratch/yuv_bench"
    "$scratch/yuv_bench"
fi
