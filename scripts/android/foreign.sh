#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# foreign.sh arm64|armhf|i686 FOLDER: builds libpytorch_jni.so and its stubs with Debian's compiler for that architecture, and runs the unit
# and API tests, under qemu for ARM. Exit 77 (skipped) if compiler, emulator or libraries are not available.
set -eu
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/tests/foreign/run_foreign.sh" "$architecture" "$folder" "$(command -v cmake)" "$(command -v ninja)" -L 'unit|api'
cmake -S "$root" -B "$folder/build" -DTAPER_WITH_JNI=ON >"$folder/configure.log"
cmake --build "$folder/build" --target pytorch_jni pytorch_jni_lite torchvision_ops >"$folder/jni.log" 2>&1 || {
    grep -E 'error|warning' "$folder/jni.log" || tail -n 20 "$folder/jni.log"
    exit 1
}
if grep 'warning:' "$folder/jni.log"; then
    echo "compiling or linking for $architecture warns" >&2
    exit 1
fi
"$root/scripts/android/check_library.py" --system glibc --built "$folder/build/lib/libpytorch_jni.so"
"$root/scripts/android/check_library.py" --system glibc --built --one-page "$folder/build/lib/libpytorch_jni_lite.so" "$folder/build/lib/libtorchvision_ops.so"
