#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""package.py OUT --classes DIR --sources DIR --include DIR --headers DIR … [--javadoc DIR] [--jni ABI=DIR …] [--symbols ABI=DIR …] [--version V]
[--without-module]

Writes the artefacts of the Android binding to OUT, a Maven repository. Each has an AAR or jar, POM, Gradle module metadata, sources, javadoc, and
four checksums for every file. The same input gives the same bytes.

pytorch_android has the classes, the libraries, rules for shrinkers and the headers. pytorch_android_lite is a copy of this AAR, for apps that
download one file. Its module metadata tells Gradle that it is pytorch_android, so that an app with both, directly or through torchvision, gets the
classes once. The two torchvision artefacts are related in the same way. Tools that read only POMs see two libraries with the same classes, as in
PyTorch, so an app uses one library, with the torchvision artefact of the same kind. torchvision_ops is empty and has no dependency, so it fits
both libraries, which contain a stub of it. pytorch_java_only is a jar of the same classes for desktops."""
import argparse
import hashlib
import io
import json
import os
import sys
import xml.sax.saxutils
import zipfile

GROUP = "dev.taper"
OLD_GROUP = "org.pytorch"
OLD_VERSION = "2.1.0.1"  # above every published version of org.pytorch, so that a build that takes the highest version takes these artefacts
LOADER = ("com.facebook.soloader", "nativeloader", "0.10.5")
API = 21
LIBRARIES = ("libpytorch_jni.so", "libpytorch_jni_lite.so", "libtorchvision_ops.so")
RULES = """# The library looks these up by name when it is loaded.
-keep class org.pytorch.** { *; }
-keep class com.facebook.jni.CppException { <init>(java.lang.String); }
-dontwarn com.facebook.jni.CppException
-dontwarn com.facebook.soloader.nativeloader.**
"""


class Artifact:
    def __init__(self, name, text, namespace=None, torchvision=False, instead_of=(), same_as=None, needs=(), empty=False, jar=False):
        self.name, self.text, self.namespace = name, text, namespace
        self.torchvision = torchvision  # true if the artefact has the classes of torchvision
        self.instead_of = instead_of  # artefacts of org.pytorch that this artefact replaces
        self.same_as = same_as  # artefact with the same contents, which Gradle takes in place of this artefact
        self.needs = needs  # artefacts of this group on which this artefact depends
        self.empty, self.jar = empty, jar
        self.kind = "jar" if jar else "aar"


ARTIFACTS = (
    Artifact("pytorch_android", "Runs models of PyTorch Mobile on Android, with its classes", "org.pytorch",
             instead_of=("pytorch_android", "pytorch_android_lite")),
    Artifact("pytorch_android_lite", "pytorch_android under its other name", "org.pytorch", same_as="pytorch_android"),
    Artifact("pytorch_android_torchvision", "Tensors from pictures, for pytorch_android", "org.pytorch.torchvision", torchvision=True,
             instead_of=("pytorch_android_torchvision", "pytorch_android_torchvision_lite"), needs=("pytorch_android",)),
    Artifact("pytorch_android_torchvision_lite", "pytorch_android_torchvision under its other name", "org.pytorch.torchvision",
             torchvision=True, same_as="pytorch_android_torchvision", needs=("pytorch_android_lite",)),
    Artifact("torchvision_ops", "Nothing: pytorch_android has torchvision's operators", "org.pytorch.torchvision.ops",
             instead_of=("torchvision_ops",), empty=True),
    Artifact("pytorch_java_only", "The classes of pytorch_android for desktops, without a library", instead_of=("pytorch_java_only",),
             jar=True),
)


def zipped(entries):
    """Returns the bytes of an archive of {name: bytes}."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(entries, key=lambda n: (n != "META-INF/MANIFEST.MF", n)):
            info = zipfile.ZipInfo(name, (1980, 2, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entries[name])
    return out.getvalue()


def tree(folder, wanted=lambda path: True):
    entries = {}
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in names:
            path = os.path.relpath(os.path.join(top, name), folder).replace(os.sep, "/")
            if wanted(path):
                with open(os.path.join(top, name), "rb") as file:
                    entries[path] = file.read()
    return entries


def jar(entries):
    return zipped({"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n", **entries})


def is_torchvision(path):
    return path.startswith("org/pytorch/torchvision/")


class Packager:
    def __init__(self, options):
        self.options, self.version = options, options.version
        self.classes = tree(options.classes, lambda path: path.endswith(".class"))
        self.sources = tree(options.sources, lambda path: path.endswith(".java"))
        self.javadoc = tree(options.javadoc) if options.javadoc else {"README": b"See the sources.\n"}
        self.include = tree(options.include, lambda path: path.endswith(".h"))
        self.headers = dict(self.include)
        for folder in options.headers:
            self.headers.update(tree(folder, lambda path: path.endswith((".h", ".inc"))))
        self.jni = {}
        for pair in options.jni:
            abi, folder = pair.split("=", 1)
            for name in LIBRARIES:
                with open(os.path.join(folder, name), "rb") as file:
                    self.jni["jni/%s/%s" % (abi, name)] = file.read()
        if not self.classes or not self.include or not self.headers.get("torch/script.h"):
            sys.exit("package.py: no classes or no headers where they should be")

    def part(self, artifact, entries):
        if artifact.empty:
            return {}
        if artifact.jar:
            return entries
        return {path: data for path, data in entries.items() if is_torchvision(path) == artifact.torchvision}

    def aar(self, artifact):
        manifest = ('<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="%s">\n'
                    '    <uses-sdk android:minSdkVersion="%d" />\n</manifest>\n' % (artifact.namespace, API))
        entries = {"AndroidManifest.xml": manifest.encode(), "classes.jar": jar(self.part(artifact, self.classes)), "R.txt": b""}
        entries["META-INF/com/android/build/gradle/aar-metadata.properties"] = (
            b"aarFormatVersion=1.0\naarMetadataVersion=1.0\nminCompileSdk=1\nminAndroidGradlePluginVersion=1.0.0\n")
        if not artifact.empty:
            entries["proguard.txt"] = RULES.encode()
        if not artifact.empty and not artifact.torchvision:
            entries.update(self.jni)
            entries["prefab/prefab.json"] = json.dumps(
                {"schema_version": 2, "name": artifact.name, "version": self.version, "dependencies": []}, indent=2).encode() + b"\n"
            module = "prefab/modules/taper/"
            entries[module + "module.json"] = json.dumps({"export_libraries": [], "android": {}}, indent=2).encode() + b"\n"
            for path, data in self.include.items():
                entries[module + "include/" + path] = data
            # The C and C++ headers have the paths of PyTorch's AARs, because build files copy "headers/**" and
            # "jni/**" out of the AAR.
            for path, data in self.headers.items():
                entries["headers/" + path] = data
        return zipped(entries)

    def dependencies(self, artifact):
        """Returns (group, name, version) of each dependency, as in a POM."""
        return [(GROUP, name, self.version) for name in artifact.needs] + ([] if artifact.torchvision or artifact.empty else [LOADER])

    def pom(self, artifact):
        escape = xml.sax.saxutils.escape
        lines = ['<?xml version="1.0" encoding="UTF-8"?>']
        if not self.options.without_module:
            # This line tells Gradle that a .module file exists next to the POM.
            lines.append("<!-- do_not_remove: published-with-gradle-metadata -->")
        lines += ['<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
                  ' xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">',
                  "  <modelVersion>4.0.0</modelVersion>",
                  "  <groupId>%s</groupId>" % GROUP,
                  "  <artifactId>%s</artifactId>" % artifact.name,
                  "  <version>%s</version>" % self.version,
                  "  <packaging>%s</packaging>" % artifact.kind,
                  "  <name>%s</name>" % artifact.name,
                  "  <description>%s</description>" % escape(artifact.text)]
        home = self.options.home.rstrip("/")
        if home:
            lines.append("  <url>%s</url>" % escape(home))
        lines += ["  <licenses>\n    <license>\n      <name>BSD-2-Clause</name>\n      <url>https://opensource.org/licenses/BSD-2-Clause</url>"
                  "\n    </license>\n  </licenses>",
                  "  <developers>\n    <developer>\n      <name>The Taper authors</name>\n    </developer>\n  </developers>"]
        if home:
            lines.append("  <scm>\n    <connection>scm:git:%s.git</connection>\n    <url>%s</url>\n    <tag>v%s</tag>\n  </scm>"
                         % (escape(home), escape(home), self.version))
        dependencies = self.dependencies(artifact)
        if dependencies:
            lines.append("  <dependencies>")
            for group, name, version in dependencies:
                kind = "" if group != GROUP else "\n      <type>aar</type>"
                lines.append("    <dependency>\n      <groupId>%s</groupId>\n      <artifactId>%s</artifactId>\n      <version>%s</version>%s"
                             "\n      <scope>compile</scope>\n    </dependency>" % (group, name, version, kind))
            lines.append("  </dependencies>")
        return ("\n".join(lines + ["</project>"]) + "\n").encode()

    def module(self, artifact, files):
        """Returns Gradle module metadata; files: {suffix: bytes} of the published files."""
        def file(suffix):
            name, data = "%s-%s%s" % (artifact.name, self.version, suffix), files[suffix]
            return {"name": name, "url": name, "size": len(data),
                    **{h: hashlib.new(h, data).hexdigest() for h in ("sha512", "sha256", "sha1", "md5")}}

        def requires(group, name, version):
            return {"group": group, "module": name, "version": {"requires": version}}

        capabilities = [{"group": GROUP, "name": artifact.name, "version": self.version}]
        capabilities += [{"group": OLD_GROUP, "name": name, "version": OLD_VERSION} for name in artifact.instead_of]
        binary = [file("." + artifact.kind)]
        dependencies = [requires(*d) for d in self.dependencies(artifact)]
        if artifact.same_as:
            binary, dependencies = [], [requires(GROUP, artifact.same_as, self.version)]
        variants = []
        for name, usage in (("releaseApiElements", "java-api"), ("releaseRuntimeElements", "java-runtime")):
            variants.append({"name": name,
                             "attributes": {"org.gradle.category": "library", "org.gradle.dependency.bundling": "external",
                                            "org.gradle.libraryelements": artifact.kind, "org.gradle.usage": usage},
                             "dependencies": dependencies, "files": binary, "capabilities": capabilities})
        for name, kind in (("releaseSourcesElements", "sources"), ("releaseJavadocElements", "javadoc")):
            variants.append({"name": name,
                             "attributes": {"org.gradle.category": "documentation", "org.gradle.dependency.bundling": "external",
                                            "org.gradle.docstype": kind, "org.gradle.usage": "java-runtime"},
                             "files": [file("-%s.jar" % kind)], "capabilities": capabilities})
        return json.dumps({"formatVersion": "1.1",
                           "component": {"group": GROUP, "module": artifact.name, "version": self.version,
                                         "attributes": {"org.gradle.status": "release"}},
                           "variants": variants}, indent=2).encode() + b"\n"

    def symbols(self):
        """Returns the archive that Play and Crashlytics need: the libraries with their symbols, in a folder for each ABI."""
        entries = {}
        for abi, folder in (pair.split("=", 1) for pair in self.options.symbols):
            for name in LIBRARIES:
                path = os.path.join(folder, name)
                if os.path.exists(path):
                    with open(path, "rb") as file:
                        entries[abi + "/" + name] = file.read()
        return zipped(entries)

    def publish(self, artifact):
        files = {"." + artifact.kind: jar(self.part(artifact, self.classes)) if artifact.jar else self.aar(artifact),
                 "-sources.jar": jar(self.part(artifact, self.sources)),
                 "-javadoc.jar": jar(self.javadoc if not artifact.empty else {})}
        files[".pom"] = self.pom(artifact)
        if artifact.name == "pytorch_android" and self.options.symbols:
            files["-symbols.zip"] = self.symbols()
        if not self.options.without_module:
            files[".module"] = self.module(artifact, files)
        base = os.path.join(self.options.out, *GROUP.split("."), artifact.name)
        os.makedirs(os.path.join(base, self.version), exist_ok=True)
        for suffix, data in files.items():
            put(os.path.join(base, self.version, "%s-%s%s" % (artifact.name, self.version, suffix)), data)
        versions = sorted(name for name in os.listdir(base) if os.path.isdir(os.path.join(base, name)))
        put(os.path.join(base, "maven-metadata.xml"), (
            '<?xml version="1.0" encoding="UTF-8"?>\n<metadata>\n  <groupId>%s</groupId>\n  <artifactId>%s</artifactId>\n  <versioning>\n'
            "    <latest>%s</latest>\n    <release>%s</release>\n    <versions>\n%s    </versions>\n  </versioning>\n</metadata>\n"
            % (GROUP, artifact.name, self.version, self.version, "".join("      <version>%s</version>\n" % v for v in versions))).encode())
        return len(files["." + artifact.kind])


def put(path, data):
    with open(path, "wb") as file:
        file.write(data)
    for name in ("md5", "sha1", "sha256", "sha512"):
        with open(path + "." + name, "w", encoding="ascii") as file:
            file.write(hashlib.new(name, data).hexdigest())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--version", required=True)
    parser.add_argument("--home", default="", help="the address of the project, which POMs have as url and scm; without it they have neither")
    parser.add_argument("--classes", required=True)
    parser.add_argument("--sources", required=True)
    parser.add_argument("--include", required=True, help="the folder with taper/taper.h")
    parser.add_argument("--headers", required=True, nargs="+", help="folders with torch/script.h and what is generated for it")
    parser.add_argument("--javadoc")
    parser.add_argument("--jni", action="append", default=[], metavar="ABI=DIR", help="a folder with the three libraries")
    parser.add_argument("--symbols", action="append", default=[], metavar="ABI=DIR", help="the same libraries with symbols, for crash reports")
    parser.add_argument("--without-module", action="store_true", help="no Gradle module metadata")
    packager = Packager(parser.parse_args())
    for artifact in ARTIFACTS:
        print("%10d  %s.%s" % (packager.publish(artifact), artifact.name, artifact.kind))


if __name__ == "__main__":
    main()
