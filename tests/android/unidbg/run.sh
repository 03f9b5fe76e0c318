#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh FOLDER LIBRARY…: runs LoadTest with each libpytorch_jni.so, for arm64 or armv7 of Android, in unidbg, which comes from Maven
# Central. Exit 77 (skipped) if Maven or its server is not available.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
data=$here/../../data
command -v mvn >/dev/null || { echo "SKIPPED: this machine does not run unidbg: mvn is not here (package maven)"; exit 77; }
if [ ! -e "$folder/classpath" ]; then
    mvn -q -B -f "$here/pom.xml" dependency:build-classpath "-Dmdep.outputFile=$folder/classpath.new" >"$folder/maven.log" 2>&1 || {
        echo "SKIPPED: this machine does not run unidbg: Maven Central does not give it: $(grep -m1 ERROR "$folder/maven.log")"
        exit 77
    }
    mv "$folder/classpath.new" "$folder/classpath"
fi
path=$folder/classes:$(cat "$folder/classpath")
rm -rf "$folder/classes" "$folder/models"
mkdir "$folder/classes" "$folder/models"
cp "$data/android/kinds.ptl" "$data/samples/s01_convnet.ptl" "$data"/samples/s01_convnet.c0.*.npy "$folder/models"
head -c 1000 "$data/android/kinds.ptl" >"$folder/models/kinds.ptl.short"
javac -nowarn -encoding UTF-8 -d "$folder/classes" -cp "$path" "$here/LoadTest.java" 2>"$folder/javac.log" || { cat "$folder/javac.log"; exit 1; }
status=0
for library in "$@"; do
    echo "== $library"
    library=$(cd "$(dirname "$library")" && pwd)/$(basename "$library")
    # unidbg writes a folder into the current folder, and a message that it keeps no log to stderr.
    (cd "$folder" && java -Dfile.encoding=UTF-8 -cp "$path" LoadTest "$library" "$folder/models" </dev/null 2>"$folder/errors") || {
        status=1
        tail -n 40 "$folder/errors"
    }
done
exit $status
