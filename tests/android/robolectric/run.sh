#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run.sh FOLDER CLASSES LIBRARIES: runs AppTest with Robolectric, whose jars come from Maven Central (350 MB, downloaded only once). Exit
# 77 (skipped) if Maven or its server is not available.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
classes=$2 libraries=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
command -v mvn >/dev/null || { echo "SKIPPED: this machine does not run Robolectric: mvn is not here (package maven)"; exit 77; }
framework=/usr/share/android-framework-res/framework-res.apk
command -v aapt >/dev/null && [ -e $framework ] || {
    echo "SKIPPED: this machine does not run Robolectric: aapt and $framework make the package with the assets"
    exit 77
}
android=android-all-instrumented-14-robolectric-10818077-i7.jar
if [ ! -e "$folder/classpath" ] || [ ! -e "$folder/android/$android" ]; then
    { mvn -q -B -f "$here/pom.xml" dependency:build-classpath "-Dmdep.outputFile=$folder/classpath" &&
        mvn -q -B dependency:copy -Dartifact=org.robolectric:android-all-instrumented:14-robolectric-10818077-i7 \
            "-DoutputDirectory=$folder/android"; } >"$folder/maven.log" 2>&1 || {
        rm -f "$folder/classpath"
        echo "SKIPPED: this machine does not run Robolectric: Maven Central does not give it: $(grep -m1 ERROR "$folder/maven.log")"
        exit 77
    }
fi
path=$classes:$(cat "$folder/classpath")

# Subclasses of Image are compiled against the tests' stand-in for Image, because Robolectric adds members to Image. Both example apps
# are compiled together, with the assets of both and a manifest that has their activities.
rm -rf "$folder/classes" "$folder/assets"
mkdir -p "$folder/classes/com/android/tools" "$folder/assets" "$folder/media/android"
examples=$root/examples
cp -r "$(dirname "$classes")/stub-classes/android/media" "$folder/media/android/"
javac -Xlint:-options -nowarn -encoding UTF-8 -proc:none -d "$folder/classes" -cp "$folder/media:$folder/android/$android:$path" \
    $(find "$examples/android/HelloWorld/src" "$here/stand_ins" -name "*.java") "$here/AppTest.java"
if command -v kotlinc >/dev/null && [ -e /usr/share/java/kotlin-stdlib.jar ]; then
    plain=$(find "$folder" -name 'android-4.1.1.4.jar')
    [ -n "$plain" ] || { mvn -q -B dependency:copy -Dartifact=com.google.android:android:4.1.1.4 "-DoutputDirectory=$folder/plain" >"$folder/maven.log" 2>&1 &&
        plain=$folder/plain/android-4.1.1.4.jar; }
    kotlinc -no-stdlib -no-reflect -jvm-target 1.6 -cp "$plain:$classes:/usr/share/java/kotlin-stdlib.jar" -d "$folder/classes" \
        "$examples/android/ImageSegmentation/src" >"$folder/kotlinc.log" 2>&1 || { cat "$folder/kotlinc.log"; exit 1; }
    path=$path:/usr/share/java/kotlin-stdlib.jar
fi
cp "$examples/demo/classifier.ptl" "$examples/demo/segmenter.ptl" "$folder/assets"
cp "$examples/demo/images/picnic.jpg" "$folder/assets/image.jpg"
cat >"$folder/AndroidManifest.xml" <<END
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="dev.taper.examples">
    <uses-sdk android:minSdkVersion="21" android:targetSdkVersion="34" />
    <application>
        <activity android:name="dev.taper.helloworld.MainActivity" android:exported="true" />
        <activity android:name="dev.taper.imagesegmentation.MainActivity" android:exported="true" />
    </application>
</manifest>
END
# Assets are read from a package, which stores the classifier and compresses the segmenter.
aapt package -f -M "$folder/AndroidManifest.xml" -A "$folder/assets" -I "$framework" -0 classifier.ptl -F "$folder/assets.apk"
cat >"$folder/classes/com/android/tools/test_config.properties" <<END
android_merged_manifest=$folder/AndroidManifest.xml
android_merged_assets=$folder/assets
android_resource_apk=$folder/assets.apk
android_custom_package=dev.taper.examples
END
# JUnit loads Android's classes before Robolectric replaces them, so the class path ends with android.jar, as in an app.
java --add-opens java.base/java.io=ALL-UNNAMED -cp "$folder/classes:$path:$folder/android/$android" -Djava.library.path="$libraries" -Drobolectric.offline=true "-Drobolectric.dependency.dir=$folder/android" \
    -Dmodel="$examples/demo/classifier.ptl" org.junit.runner.JUnitCore AppTest >"$folder/test.log" 2>&1 && status=0 || status=$?
cat "$folder/test.log"
awk '/^OK \(/ { gsub(/\(/, "", $2); print $2 " passed, 0 failed" }
     /^Tests run:/ { gsub(/,/, ""); print $3 - $5 " passed, " $5 " failed" }' "$folder/test.log"
exit $status
