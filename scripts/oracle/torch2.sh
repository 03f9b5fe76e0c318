#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# torch2.sh VERSION [OUT [NAME…]]: installs PyTorch VERSION ("2.3.1") for Python in a folder of its own, with pip, runs make_pt2.py there,
# and removes the folder. OUT (tests/data/pt2) and the names are passed to make_pt2.py. It needs about 6 GB of disk while it runs. Recorded:
# 2.1.2, 2.2.2, 2.3.1, 2.4.1, 2.5.1, 2.8.0 (small, weights), 2.6.0, 2.7.1, 2.9.1 (small, weights, dynamic), 2.10.0, 2.12.0 (small, dynamic),
# 2.15.0 (all).
set -eu
here=$(dirname "$0")
version=$1
out=${2:-$here/../../tests/data/pt2}
shift
[ $# -eq 0 ] || shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${PYTHON:-python3}" -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-cache-dir "torch==$version" "numpy<2"
"$scratch/venv/bin/python" -W ignore "$here/make_pt2.py" "$out" "$@"
