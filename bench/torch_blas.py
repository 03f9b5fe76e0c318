# SPDX-License-Identifier: BSD-2-Clause
"""Finds the BLAS of a PyTorch. Debian's python3-torch uses the system's libblas.so.3. The default is the reference BLAS, which takes 15 to 20
times as long for products, so a comparison with the reference BLAS has no meaning. Every benchmark that compares with PyTorch first checks the
BLAS."""
import os
import sys

FAST = (("openblas", "OpenBLAS"), ("mkl", "MKL"), ("blis", "BLIS"), ("atlas", "ATLAS"))
WAY_OUT = ("python3-torch multiplies with Debian's reference BLAS, 15 to 20 times slower than what people run: install "
           "libopenblas0-pthread, or set LD_LIBRARY_PATH to a folder with an OpenBLAS as libblas.so.3 (--any-blas measures all the same)")


def environment(threads):
    """Returns the environment of a process that runs PyTorch with that many threads; OpenBLAS reads its own variable."""
    return dict(os.environ, OMP_WAIT_POLICY="passive", OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                MKL_NUM_THREADS=str(threads))


def loaded():
    """Returns the name of the BLAS in this process, or None for the reference BLAS. A PyTorch with MKL inside says so in its configuration. Call
    this after `import torch`."""
    import torch

    if torch.backends.mkl.is_available():
        return "MKL"
    with open("/proc/self/maps") as maps:
        # Links of Debian's alternatives are resolved first; the reference BLAS is .../blas/libblas.so.3.*.
        files = {os.path.realpath(line.split(None, 5)[5].strip()) for line in maps if "blas" in line or "mkl" in line or "blis" in line}
    for file in files:
        for key, name in FAST:
            if key in os.path.basename(file) or key in os.path.dirname(file).split(os.sep)[-1]:
                return name
    return None


def require(any_blas=False):
    """Prints PyTorch's BLAS on standard error. If the BLAS is the reference BLAS, ends the program, unless any_blas is true."""
    name = loaded()
    if name is None and not any_blas:
        sys.exit(WAY_OUT)
    print(f"PyTorch's BLAS: {name or 'the reference BLAS, 15 to 20 times slower'}", file=sys.stderr, flush=True)
