#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# sbom.sh OUT: writes the software bill of materials to OUT; sbom.py makes it from the tree and checks it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "${1:?usage: sbom.sh OUT}"
command -v python3 >/dev/null || { echo "SKIPPED: the bill of materials is made with python3, which is not here"; exit 77; }
exec python3 "$here/sbom.py" "$1/taper-$("$here/version.sh").spdx.json"
