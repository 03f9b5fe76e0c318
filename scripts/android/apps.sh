#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# apps.sh OUT: makes signed APKs of examples/android in OUT/apps, from the AARs in OUT/repository, without Gradle and Google's SDK: javac
# and kotlinc, dx (Maven Central; it takes class files of Java 7 and of Kotlin 1.3), aapt with the resources of Debian's
# android-framework-res, zipalign and apksigner. Android's classes are Maven Central's com.google.android:android, which has API 16. Exit 77
# (skipped) if one of these is not available.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$(cd "$1" && pwd)
tools=$out/tools work=$out/apps
version=$(sed -n 's/^project(taper VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
framework=/usr/share/android-framework-res/framework-res.apk
kotlin=/usr/share/java/kotlin-stdlib.jar
repository=$out/repository/dev/taper

skip() { echo "SKIPPED: $*"; exit 77; }
for tool in javac kotlinc mvn aapt zipalign apksigner keytool python3; do
    command -v $tool >/dev/null || skip "APKs need $tool"
done
[ -e $framework ] || skip "APKs need $framework (package android-framework-res)"
[ -e "$repository/pytorch_android/$version" ] || skip "no AARs in $repository: ANDROID_NDK or ANDROID_SYSROOT gives them"

# maven GROUP:NAME:VERSION: downloads the jar if it is missing, and sets $jar to its path.
maven() {
    jar=$tools/$(echo "$1" | cut -d: -f2)-$(echo "$1" | cut -d: -f3).jar
    [ -e "$jar" ] || mvn -q -B dependency:copy "-Dartifact=$1" "-DoutputDirectory=$tools" >"$tools/maven.log" 2>&1 ||
        skip "Maven Central does not give $1: $(grep -m1 ERROR "$tools/maven.log")"
}
mkdir -p "$tools"
rm -rf "$work"
mkdir -p "$work"
maven com.google.android:android:4.1.1.4
android=$jar
maven com.jakewharton.android.repackaged:dalvik-dx:14.0.0_r21
dx=$jar
[ -e "$out/debug.keystore" ] || keytool -genkeypair -keystore "$out/debug.keystore" -storepass android -keypass android -alias debug \
    -keyalg RSA -keysize 2048 -validity 10000 -dname "CN=Debug" >/dev/null 2>&1

# Unpacks the classes and .so files of the AARs to where an app has them.
classes=""
for name in pytorch_android pytorch_android_torchvision; do
    python3 -m zipfile -e "$repository/$name/$version/$name-$version.aar" "$work/$name"
    classes="$classes:$work/$name/classes.jar"
done

# app FOLDER MODEL PICTURE: makes the APK of examples/android/FOLDER.
app() {
    app=$work/$1
    source=$root/examples/android/$1
    mkdir -p "$app/classes" "$app/assets" "$app/apk/lib"
    cp "$root/examples/demo/$2" "$app/assets"
    cp "$root/examples/demo/images/$3" "$app/assets/image.jpg"
    cp -r "$work/pytorch_android/jni/." "$app/apk/lib"
    set -- "$app/classes" "$work/pytorch_android/classes.jar" "$work/pytorch_android_torchvision/classes.jar"
    if [ -n "$(find "$source/src" -name '*.kt')" ]; then
        kotlinc -no-stdlib -no-reflect -jvm-target 1.6 -cp "$android$classes:$kotlin" -d "$app/classes" "$source/src" 2>"$app/kotlinc.log" || {
            cat "$app/kotlinc.log"
            exit 1
        }
        rm -rf "$app/classes/META-INF"
        mkdir -p "$app/kotlin"
        python3 -m zipfile -e $kotlin "$app/kotlin"
        rm -rf "$app/kotlin/META-INF"
        set -- "$@" "$app/kotlin"
    else
        find "$source/src" -name '*.java' >"$app/sources.txt"
        javac --release 7 -Xlint:-options -encoding UTF-8 -cp "$android$classes" -d "$app/classes" "@$app/sources.txt"
    fi
    java -Xmx1500m -cp "$dx" com.android.dx.command.Main --dex --min-sdk-version=21 "--output=$app/apk/classes.dex" "$@"
    # The model and the libraries are mapped from the package, so they are not compressed.
    aapt package -f -M "$source/AndroidManifest.xml" -A "$app/assets" -I $framework -0 ptl -F "$app/plain.apk"
    # shellcheck disable=SC2046
    (cd "$app/apk" && aapt add "$app/plain.apk" classes.dex && aapt add -0 "" "$app/plain.apk" $(find lib -type f | sort)) >"$app/aapt.log"
    zipalign -f 16384 "$app/plain.apk" "$app/aligned.apk"
    apksigner sign --ks "$out/debug.keystore" --ks-pass pass:android --min-sdk-version 21 --out "$app.apk" "$app/aligned.apk"
    apksigner verify --min-sdk-version 21 "$app.apk"
    rm -f "$app.apk.idsig"
    python3 "$root/scripts/android/check_apk.py" "$app.apk"
}
app HelloWorld classifier.ptl picnic.jpg
app ImageSegmentation segmenter.ptl lake.jpg
