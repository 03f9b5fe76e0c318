#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# debian.sh FOLDER [BARE]: makes Debian's source package and the packages of packaging/debian in FOLDER, from a copy of the tree, and checks
# them with lintian. BARE is the root of a bare Debian 12 (debootstrap --variant=minbase bookworm BARE): the packages are installed in a
# copy of it, as by a user, and the README's first examples run. Needs dpkg-dev, debhelper and the build dependencies in
# packaging/debian/control; the exit status is 77 if one is missing.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?debian.sh FOLDER [BARE]} bare=${2:-}
for program in dpkg-buildpackage dh lintian; do
    command -v $program >/dev/null || { echo "SKIPPED: no $program (Debian: dpkg-dev debhelper lintian)"; exit 77; }
done
if ! missing=$(cd "$root/packaging" && dpkg-checkbuilddeps 2>&1); then
    echo "SKIPPED: $missing"
    exit 77
fi
version=$(sed -n 's/^project(taper VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[ "$(sed -n '1s/.*(\([0-9.]*\)-[0-9]*).*/\1/p' "$root/packaging/debian/changelog")" = "$version" ] ||
    { echo "FAILED: packaging/debian/changelog is not of version $version"; exit 1; }
rm -rf "$folder"
mkdir -p "$folder/taper-$version"
folder=$(cd "$folder" && pwd)
(cd "$root" && tar -cf - --exclude=__pycache__ CMakeLists.txt LICENSE README.md CHANGELOG.md SECURITY.md cmake src include tools bindings docs examples) |
    tar -xf - -C "$folder/taper-$version"
# The tarball has fixed dates and no names of people, so it is the same each time.
(cd "$folder" && tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@${SOURCE_DATE_EPOCH:-1764028800} -cf - "taper-$version" | gzip -n >"taper_$version.orig.tar.gz")
cp -r "$root/packaging/debian" "$folder/taper-$version/debian"
(cd "$folder/taper-$version" && DEB_BUILD_OPTIONS="parallel=${JOBS:-2}" dpkg-buildpackage -us -uc) >"$folder/log" 2>&1 || {
    tail -n 60 "$folder/log"
    exit 1
}
lintian --allow-root --fail-on error "$folder"/taper_*.changes
ls "$folder"/*.deb
[ -n "$bare" ] || exit 0

# ---- install the packages as a user does

used=$folder/bare
cp -a "$bare" "$used"
cp /etc/resolv.conf /etc/hosts "$used/etc/"
cp "$folder"/*.deb "$used/root/"
cp "$root/packaging/debian/tests/example" "$used/root/"
for at in proc dev sys; do mount --bind /$at "$used/$at"; done
trap 'for at in sys dev proc; do umount "$used/$at" || true; done' EXIT
inside() { chroot "$used" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive sh -c "cd /root && $1"; }
inside "apt-get update -qq && apt-get install -y -qq --no-install-recommends ./taper_*.deb ./libtaper0_*.deb >log 2>&1 || { cat log; exit 1; }"
echo "a bare Debian, with taper installed:"
inside "taper classify /usr/share/doc/taper/examples/demo/classifier.ptl /usr/share/doc/taper/examples/demo/images/picnic.jpg"
inside "apt-get install -y -qq --no-install-recommends ./*.deb gcc libc6-dev pkg-config >log 2>&1 || { cat log; exit 1; }"
inside "./example"
