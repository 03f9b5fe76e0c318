#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# pip_test.sh PYTHON SOURCE FOLDER: runs `pip install SOURCE` in a new environment, which is kept in FOLDER/venv for the test of the
# examples, and the package's tests there.
set -eu
python=$1 source=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"
"$python" -m venv "$folder/venv" >"$folder/venv.log" 2>&1 || {
    echo "SKIPPED: $python makes no environments (Debian: python3-venv)"
    exit 77
}
pip="$folder/venv/bin/python -m pip --disable-pip-version-check --quiet"
if ! $pip download --no-deps -d "$folder/reached" scikit-build-core >"$folder/reach.log" 2>&1; then
    echo "SKIPPED: pip cannot get scikit-build-core here, with which wheels are built:"
    tail -n 1 "$folder/reach.log"
    exit 77
fi
$pip wheel --no-deps --wheel-dir "$folder/wheels" "$source"
$pip install "$folder"/wheels/taper_runtime-*.whl
ls -l "$folder"/wheels
case $(ls "$folder"/wheels) in
*-cp311-abi3-*.whl) ;;
*)
    echo "the wheel is not for the stable ABI of Python 3.11"
    exit 1
    ;;
esac
cd "$folder"
export TAPER_PYTHON_PACKAGE="$folder/none"
for test in values arrays prepare; do
    "$folder/venv/bin/python" "$source/tests/python/${test}_test.py"
done
# The wheel must also work in the newer Pythons that are installed.
for other in python3.12 python3.13 python3.14; do
    command -v $other >/dev/null && $other -m venv "$folder/$other" >/dev/null 2>&1 || continue
    "$folder/$other/bin/python" -m pip --disable-pip-version-check --quiet install "$folder"/wheels/taper_runtime-*.whl || continue
    echo "$other:"
    for test in values arrays threads; do
        "$folder/$other/bin/python" "$source/tests/python/${test}_test.py"
    done
done
