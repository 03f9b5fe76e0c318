#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# foreign_libraries.sh ARCHITECTURE FOLDER [PACKAGES]: unpacks the libraries that programs and tests link, or PACKAGES, of another
# architecture of Debian, to FOLDER/root. apt uses a state of its own in FOLDER: the machine's packages, lists and architectures do not
# change. Exit 77 if apt or its servers are not available. A second call reuses the result.
set -eu
architecture=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
packages="${*:-zlib1g zlib1g-dev libcmocka0 libcmocka-dev libpng16-16 libpng-dev libjpeg62-turbo libjpeg62-turbo-dev}"
[ -e "$folder/root/complete" ] && exit 0
if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
    echo "SKIPPED: libraries for $architecture are unpacked from Debian's packages, and there is no apt-get here"
    exit 77
fi
apt=$folder/apt
rm -rf "$folder/root"
. "$(dirname "$0")/apt_state.sh"
apt_state "$apt"
mkdir -p "$apt/packages" "$folder/root"
cat >>"$apt/apt.conf" <<END
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
END
# apt complains about sources that have nothing for this architecture. The result is checked below: the packages must be there.
# shellcheck disable=SC2086
if ! { APT_CONFIG=$apt/apt.conf apt-get update -qq || true; } >"$apt/log" 2>&1 ||
    ! (cd "$apt/packages" && APT_CONFIG=$apt/apt.conf apt-get download -qq $packages) >>"$apt/log" 2>&1; then
    echo "SKIPPED: apt cannot get the libraries for $architecture: $(grep '^E:' "$apt/log" | head -n 1)"
    rm -rf "$apt" "$folder/root"
    exit 77
fi
for package in "$apt"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/root"
done
# In some packages the links between libraries are absolute.
find "$folder/root" -type l -name '*.so' | while read -r link; do
    case $(readlink "$link") in
    /*) ln -sf "$folder/root$(readlink "$link")" "$link" ;;
    esac
done
rm -rf "$apt"
touch "$folder/root/complete"
