#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# need_ndk.sh: succeeds if ANDROID_NDK is an NDK, or ANDROID_SYSROOT a folder (scripts/android/library.sh). Otherwise it prints one line
# on stderr that says which variable to set, and the exit status is 1.
set -eu
if [ -n "${ANDROID_NDK:-}" ]; then
    [ -e "$ANDROID_NDK/source.properties" ] && exit 0
    echo "ANDROID_NDK: $ANDROID_NDK is no NDK: it has no source.properties" >&2
elif [ -n "${ANDROID_SYSROOT:-}" ]; then
    [ -d "$ANDROID_SYSROOT" ] && exit 0
    echo "ANDROID_SYSROOT: there is no folder $ANDROID_SYSROOT" >&2
else
    echo "ANDROID_NDK is not set: set it to the folder of the Android NDK, the one with source.properties" >&2
fi
exit 1
