#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh [arguments of compare_torch.py]: runs the kernel benchmarks, then compares models with PyTorch if it is installed.
set -eu
cd "$(dirname "$0")/.."
for program in gemm_bench dwconv_bench; do
    if [ -x "build/bin/$program" ]; then
        echo "== $program"
        "build/bin/$program"
    fi
done
if [ ! -e bench/compare_torch.py ]; then
    echo "SKIPPED: the comparison with PyTorch (bench/compare_torch.py is not here)"
elif ! /usr/bin/python3 -c 'import torch' 2>/dev/null; then
    echo "SKIPPED: the comparison with PyTorch needs python3-torch"
else
    /usr/bin/python3 bench/compare_torch.py "$@"
fi
