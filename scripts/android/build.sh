#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# build.sh OUT [options of cmake]: builds the Android binding's libraries for each ABI in ANDROID_ABIS (all four), and their AARs in
# OUT/repository. library.sh selects the compiler: ANDROID_NDK, or ANDROID_SYSROOT. The classes come from a build for this machine in
# BUILD (build). TAPER_HOME is the address of the project for POMs; without it the POMs have no address. An app's library runs models and
# does not write them; -DTAPER_WITH_DRAFTS=ON adds the code that writes models. If other options are given, the libraries have no Vulkan
# and the limits of size are not checked. Every machine must make the same files for a version. If the compiler of shaders or Vulkan's
# headers are missing, nothing is built unless an option omits Vulkan.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/scripts/android
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
build=${BUILD:-$root/build}
abis=${ANDROID_ABIS:-arm64-v8a armeabi-v7a x86_64 x86}
status=0

VULKAN_LIMIT=885000 # number of bytes that Vulkan may add to libpytorch_jni.so
limit_of() {        # limit_of ABI: prints the size limit of libpytorch_jni.so in bytes, stripped, without Vulkan
    case $1 in
    arm64-v8a) echo 2010000 ;;
    armeabi-v7a) echo 1665000 ;;
    x86_64) echo 2600000 ;;
    x86) echo 3131000 ;;
    esac
}

case "$*" in
*TAPER_WITH_VULKAN*) vulkan="" ;;
*)
    vulkan=-DTAPER_WITH_VULKAN=ON
    if ! command -v glslc >/dev/null; then
        echo "there is no glslc, which compiles the shaders of Vulkan (Debian: glslc; an NDK has it in shader-tools)." >&2
        echo "-DTAPER_WITH_VULKAN=OFF as an option of this script makes libraries without Vulkan." >&2
        exit 1
    fi ;;
esac
packed="" listed="" symbols=""
for abi in $abis; do
    echo "== $abi"
    # Emulators and tablets with x86 have AVX2 at best. A build for one model contains the AVX2 and the portable
    # kernels, and omits larger instruction sets.
    levels=""
    case "$abi $*" in
    x86*TAPER_OP_CONFIG*) levels=-DTAPER_CPU_LEVELS=avx2 ;;
    esac
    "$here/library.sh" "$abi" "$out/$abi" -DTAPER_WITH_DRAFTS=OFF "$@" $levels $vulkan
    lib=$out/$abi/lib
    limit=""
    case "$*" in
    "") limit="--limit $(($(limit_of "$abi") + VULKAN_LIMIT))" ;;
    -DTAPER_WITH_VULKAN=OFF) limit="--limit $(limit_of "$abi")" ;;
    esac
    # shellcheck disable=SC2086
    "$here/check_library.py" --unwinds $limit "$lib/libpytorch_jni.so" || status=1
    "$here/check_library.py" --one-page "$lib/libpytorch_jni_lite.so" "$lib/libtorchvision_ops.so" || status=1
    packed="$packed --jni $abi=$lib"
    symbols="$symbols --symbols $abi=$out/$abi/symbols"
    listed="$listed${listed:+,}$abi"
done

echo "== AARs"
cmake --build "$build" --target taper_classes cpp_headers >/dev/null
rm -rf "$out/javadoc" "$out/repository"
find "$root/bindings/android/java" -name '*.java' >"$out/sources.txt"
javadoc -quiet -Xdoclint:none -notimestamp -encoding UTF-8 -cp "$build/bindings/android/stub-classes" -d "$out/javadoc" "@$out/sources.txt"
version=$(sed -n 's/^project(taper VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
# shellcheck disable=SC2086
"$here/package.py" "$out/repository" --version "$version" ${TAPER_HOME:+--home "$TAPER_HOME"} --classes "$build/bindings/android/classes" --sources "$root/bindings/android/java" \
    --include "$root/include" --headers "$root/bindings/cpp/include" "$build/bindings/cpp/made" --javadoc "$out/javadoc" $packed $symbols
"$root/tests/android/package_test.py" --repository "$out/repository" --abis "$listed" --limit 8400000 || status=1
echo "a Maven repository with these: $out/repository"
exit $status
