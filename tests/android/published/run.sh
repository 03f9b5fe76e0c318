#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh FOLDER CLASSES STUBS: compares our classes with the published artefacts on Maven Central. japicmp must find no change that
# breaks an app's binaries or sources, and bindings/android/api must list every public and protected member. The artefacts (up to 90 MB
# each) are downloaded once; their classes are kept in FOLDER. Exit 77 (skipped) if no artefact is available.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
classes=$2 stubs=$3
root=$(cd "$(dirname "$0")/../../.." && pwd)
api=$root/bindings/android/api
command -v mvn >/dev/null || { echo "SKIPPED: the published artefacts come with mvn, which is not here (package maven)"; exit 77; }

fetch() { # fetch ARTIFACT FILE: downloads the artefact's jar to FILE, if FILE is missing
    [ -e "$2" ] || { mvn -q -B dependency:copy "-Dartifact=$1" "-DoutputDirectory=$folder/new" -Dmdep.overWriteReleases=true >"$folder/maven.log" 2>&1 &&
        mv "$folder"/new/* "$2"; }
}
rm -rf "$folder/new"
japicmp=$folder/japicmp.jar
fetch com.github.siom79.japicmp:japicmp:0.23.1:jar:jar-with-dependencies "$japicmp" &&
    fetch com.facebook.fbjni:fbjni-java-only:0.2.2 "$folder/fbjni.jar" &&
    fetch com.facebook.soloader:nativeloader:0.10.5 "$folder/nativeloader.jar" || {
    echo "SKIPPED: Maven Central does not give the API differ: $(grep -m1 ERROR "$folder/maven.log" | cut -c1-300)"
    exit 77
}

passed=0 failed=0 missing=0
check() { # check WHAT: counts a check as passed if $status is 0, and as failed otherwise; a failure prints the command's output, $folder/out
    if [ "$status" = 0 ]; then
        passed=$((passed + 1))
        echo "ok      $1"
    else
        failed=$((failed + 1))
        echo "FAILED  $1"
        cat "$folder/out"
    fi
}
compare() { # compare OLD NEW: fails if the change from jar OLD to jar NEW breaks apps
    java -jar "$japicmp" --old "$1" --new "$2" --old-classpath "$folder/fbjni.jar:$folder/nativeloader.jar:$stubs" --new-classpath "$stubs" -a protected \
        --only-incompatible --error-on-binary-incompatibility --error-on-source-incompatibility >"$folder/out" 2>&1
}

rm -f "$folder/ours.jar" "$folder/less.jar"
(cd "$classes" && jar cf "$folder/ours.jar" . && jar cf "$folder/less.jar" org/pytorch/IValue.class)
for artifact in pytorch_android pytorch_android_lite pytorch_android_torchvision pytorch_android_torchvision_lite; do
    for version in 1.9.0 1.10.0 1.13.1 2.1.0; do
        old=$folder/$artifact-$version.jar
        if [ ! -e "$old" ]; then
            if ! fetch "org.pytorch:$artifact:$version:aar" "$folder/published.aar"; then
                missing=$((missing + 1))
                echo "not to be had: org.pytorch:$artifact:$version: $(grep -m1 -o 'Could not find artifact.*\|was not found in.*' "$folder/maven.log" | cut -c1-100)"
                continue
            fi
            unzip -qo -p "$folder/published.aar" classes.jar >"$folder/new.jar"
            mv "$folder/new.jar" "$old"
            rm "$folder/published.aar"
        fi
        status=0
        compare "$old" "$folder/ours.jar" || status=$?
        check "$artifact $version: no incompatible change"
        list=$api/${artifact%_lite}.txt
        status=0
        java "$api/ListApi.java" "$old" "$folder/fbjni.jar" "$folder/nativeloader.jar" "$stubs" >"$folder/list" 2>"$folder/out" || status=$?
        [ "$status" != 0 ] || ! grep -vxF -f "$list" "$folder/list" >"$folder/out" || status=1
        [ -s "$folder/list" ] || status=1
        check "$artifact $version: $(wc -l <"$folder/list") members are in $(basename "$list")"
        # japicmp itself is tested: it must find a planted difference.
        if compare "$old" "$folder/less.jar"; then status=1; else status=0; fi
        check "$artifact $version: classes that are missing are found"
    done
done
echo "$missing of the sixteen artefacts are not to be had"
[ $missing != 16 ] || { echo "SKIPPED: Maven Central gives none of them"; exit 77; }
echo "$passed passed, $failed failed"
exit $((failed != 0))
