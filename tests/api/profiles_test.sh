#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# profiles_test.sh CMAKE SOURCE CC GENERATOR MAKE [PROFILE...]: checks CMake's messages about profiles and about former options. Then builds
# the programs of each PROFILE (default: lean), which must give the recorded results of PyTorch. The profiles full and one need no run here:
# this build has the profile full, and the test one_model covers the profile one. On x86-64 the test also measures how many bytes gradients
# add to the library of lean.
set -eu
cmake=$1 source=$2 cc=$3 generator=$4 make=$5
shift 5
[ $# -gt 0 ] || set -- lean
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0

pass() { passed=$((passed + 1)); }
fail() {
    echo "FAILED $*"
    exit 1
}
configure() { # configure FOLDER OPTIONS...: runs CMake with the options for a build in FOLDER
    folder=$1
    shift
    "$cmake" -S "$source" -B "$scratch/$folder" -G "$generator" -DCMAKE_MAKE_PROGRAM="$make" -DCMAKE_C_COMPILER="$cc" \
        -DTAPER_BUILD_BENCH=OFF "$@" >"$scratch/log" 2>&1
}
# refused WORDS OPTIONS...: CMake must stop with these words.
refused() {
    words=$1
    shift
    ! configure refused "$@" || fail "$*: is not refused"
    tr '\n' ' ' <"$scratch/log" | tr -s ' ' | grep -qF -e "$words" || {
        cat "$scratch/log"
        fail "$*: CMake does not say \"$words\""
    }
    pass
}
refused 'there is no profile "tiny"; there are: full, lean, one' -DTAPER_PROFILE=tiny
refused "TAPER_WITH_WINOGRAD is no option any more" -DTAPER_PROFILE=full -DTAPER_WITH_WINOGRAD=OFF
for option in HALVES RECORDINGS PACKS_FILE CACHING DEVICES; do
    refused "TAPER_WITH_$option is no option any more: TAPER_PROFILE=one" -DTAPER_PROFILE=full -DTAPER_WITH_$option=OFF
    refused "TAPER_WITH_$option is no option any more: TAPER_PROFILE=full" -DTAPER_PROFILE=one -DTAPER_WITH_$option=ON
done

# A folder that was configured when these options existed must still configure.
configure kept -DTAPER_PROFILE=full -DTAPER_BUILD_TOOLS=OFF -DTAPER_BUILD_TESTS=OFF -DTAPER_WITH_HALVES=ON -DTAPER_WITH_WINOGRAD=ON || {
    cat "$scratch/log"
    fail "values that all profiles have are refused"
}
grep -q '^TAPER_WITH_HALVES' "$scratch/kept/CMakeCache.txt" && fail "what is no option stays in the cache"
pass

for profile in "$@"; do
    configure "$profile" -DCMAKE_BUILD_TYPE=MinSizeRel -DTAPER_PROFILE="$profile" -DTAPER_BUILD_TESTS=core -DTAPER_WITH_VULKAN=OFF || {
        cat "$scratch/log"
        fail "$profile is not configured"
    }
    "$cmake" --build "$scratch/$profile" --parallel "$(getconf _NPROCESSORS_ONLN)" --target taper_program recorded_cases kernel_check \
        >"$scratch/log" 2>&1 || {
        tail -n 40 "$scratch/log"
        fail "$profile is not built"
    }
    (cd "$scratch/$profile" && "$(dirname "$cmake")/ctest" --output-on-failure -R '^(recorded|recorded_twice|kernels)$') >"$scratch/log" 2>&1 || {
        tail -n 40 "$scratch/log"
        fail "$profile gives other results"
    }
    pass
    if [ "$profile" = lean ] && [ "$(uname -m)" = x86_64 ] && command -v strip >/dev/null; then
        limit=$(sed -n 's/.*TAPER_WITH_GRADIENTS) echo \([0-9]*\).*/\1/p' "$source/scripts/size.sh")
        sizes=
        for gradients in OFF ON; do
            configure "$profile" -DTAPER_WITH_GRADIENTS=$gradients || fail "$profile with gradients $gradients is not configured"
            "$cmake" --build "$scratch/$profile" --parallel "$(getconf _NPROCESSORS_ONLN)" --target taper_shared >"$scratch/log" 2>&1 || {
                tail -n 40 "$scratch/log"
                fail "$profile with gradients $gradients is not built"
            }
            strip -s -o "$scratch/stripped" "$scratch/$profile/lib/libtaper.so"
            sizes="$(wc -c <"$scratch/stripped" | tr -d ' ') - ${sizes:-0}"
        done
        added=$(($sizes))
        echo "gradients add $added bytes"
        [ "$added" -gt 0 ] && [ "$added" -le "$limit" ] || fail "gradients add $added bytes, which must be 1 to $limit (scripts/size.sh)"
        pass
    fi
done
echo "$passed passed, 0 failed"
