#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# checksums.sh OUT: writes OUT/SHA256SUMS, with the SHA-256 of every file in the folders next to OUT, which contain the other artefacts.
# Files are named without their folders, as in a release; two files with one name are an error. `sha256sum --check` reads it.
set -eu
mkdir -p "${1:?usage: checksums.sh OUT}"
out=$(cd "$1" && pwd)
command -v sha256sum >/dev/null || { echo "SKIPPED: checksums are made with sha256sum, which is not here"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
find "$(dirname "$out")" -mindepth 2 -type f ! -path "$out/*" >"$scratch/list"
[ -s "$scratch/list" ] || { echo "SKIPPED: there is nothing beside $(basename "$out") to sum"; exit 77; }
mkdir "$scratch/files"
while read -r path; do
    [ ! -e "$scratch/files/$(basename "$path")" ] || { echo "FAILED: two files are called $(basename "$path")" >&2; exit 1; }
    ln -s "$path" "$scratch/files/$(basename "$path")"
done <"$scratch/list"
(cd "$scratch/files" && LC_ALL=C && export LC_ALL && sha256sum -- * >"$out/SHA256SUMS" && sha256sum --check --quiet "$out/SHA256SUMS")
echo "checked: $(wc -l <"$out/SHA256SUMS" | tr -d ' ') files, by sha256sum --check"
