#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# build.sh OUT: builds Taper for every slice of Apple's systems in OUT/SLICE and checks it. It uses Xcode (xcrun), or otherwise clang and
# zig. With clang and zig no Objective-C class is compiled with Apple's own headers, and nothing is linked for phones. Exit status 77 if
# neither is installed.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/scripts/apple
mkdir -p "$1"
out=$(cd "$1" && pwd)
status=0
stubs=""
if command -v xcrun >/dev/null; then
    echo "== with $(xcrun --find clang)"
else
    zig=$("$here/zig.sh") || exit $?
    echo "== xcrun is not here: no SDK of Apple's. clang compiles for phones, zig compiles and links for macOS"
    stubs="--stub $zig/lib/libc/darwin/libSystem.tbd --stub $here/libz.tbd"
fi
for slice in ios-arm64 ios-arm64-simulator ios-x86_64-simulator macos-arm64 macos-x86_64; do
    echo "== $slice"
    built=$out/$slice
    case $slice in
    macos-*)
        TAPER_TARGETS="taper taper_shared taper_program speed_benchmark_torch" "$here/slice.sh" $slice "$built" -DTAPER_BUILD_TOOLS=ON
        files="$built/lib/libtaper.a $built/lib/libtaper.dylib $built/bin/taper $built/bin/speed_benchmark_torch" ;;
    *)
        "$here/slice.sh" $slice "$built"
        files=$built/lib/libtaper.a ;;
    esac
    # shellcheck disable=SC2086
    "$here/check_macho.py" --slice $slice --privacy "$root/bindings/apple/PrivacyInfo.xcprivacy" $stubs $files || status=1
done

echo "== xcframework, Swift package and pods"
python3 "$here/package.py" "$out" "$out/package"
# shellcheck disable=SC2086
python3 "$root/tests/apple/package_test.py" "$out/package" ${zig:+--zig "$zig"} || status=1
echo "what apps take: $out/package"
echo "== what an app ships"
"$here/size.sh" "$out" || status=1
exit $status
