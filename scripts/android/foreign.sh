#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# foreign.sh TARGET FOLDER: builds libpytorch_jni.so and its stubs in FOLDER/TARGET for a target of tests/targets/targets.tsv with a build
# of its own (arm64-max, armv7, i686), and runs the unit and API tests. Exit 77 (skipped) if compiler, emulator or libraries are not available.
set -eu
target=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
python3 "$root/scripts/targets.py" "$target" --folder "$folder" -- -L 'unit|api'
build=$folder/$target
cmake -S "$root" -B "$build" -DTAPER_WITH_JNI=ON >"$folder/configure.log"
cmake --build "$build" -j "${JOBS:-2}" --target pytorch_jni pytorch_jni_lite torchvision_ops >"$folder/jni.log" 2>&1 || {
    grep -E 'error|warning' "$folder/jni.log" || tail -n 20 "$folder/jni.log"
    exit 1
}
if grep 'warning:' "$folder/jni.log"; then
    echo "compiling or linking for $target warns" >&2
    exit 1
fi
"$root/scripts/android/check_library.py" --system glibc --built "$build/lib/libpytorch_jni.so"
"$root/scripts/android/check_library.py" --system glibc --built --one-page "$build/lib/libpytorch_jni_lite.so" "$build/lib/libtorchvision_ops.so"
