#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scale_test.sh ray|spark SOURCE FOLDER: runs the example that scores pictures on workers of this machine, with the wheel of pip_test.sh in
# FOLDER, and compares its results with those of one process.
set -eu
kind=$1 source=$2 folder=$3
[ -x "$folder/venv/bin/python" ] && ls "$folder"/wheels/taper_runtime-*.whl >/dev/null 2>&1 || {
    echo "SKIPPED: there is no wheel of Taper here: pip_test.sh makes it"
    exit 77
}
package=ray
if [ "$kind" = spark ]; then
    package=pyspark
    command -v java >/dev/null || { echo "SKIPPED: Spark needs Java"; exit 77; }
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$folder/venv/bin/python" -m venv "$scratch/venv" >/dev/null
pip="$scratch/venv/bin/python -m pip --disable-pip-version-check --quiet"
if ! $pip install "$folder"/wheels/taper_runtime-*.whl $package >"$scratch/pip.log" 2>&1; then
    echo "SKIPPED: pip cannot get $package here:"
    tail -n 1 "$scratch/pip.log"
    exit 77
fi
mkdir "$scratch/pictures"
"$scratch/venv/bin/python" - "$scratch/pictures" <<'END'
import sys
import numpy
for i in range(12):
    numpy.save(f"{sys.argv[1]}/{i:02}.npy", numpy.random.default_rng(i).standard_normal((3, 96, 96)).astype(numpy.float32))
END
HOME=$scratch RAY_AUTH_MODE=disabled RAY_USAGE_STATS_ENABLED=0 TMPDIR=$scratch PYSPARK_PYTHON="$scratch/venv/bin/python" \
    "$scratch/venv/bin/python" "$source/examples/python/score_$kind.py" "$source/examples/demo/classifier.pt" "$scratch/pictures" "$scratch/scores.csv"
"$scratch/venv/bin/python" - "$source/examples/demo/classifier.pt" "$scratch" <<'END'
import csv
import sys
import numpy
import taper
model, done = taper.load(sys.argv[1]), 0
with open(sys.argv[2] + "/scores.csv") as file:
    for row in csv.DictReader(file):
        scores = model(numpy.load(f"{sys.argv[2]}/pictures/{row['file']}")[None]).numpy()[0]
        assert int(row["class"]) == scores.argmax(), row
        assert abs(float(row["chance"]) - 1 / numpy.exp(scores - scores.max()).sum()) < 1e-4, row
        done += 1
assert done == 12
print("1 passed, 0 failed")
END
