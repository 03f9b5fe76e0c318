#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run_foreign.sh i686|armhf|arm64 FOLDER CMAKE NINJA [arguments of ctest]: builds library, programs and tests for another system in FOLDER
# and runs the fast tests without PyTorch: unit, API and limit tests, kernels, the committed samples. Exit 77 (skipped) if a compiler, the
# emulator or the foreign libraries are not available.
set -eu
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
cmake=$3
ninja=$4
shift 4
root=$(cd "$(dirname "$0")/../.." && pwd)
case $architecture in
i686) compiler=i686-linux-gnu-gcc debian=i386 emulator="" packages="gcc-i686-linux-gnu libc6-dev-i386-cross" ;;
armhf) compiler=arm-linux-gnueabihf-gcc debian=armhf emulator=qemu-arm packages="gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user" ;;
arm64) compiler=aarch64-linux-gnu-gcc debian=arm64 emulator=qemu-aarch64 packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
*) exit 2 ;;
esac
for tool in $compiler $emulator; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "SKIPPED: the $architecture tests need $tool (packages $packages)"
        exit 77
    fi
done
"$root/scripts/foreign_libraries.sh" "$debian" "$folder/libraries"
# Scripts start the program by its path, so a script replaces the program at that path and starts it in the emulator.
program=$folder/build/bin/taper
if [ -n "$emulator" ]; then
    printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$program" >"$folder/taper"
    chmod +x "$folder/taper"
    program=$folder/taper
fi
"$cmake" -S "$root" -B "$folder/build" -G Ninja -DCMAKE_MAKE_PROGRAM="$ninja" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$root/cmake/DebianForeign.cmake" -DTAPER_FOREIGN="$architecture" \
    -DTAPER_FOREIGN_ROOT="$folder/libraries/root" -DTAPER_TEST_PROGRAM="$program" \
    >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log"
    exit 1
}
"$cmake" --build "$folder/build" --target foreign_tests >"$folder/build.log" 2>&1 || {
    grep -E 'error|warning' "$folder/build.log" || tail -n 20 "$folder/build.log"
    exit 1
}
# Not every x86-64 Linux kernel can run i686 programs.
if [ -z "$emulator" ] && ! "$program" --version >/dev/null 2>&1; then
    echo "SKIPPED: this machine does not run $architecture programs"
    exit 77
fi
result=0
"$(dirname "$cmake")/ctest" --test-dir "$folder/build" --output-on-failure -j 2 --timeout 1500 -L foreign "$@" || result=1
python3 "$root/scripts/count_tests.py" "$folder/build" | awk '{ print $1 " passed, " $2 " failed" ($3 ? ", " $3 " skipped" : "") }'
exit $result
