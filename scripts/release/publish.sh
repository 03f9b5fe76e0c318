#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# publish.sh TAG FOLDER: makes a draft release of the repository's host for TAG, with every file of the folders in FOLDER and the text of
# CHANGELOG.md for the version. A person reads the draft and publishes it. Needs GitHub's program gh and its GH_TOKEN; exit status 77
# without gh.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
tag=${1:?usage: publish.sh TAG FOLDER} folder=${2:?usage: publish.sh TAG FOLDER}
version=$("$root/scripts/release/version.sh" --tag "$tag")
[ -s "$folder/checksums/SHA256SUMS" ] || { echo "publish.sh: $folder has no checksums/SHA256SUMS: checksums.sh makes it" >&2; exit 1; }
command -v gh >/dev/null || { echo "SKIPPED: a release is made with gh, which is not here"; exit 77; }
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
awk -v version="$version" '/^## / { inside = $2 == version || $2 == version ","; next } inside' "$root/CHANGELOG.md" >"$notes"
find "$folder" -mindepth 2 -type f -print0 | xargs -0 gh release create "$tag" --draft --verify-tag --title "Taper $version" --notes-file "$notes"
