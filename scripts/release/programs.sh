#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# programs.sh x86_64|aarch64 OUT: packs the programs taper and speed_benchmark_torch for Linux, linked statically, with the licence and the
# README, as an archive in OUT. Programs for another processor are made with Debian's cross compiler and tested under qemu. A static
# program cannot load libraries, so LAPACK and Vulkan are omitted. Exit status 77 if a compiler or static libraries are missing.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
machine=${1:?usage: programs.sh x86_64|aarch64 OUT}
mkdir -p "${2:?usage: programs.sh x86_64|aarch64 OUT}"
out=$(cd "$2" && pwd)
work=$root/build/release-work/programs-$machine
skip() { echo "SKIPPED: $*"; exit 77; }

case $machine in
x86_64 | aarch64) ;;
*)
    echo "programs.sh: $machine: x86_64 or aarch64" >&2
    exit 2 ;;
esac
[ "$(uname -s)" = Linux ] || skip "static programs are made for Linux, on Linux"
for tool in cmake ninja readelf; do
    command -v $tool >/dev/null || skip "static programs are made with $tool, which is not here"
done
mkdir -p "$work"
emulator="" compiler=cc folder=""
if [ "$(uname -m)" = "$machine" ]; then
    command -v cc >/dev/null || skip "there is no C compiler"
    set --
elif [ "$machine" = aarch64 ]; then
    for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
        command -v $tool >/dev/null || skip "programs for arm64 need $tool (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user)"
    done
    emulator=qemu-aarch64
    "$root/scripts/foreign_libraries.sh" arm64 "$work/libraries"
    compiler=aarch64-linux-gnu-gcc folder=$work/libraries/root/usr/lib/aarch64-linux-gnu/
    set -- -DCMAKE_TOOLCHAIN_FILE="$root/cmake/DebianForeign.cmake" -DTAPER_FOREIGN=arm64 -DTAPER_FOREIGN_ROOT="$work/libraries/root"
else
    skip "programs for $machine are made on a machine of that kind"
fi
# CMake would find the shared libraries, which cannot be linked with -static.
for library in PNG_LIBRARY=libpng.a JPEG_LIBRARY=libjpeg.a ZLIB_LIBRARY=libz.a; do
    path=$folder${library#*=}
    [ -n "$folder" ] || path=$($compiler -print-file-name="$path")
    [ -e "$path" ] || skip "there is no static library ${library#*=} for $machine"
    set -- "$@" "-D${library%=*}=$path"
done
cmake -S "$root" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTAPER_PROFILE=full -DBUILD_SHARED_LIBS=OFF -DTAPER_BUILD_TESTS=OFF \
    -DTAPER_BUILD_BENCH=OFF -DTAPER_WITH_LAPACK=OFF -DTAPER_WITH_VULKAN=OFF -DTAPER_WITH_PYTHON=OFF -DTAPER_WITH_JNI=OFF \
    -DCMAKE_SKIP_RPATH=ON -DCMAKE_EXE_LINKER_FLAGS=-static -DCMAKE_C_STANDARD_LIBRARIES=-lm "$@" >"$work/configure.log" 2>&1 || {
    cat "$work/configure.log"
    exit 1
}
cmake --build "$work/build" -j "${JOBS:-2}" --target taper_program speed_benchmark_torch >"$work/build.log" 2>&1 || {
    tail -n 40 "$work/build.log"
    exit 1
}

# ---- the contents of an archive

version=$("$root/scripts/release/version.sh")
name=taper-$version-linux-$machine
rm -rf "${work:?}/$name"
mkdir -p "$work/$name"
for program in taper speed_benchmark_torch; do
    ${STRIP:-$([ -z "$emulator" ] || echo aarch64-linux-gnu-)strip} -s -o "$work/$name/$program" "$work/build/bin/$program"
    if readelf -lW "$work/$name/$program" | grep -q INTERP; then
        echo "FAILED: $program is not static: it asks for a loader" >&2
        exit 1
    fi
done
cp "$root/LICENSE" "$root/README.md" "$root/CHANGELOG.md" "$work/$name"
said=$($emulator "$work/$name/taper" classify "$root/examples/demo/classifier.ptl" "$root/examples/demo/images/picnic.jpg")
echo "$said" | grep -q 'pizza *89' || {
    echo "FAILED: the program does not say what is on the demo's picture: $said" >&2
    exit 1
}
echo "checked: no loader asked for, the demo's picture classified${emulator:+ under $emulator}"
# A fixed order, fixed dates and no names of people make the same archive from the same programs.
(cd "$work" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-1764028800}" -cf - "$name") | gzip -n >"$out/$name.tar.gz"
