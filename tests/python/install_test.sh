#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# install_test.sh CMAKE BUILD PYTHON SOURCE: checks that the component `python` has everything that a wheel needs. Installed alone, outside
# of the tree, it must run the README's example and the example programs.
set -eu
cmake=$1 build=$2 python=$3 source=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$cmake" --install "$build" --component python --prefix "$scratch/packages" >/dev/null
(cd "$scratch/packages" && find . -type f | sort >"$scratch/files")
printf './taper/%s\n' __init__.py __init__.pyi _errors.py _models.py _prepare.py _sources.py _taper.abi3.so _taper.pyi _text.py py.typed | sort >"$scratch/wanted"
diff "$scratch/wanted" "$scratch/files"
# Runs the Python blocks of README.md and docs/python.md, each page as one program, in a folder with the files that the blocks name.
mkdir "$scratch/here"
cd "$scratch/here"
cp "$source/examples/demo/classifier.pt" model.pt
for page in README.md docs/python.md; do
    sed -n '/^```python$/,/^```$/{/^```/d;p}' "$source/$page" >"$scratch/page.py"
    [ -s "$scratch/page.py" ] || { echo "$page has no Python in it"; exit 1; }
    echo "$page:"
    PYTHONPATH="$scratch/packages" "$python" "$scratch/page.py"
done
PYTHONPATH="$scratch/packages" "$python" - <<'END' || { echo "SKIPPED: examples/python/classify.py needs Python's PIL (Debian: python3-pil)"; exit 77; }
import importlib.util
import sys
sys.exit(importlib.util.find_spec("PIL") is None)
END
PYTHONPATH="$scratch/packages" "$python" "$source/examples/python/classify.py" "$source/examples/demo/classifier.ptl" "$source/examples/demo/images/picnic.jpg" | tee "$scratch/said"
grep -q "pizza 89" "$scratch/said"
