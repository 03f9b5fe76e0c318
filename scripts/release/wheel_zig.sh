#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# wheel_zig.sh MACHINE OUT: makes the Python wheel for Linux with musl on another processor, such as aarch64, in OUT. zig compiles it, with
# Taper's own inflate instead of zlib. Python's headers are the headers of this machine: the stable ABI has the same types on each 64-bit
# processor. The wheel is not run, because no Python for musl is installed. auditwheel cannot check it, because it mistakes this machine's
# libc.so for musl's. Exit status 77 if zig, pip or pip's build requirements are not available.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
machine=${1:?usage: wheel_zig.sh MACHINE OUT}
mkdir -p "${2:?usage: wheel_zig.sh MACHINE OUT}"
out=$(cd "$2" && pwd)
work=$root/build/release-work/wheel-$machine
python=${PYTHON:-python3}
for tool in "$python" cmake cc readelf; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: a wheel is built with $tool, which is not here"; exit 77; }
done
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11) or sys.maxsize < 1 << 32)' || { echo "SKIPPED: $python is older than 3.11"; exit 77; }
zig=$("$root/scripts/apple/zig.sh" 2>&1) || { echo "SKIPPED: zig cannot be had here: $(echo "$zig" | tail -n 1)"; exit 77; }
mkdir -p "$work"
[ -e "$work/venv/bin/python" ] || "$python" -m venv "$work/venv" >"$work/venv.log" 2>&1 || {
    echo "SKIPPED: $python makes no environments (Debian: python3-venv)"
    exit 77
}
pip="$work/venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip install wheel >"$work/pip.log" 2>&1 || { echo "SKIPPED: pip cannot get the package wheel, which writes the tag"; exit 77; }
rm -rf "$work/wheels"
ZIG_GLOBAL_CACHE_DIR=$root/build/zig-cache ZIG_LOCAL_CACHE_DIR=$root/build/zig-cache
export ZIG_GLOBAL_CACHE_DIR ZIG_LOCAL_CACHE_DIR
# pip makes the wheel's tag from the platform's name.
_PYTHON_HOST_PLATFORM=linux-$machine CMAKE_BUILD_PARALLEL_LEVEL=${JOBS:-2} \
    SKBUILD_CMAKE_ARGS="-DCMAKE_TOOLCHAIN_FILE=$root/scripts/release/wheel_zig.cmake;-DTAPER_ZIG=$zig;-DTAPER_ZIG_MACHINE=$machine;-DTAPER_WITH_ZLIB=OFF;-DTAPER_WITH_VULKAN=OFF" \
    $pip wheel --no-deps --wheel-dir "$work/wheels" "$root" >"$work/build.log" 2>&1 || {
    grep -m 5 -E 'error' "$work/build.log" || tail -n 20 "$work/build.log"
    exit 1
}
"$work/venv/bin/python" "$root/scripts/release/wheel_tag.py" "$work"/wheels/taper_runtime-*.whl "$out"
echo "checked: not run, because no Python for musl is here"
