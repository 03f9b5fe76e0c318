#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# foreign_sources.sh TRIPLE COMPILER FOLDER: compiles zlib and CMocka, which the programs and tests link, from Debian's source packages as
# static libraries in FOLDER/root. It is for systems of which Debian 12 has no packages. TRIPLE is the name of the folder of libraries. apt uses
# a state of its own in FOLDER: the machine's lists do not change. Exit 77 if apt or its servers are not available. A second call reuses
# the result.
set -eu
triple=$1 compiler=$2
mkdir -p "$3"
folder=$(cd "$3" && pwd)
[ -e "$folder/root/complete" ] && exit 0
for tool in apt-get dpkg-source make cmake; do
    command -v $tool >/dev/null || {
        echo "SKIPPED: libraries for $triple are compiled from Debian's sources with $tool, which is not here (Debian: dpkg-dev make cmake)"
        exit 77
    }
done
apt=$folder/apt
rm -rf "$folder/root"
. "$(dirname "$0")/apt_state.sh"
apt_state "$apt"
mkdir -p "$apt/parts" "$folder/root/usr/include" "$folder/root/usr/lib/$triple"
# The machine's sources of packages become sources of source packages.
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
    case $list in
    *.sources) sed 's/^Types:.*/Types: deb-src/' "$list" >"$apt/parts/$(basename "$list")" ;;
    *.list) [ ! -e "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >"$apt/parts/$(basename "$list")" ;;
    esac
done
cat >>"$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/parts";
END
sources=$folder/sources
rm -rf "$sources"
mkdir -p "$sources"
# apt complains about sources that have no source packages. The result is checked: the packages must be there.
if ! { APT_CONFIG=$apt/apt.conf apt-get update -qq || true; } >"$apt/log" 2>&1 ||
    ! (cd "$sources" && APT_CONFIG=$apt/apt.conf apt-get source -qq zlib cmocka) >>"$apt/log" 2>&1; then
    echo "SKIPPED: apt cannot get the sources of the libraries: $(grep '^E:' "$apt/log" | head -n 1)"
    rm -rf "$apt" "$folder/root" "$sources"
    exit 77
fi
{
    cd "$sources"/zlib-*/
    CC=$compiler CFLAGS="-O2 -fPIC" ./configure --static
    make libz.a
    cp zlib.h zconf.h "$folder/root/usr/include"
    cp libz.a "$folder/root/usr/lib/$triple"
    cd "$sources"/cmocka-*/
    cmake -S . -B build -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_C_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DWITH_STATIC_LIB=ON \
        -DWITH_EXAMPLES=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON
    cmake --build build --target cmocka-static
    cp include/cmocka*.h "$folder/root/usr/include"
    find build -name 'libcmocka*.a' -exec cp {} "$folder/root/usr/lib/$triple/libcmocka.a" \;
} >"$folder/log" 2>&1 || {
    tail -n 20 "$folder/log"
    exit 1
}
rm -rf "$apt" "$sources"
touch "$folder/root/complete"
