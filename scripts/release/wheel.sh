#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# wheel.sh OUT: makes the Python wheel for this machine, in OUT. tests/python/pip_test.sh builds it and runs the package's tests in a new
# environment; wheel_tag.py gives a wheel for Linux the tag of the oldest C library that loads it. PYTHON names the interpreter, 3.11 or
# newer. older_glibc.h lets a wheel that was made with a newer glibc load with an older glibc. Exit status 77 if pip or its build requirements are not
# available.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
mkdir -p "${1:?usage: wheel.sh OUT}"
out=$(cd "$1" && pwd)
work=$root/build/release-work/wheel
for tool in "$python" cmake cc; do
    command -v "$tool" >/dev/null || { echo "SKIPPED: a wheel is built with $tool, which is not here"; exit 77; }
done
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "SKIPPED: $python is older than 3.11"; exit 77; }
# Apple's linker writes the oldest system into the wheel's tag.
[ "$(uname -s)" != Darwin ] || export MACOSX_DEPLOYMENT_TARGET="${MACOSX_DEPLOYMENT_TARGET:-11.0}"
# musl has no versions of symbols.
case $(ldd --version 2>&1) in
*GLIBC* | *"GNU libc"*) export SKBUILD_CMAKE_ARGS="-DCMAKE_C_FLAGS=-include $root/scripts/release/older_glibc.h" ;;
esac
sh "$root/tests/python/pip_test.sh" "$python" "$root" "$work"
echo "checked: tests/python, as installed by pip"
wheel=$(ls "$work"/wheels/taper_runtime-*.whl)
if [ "$(uname -s)" != Linux ]; then
    cp "$wheel" "$out"
    exit 0
fi
command -v readelf >/dev/null || { echo "SKIPPED: the wheel's tag is read with readelf, which is not here"; exit 77; }
pip="$work/venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip install wheel >"$work/wheel.log" 2>&1 || { echo "SKIPPED: pip cannot get the package wheel, which writes the tag"; exit 77; }
auditwheel=""
if $pip install auditwheel >"$work/auditwheel.log" 2>&1; then
    auditwheel=$work/venv/bin/auditwheel
fi
"$work/venv/bin/python" "$root/scripts/release/wheel_tag.py" "$wheel" "$out" ${auditwheel:+--auditwheel "$auditwheel"}
