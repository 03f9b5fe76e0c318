#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# android.sh OUT: packs the AARs as a Maven repository in one archive, and the libraries with symbols in another, both in OUT.
# scripts/build_pytorch_android.sh makes and checks them. ANDROID_NDK is the NDK (or ANDROID_SYSROOT: scripts/android/library.sh),
# TAPER_HOME the address of the project for POMs. Exit status 77 without an NDK, a JDK or the compiler of shaders.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "${1:?usage: android.sh OUT}"
out=$(cd "$1" && pwd)
why=$("$root/scripts/android/need_ndk.sh" 2>&1) || { echo "SKIPPED: $why"; exit 77; }
for tool in glslc javac javadoc cmake ninja; do
    command -v $tool >/dev/null || { echo "SKIPPED: the AARs are made with $tool, which is not here"; exit 77; }
done
bash "$root/scripts/build_pytorch_android.sh"
echo "checked: sizes, exports and needed libraries of each ABI; AARs, POMs and module metadata"
[ -n "${TAPER_HOME:-}" ] || echo "checked: not for Maven's rules: TAPER_HOME is not set, so POMs have no url and no scm"
version=$("$root/scripts/release/version.sh")
python3 - "$root/android/repository" "$out/taper-android-$version-maven.zip" <<'PYTHON'
import pathlib
import sys
import zipfile
top = pathlib.Path(sys.argv[1])
# Fixed dates and a fixed order make the same archive from the same files.
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(top.rglob("*")):
        if path.is_file():
            archive.writestr(zipfile.ZipInfo(str(path.relative_to(top)), (1980, 2, 1, 0, 0, 0)), path.read_bytes(), zipfile.ZIP_DEFLATED)
PYTHON
cp "$root/android/repository/dev/taper/pytorch_android/$version/pytorch_android-$version-symbols.zip" "$out"
