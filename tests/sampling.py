# SPDX-License-Identifier: BSD-2-Clause
"""Selects a part of a long list of cases for the plain tier; tests/sample.h does the same in C.

With TAPER_STRIDE=N, taken(name) is true for about one name in `part` times N, and TAPER_SEED selects which names. Without TAPER_STRIDE, taken(name)
is true for all names."""
import os
import zlib


def stride():
    return max(1, int(os.environ.get("TAPER_STRIDE") or 1))


def seed():
    return int(os.environ.get("TAPER_SEED") or 0)


def taken(name, part=1.0):
    every = max(1, round(stride() * part)) if stride() > 1 else 1
    return (zlib.crc32(str(name).encode()) + seed()) % every == 0
