#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# build_android.sh [-DBUILD_BINARY=ON] [-D…]: builds Taper for one ABI of Android, ANDROID_ABI (armeabi-v7a): headers and libraries in
# build_android/install, and with -DBUILD_BINARY=ON speed_benchmark_torch and taper in build_android/bin, for `adb push`. It is called like
# PyTorch Mobile's script of this name. ANDROID_NDK selects the compiler (or ANDROID_SYSROOT: see scripts/android/library.sh); BUILD_ROOT
# replaces build_android.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
abi=${ANDROID_ABI:-armeabi-v7a}
folder=${BUILD_ROOT:-$root/build_android}
"$root/scripts/android/need_ndk.sh"
binary=OFF
for option in "$@"; do
    case $option in
    -DBUILD_BINARY=ON | -DBUILD_BINARY=1 | -DBUILD_BINARY:BOOL=ON) binary=ON ;;
    -DBUILD_BINARY=*) binary=OFF ;;
    -DANDROID_ABI=*) abi=${option#-DANDROID_ABI=} ;;
    esac
done
targets="taper taper_shared"
[ $binary = OFF ] || targets="$targets taper_program speed_benchmark_torch"
# Files of another ABI cannot be reused.
[ ! -e "$folder/abi" ] || [ "$(cat "$folder/abi")" = "$abi" ] || rm -rf "$folder"
mkdir -p "$folder"
echo "$abi" >"$folder/abi"
TAPER_TARGETS=$targets "$root/scripts/android/library.sh" "$abi" "$folder" -DCMAKE_BUILD_TYPE=Release -DTAPER_PROFILE=full -DTAPER_WITH_JNI=OFF \
    -DTAPER_BUILD_TOOLS=$binary -DTAPER_TOOLS_PICTURES=OFF "$@"
cmake --install "$folder" --prefix "$folder/install" >/dev/null
echo "Installed: $folder/install"
if [ $binary = ON ]; then
    for program in speed_benchmark_torch taper; do
        printf '%10d  %s\n' "$(wc -c <"$folder/bin/$program")" "$folder/bin/$program"
    done
fi
