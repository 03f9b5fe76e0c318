#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""package_test.py --repository DIR --abis A,B [--system bionic|glibc] [--limit BYTES]: checks the AARs in a repository.
package_test.py --make --libraries DIR --classes DIR --headers DIR [--cxx COMPILER]: makes a repository of the stripped libraries of this
machine's build, and checks it."""
import argparse
import hashlib
import io
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts", "android"))
import check_library  # noqa: E402
import package  # noqa: E402

MACHINES = {"arm64-v8a": 183, "armeabi-v7a": 40, "x86_64": 62, "x86": 3}
POM = "{http://maven.apache.org/POM/4.0.0}"
ANDROID = "{http://schemas.android.com/apk/res/android}"
HOME = "https://taper.example"  # address of the project in the POMs of the repository that this test makes
NAMES = [a.name for a in package.ARTIFACTS]
passed = failed = 0


def check(condition, what):
    global passed, failed
    if condition:
        passed += 1
    else:
        failed += 1
        print("FAILED  " + what)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def entries(data, name):
    """Returns {name: bytes} of an archive, after comparing each entry's checksum with its bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        check(len(names) == len(set(names)), "%s: an entry is there twice" % name)
        check(all(not n.startswith("/") and ".." not in n.split("/") for n in names), "%s: an entry lies outside" % name)
        return {n: archive.read(n) for n in names}


class Repository:
    def __init__(self, folder):
        self.folder = os.path.join(folder, *package.GROUP.split("."))
        self.versions = {n: os.listdir(os.path.join(self.folder, n)) for n in os.listdir(self.folder)}
        self.version = next(v for v in self.versions["pytorch_android"] if not v.startswith("maven-metadata"))

    def file(self, name, suffix):
        return os.path.join(self.folder, name, self.version, "%s-%s%s" % (name, self.version, suffix))

    def archive(self, name, suffix):
        return entries(read(self.file(name, suffix)), name + suffix)


def layout(repository):
    check(sorted(repository.versions) == sorted(NAMES), "artefacts: %s" % sorted(repository.versions))
    for top, _, names in os.walk(repository.folder):
        for name in names:
            if not name.endswith((".md5", ".sha1", ".sha256", ".sha512")):
                data = read(os.path.join(top, name))
                for kind in ("md5", "sha1", "sha256", "sha512"):
                    path = os.path.join(top, name + "." + kind)
                    check(os.path.exists(path) and read(path).decode() == hashlib.new(kind, data).hexdigest(), path)
    for name in NAMES:
        root = xml.etree.ElementTree.parse(os.path.join(repository.folder, name, "maven-metadata.xml")).getroot()
        check([v.text for v in root.iter("version")] == [repository.version], name + ": versions in maven-metadata.xml")


def poms(repository, home):
    for artifact in package.ARTIFACTS:
        text = read(repository.file(artifact.name, ".pom")).decode()
        root = xml.etree.ElementTree.fromstring(text)
        check("published-with-gradle-metadata" in text, artifact.name + ".pom: Gradle does not look for the .module")
        check([root.find(POM + t).text for t in ("groupId", "artifactId", "version", "packaging")] ==
              [package.GROUP, artifact.name, repository.version, artifact.kind], artifact.name + ".pom")
        for path in ("name", "description", "licenses/license/name", "licenses/license/url", "developers/developer/name"):
            found = root.find(POM + path.replace("/", "/" + POM))
            check(found is not None and found.text, "%s.pom has no %s" % (artifact.name, path))
        # The POM has both elements, with the address of --home, or has neither element.
        url, scm = root.find(POM + "url"), root.find(POM + "scm")
        check((url is None) == (scm is None) and (url is not None or not home), artifact.name + ".pom: url and scm")
        if url is not None:
            tag = scm.find(POM + "tag").text
            check(scm.find(POM + "url").text == url.text and tag == "v" + repository.version, "%s.pom: scm, %s" % (artifact.name, tag))
            check(not home or url.text == home, "%s.pom: url %s" % (artifact.name, url.text))
        needs = {d.find(POM + "artifactId").text: d for d in root.iter(POM + "dependency")}
        check(not any("fbjni" in n for n in needs), artifact.name + ".pom: fbjni")
        for name, d in needs.items():
            ours = d.find(POM + "groupId").text == package.GROUP
            check(name == "nativeloader" or (ours and name in NAMES and d.find(POM + "type").text == "aar"), artifact.name + ".pom: " + name)
        if artifact.name in ("pytorch_android", "pytorch_android_lite", "pytorch_java_only"):
            check("nativeloader" in needs, artifact.name + ".pom has no nativeloader")


def modules(repository):
    provided = {}
    for artifact in package.ARTIFACTS:
        module = json.loads(read(repository.file(artifact.name, ".module")))
        what = artifact.name + ".module: "
        check(module["formatVersion"] == "1.1", what + "formatVersion")
        check([module["component"][k] for k in ("group", "module", "version")] == [package.GROUP, artifact.name, repository.version], what)
        usages = []
        for variant in module["variants"]:
            usages.append(variant["attributes"].get("org.gradle.docstype", variant["attributes"]["org.gradle.usage"]))
            for file in variant["files"]:
                data = read(os.path.join(os.path.dirname(repository.file(artifact.name, "")), file["url"]))
                check(file["size"] == len(data) and all(file[h] == hashlib.new(h, data).hexdigest() for h in ("sha512", "sha256", "sha1", "md5")),
                      what + file["url"])
            for d in variant.get("dependencies", []):
                check(d["group"] != package.GROUP or (d["module"] in NAMES and d["version"]["requires"] == repository.version), what + str(d))
            own = [(c["group"], c["name"]) for c in variant["capabilities"]]
            check((package.GROUP, artifact.name) in own, what + "its own capability is missing")
            if variant["attributes"]["org.gradle.category"] == "library":
                check(variant["attributes"]["org.gradle.libraryelements"] == artifact.kind, what + "libraryelements")
                if artifact.same_as:
                    check(not variant["files"] and [d["module"] for d in variant["dependencies"]] == [artifact.same_as], what + "is not " + artifact.same_as)
                    check(len(own) == 1, what + "takes a place that %s has" % artifact.same_as)
                for group, name in own:
                    provided.setdefault((group, name), set()).add(artifact.name)
        check(usages == ["java-api", "java-runtime", "sources", "javadoc"], what + str(usages))
    for name in NAMES:
        check(len(provided.get((package.OLD_GROUP, name), ())) == 1, "org.pytorch:%s is provided by %s" % (name, provided.get((package.OLD_GROUP, name))))


def closure(repository, names):
    """Returns the artefacts that an app with these dependencies gets, if its build tool reads only POMs."""
    found, left = set(), list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            root = xml.etree.ElementTree.fromstring(read(repository.file(name, ".pom")))
            left += [d.find(POM + "artifactId").text for d in root.iter(POM + "dependency") if d.find(POM + "groupId").text == package.GROUP]
    return found


def each_class_once(repository):
    """Checks combinations of dependencies for tools that do not read module metadata: every class, library and header comes from exactly one
    artefact."""
    for kind in ("", "_lite"):
        for more in ((), ("torchvision_ops",), ("pytorch_android_torchvision" + kind,), ("pytorch_android_torchvision" + kind, "torchvision_ops")):
            names = closure(repository, ("pytorch_android" + kind,) + more)
            seen = {}
            for name in names:
                aar = repository.archive(name, ".aar")
                for entry in [n for n in aar if n.startswith(("jni/", "prefab/"))] + list(entries(aar["classes.jar"], name)):
                    if not entry.startswith("META-INF"):
                        seen.setdefault(entry, []).append(name)
            twice = {entry: where for entry, where in seen.items() if len(where) > 1}
            check(not twice, "%s bring entries twice: %s" % (sorted(names), list(twice.items())[:2]))
            check("org/pytorch/Module.class" in seen and ("org/pytorch/torchvision/TensorImageUtils.class" in seen) == any("torchvision" in m and "ops" not in m for m in more),
                  "%s: classes" % sorted(names))


def published_classes():
    for name in ("pytorch_android", "pytorch_android_torchvision"):
        with open(os.path.join(ROOT, "bindings", "android", "api", name + ".txt"), encoding="utf-8") as file:
            for line in file:
                found = re.match(r"(?:class |interface |enum )?(org\.pytorch[\w.$]*)", line)
                if found:
                    yield found[1]


def archives(repository):
    whole = repository.archive("pytorch_java_only", ".jar")
    classes = {}
    for artifact in package.ARTIFACTS:
        if artifact.jar:
            continue
        aar = repository.archive(artifact.name, ".aar")
        what = artifact.name + ".aar: "
        manifest = xml.etree.ElementTree.fromstring(aar["AndroidManifest.xml"])
        check(manifest.get("package") == artifact.namespace and manifest.find("uses-sdk").get(ANDROID + "minSdkVersion") == "21", what + "manifest")
        check("R.txt" in aar and b"aarFormatVersion=1.0" in aar["META-INF/com/android/build/gradle/aar-metadata.properties"], what + "metadata")
        classes[artifact.name] = {n: d for n, d in entries(aar["classes.jar"], artifact.name).items() if n.endswith(".class")}
        for name, data in classes[artifact.name].items():
            check(data[:4] == b"\xca\xfe\xba\xbe" and data[7] <= 52, what + name + " is for a later Java than 8")
            check(whole.get(name) == data, what + name + " is another one than in pytorch_java_only")
        if artifact.empty:
            check(not classes[artifact.name] and not any(n.startswith("jni/") for n in aar), what + "is not empty")
            continue
        check(b"-keep class org.pytorch.**" in aar["proguard.txt"], what + "rules for shrinkers")
        if artifact.same_as:
            other = repository.archive(artifact.same_as, ".aar")
            check({n: d for n, d in aar.items() if n != "prefab/prefab.json"} == {n: d for n, d in other.items() if n != "prefab/prefab.json"},
                  what + "is not " + artifact.same_as)
        if not artifact.torchvision:
            prefab = json.loads(aar["prefab/prefab.json"])
            check([prefab[k] for k in ("schema_version", "name", "dependencies")] == [2, artifact.name, []], what + "prefab.json")
            check(re.fullmatch(r"\d+(\.\d+){0,3}", prefab["version"]), what + "a version that CMake reads")
            check(json.loads(aar["prefab/modules/taper/module.json"])["export_libraries"] == [], what + "module.json")
            headers = {n.split("/include/", 1)[1]: d for n, d in aar.items() if n.startswith("prefab/modules/taper/include/")}
            check(headers == package.tree(os.path.join(ROOT, "include")), what + "headers")
            headers = {n[len("headers/"):]: d for n, d in aar.items() if n.startswith("headers/")}
            for folder in ("include", "bindings/cpp/include"):
                for path, data in package.tree(os.path.join(ROOT, folder)).items():
                    check(headers.pop(path, None) == data, what + "headers/" + path)
            made = ["functions.h", "methods.inc", "spaces.h", "vision.h"]
            check(sorted(headers) == ["taper/cpp/generated/" + name for name in made], what + "generated headers")
        for suffix, ending in (("-sources.jar", ".java"), ("-javadoc.jar", "")):
            check(any(n.endswith(ending) for n in repository.archive(artifact.name, suffix)), artifact.name + suffix)
    both = set(classes["pytorch_android"]) | set(classes["pytorch_android_torchvision"])
    check(not set(classes["pytorch_android"]) & set(classes["pytorch_android_torchvision"]), "a class is in two artefacts")
    check(both == {n for n in whole if n.endswith(".class")}, "a class is in no AAR")
    for name in set(published_classes()):
        parts = name.split(".")
        check(any("/".join(parts[:i]) + ".class" in both for i in range(len(parts), 1, -1)), "published, but in no AAR: " + name)
    with open(os.path.join(ROOT, "bindings", "android", "jni", "ids.c"), encoding="utf-8") as file:
        for name in re.findall(r'"(org/pytorch/\w+)"', file.read()):
            check(name + ".class" in classes["pytorch_android"], name + ", which the library looks up, is not in the AAR")


def libraries(repository, abis, system, limit):
    for name in ("pytorch_android", "pytorch_android_lite"):
        path = repository.file(name, ".aar")
        aar = repository.archive(name, ".aar")
        check(sorted({n.split("/")[1] for n in aar if n.startswith("jni/")}) == sorted(abis), "%s: ABIs" % name)
        check(not limit or os.path.getsize(path) <= limit, "%s.aar has %d bytes, more than %s" % (name, os.path.getsize(path), limit))
        check(not any("fbjni" in n or "c++" in n for n in aar), name + ": fbjni or libc++")
        for abi in abis:
            for library in package.LIBRARIES:
                elf = check_library.Elf(aar["jni/%s/%s" % (abi, library)])
                what = "%s: %s for %s" % (name, library, abi)
                check(elf.machine == MACHINES[abi], what + " is for machine %d" % elf.machine)
                for fault in check_library.faults(elf, system):
                    check(False, "%s: %s" % (what, fault))
                check(elf.texts(14) == [library], what + " has another soname")
                if library != "libpytorch_jni.so":
                    check(elf.texts(1)[:1] == ["libpytorch_jni.so"], what + " does not need libpytorch_jni.so")
                    check(len(elf.data) <= check_library.STUB[system], what + " has %d bytes" % len(elf.data))
            elf = check_library.Elf(aar["jni/%s/libpytorch_jni.so" % abi])
            shown = {n for n, defined in elf.symbols() if defined}
            with open(os.path.join(ROOT, "include", "taper", "taper.h"), encoding="utf-8") as file:
                declared = set(re.findall(r"\b(taper_\w+)\(", file.read()))
            for wanted in ("JNI_OnLoad", "taper_model_load", "taper_session_run", "Java_org_pytorch_NativeLibrary_run"):
                check(wanted in shown, "%s does not show %s" % (abi, wanted))
            check(declared & shown, "%s shows no function of taper.h" % abi)


def compiles(repository, abi, compiler, scratch):
    """Compiles C++ of an app with only the contents of the AAR."""
    folder = os.path.join(scratch, "aar")
    with zipfile.ZipFile(repository.file("pytorch_android", ".aar")) as file:
        file.extractall(folder)
    program, jni = os.path.join(scratch, "hello_world"), os.path.join(folder, "jni", abi)
    run = subprocess.run([compiler, "-std=c++14", "-O1", "-I", os.path.join(folder, "headers"), "-o", program,
                          os.path.join(ROOT, "examples", "cpp", "HelloWorld", "main.cpp"), os.path.join(jni, "libpytorch_jni.so"),
                          "-Wl,-rpath," + jni, "-lpthread"], capture_output=True, text=True)
    check(run.returncode == 0, "examples/cpp/HelloWorld with the AAR's headers and library: " + run.stderr[-2000:])
    if run.returncode == 0:
        picture = os.path.join(scratch, "picture.ppm")
        with open(picture, "wb") as file:
            file.write(b"P6\n96 96\n255\n" + bytes(range(96)) * 288)
        demo, labels = os.path.join(ROOT, "examples", "demo"), os.path.join(scratch, "labels.txt")
        with open(labels, "w", encoding="utf-8") as file:
            file.write("".join("class %d\n" % i for i in range(1000)))
        run = subprocess.run([program, os.path.join(demo, "classifier.pt"), picture, labels], capture_output=True, text=True)
        check(run.returncode == 0 and len(run.stdout.splitlines()) == 3, "HelloWorld: %s %s" % (run.stdout, run.stderr))


def faults_are_found(data, system):
    """Checks the checker: planted faults must be found."""
    first = check_library.Elf(data)
    found = list(check_library.faults(first, system))
    check(not found, "the library itself: %s" % found)
    header = 64 if first.wide else 52
    entry, at = (56, 48) if first.wide else (32, 28)
    load = next(i for i, s in enumerate(first.segments) if s["type"] == 1)
    small = bytearray(data)
    small[header + load * entry + at:header + load * entry + at + 4] = (4096).to_bytes(4, "little")
    check(any("aligned to 4096" in f for f in check_library.faults(check_library.Elf(bytes(small)), system)), "pages of 4096 bytes are not found")
    named = data.replace(b"\0JNI_OnLoad\0", b"\0JNI_onload\0")
    check(any("shows JNI_onload" in f for f in check_library.faults(check_library.Elf(named), system)), "a symbol too many is not found")
    needs = data.replace(b"\0libz.so", b"\0liby.so")
    check(any("needs liby.so" in f for f in check_library.faults(check_library.Elf(needs), system)), "a library too many is not found")


def make(options, folder):
    """Makes a repository of the libraries of this machine's build, under the name of the corresponding ABI."""
    abi = {"x86_64": "x86_64", "aarch64": "arm64-v8a", "arm64": "arm64-v8a", "i686": "x86", "armv7l": "armeabi-v7a"}.get(platform.machine())
    if abi is None:
        print("SKIPPED: this machine does not run a processor that Android has")
        sys.exit(77)
    jni = os.path.join(folder, "jni")
    os.mkdir(jni)
    for name in package.LIBRARIES:
        subprocess.run([options.strip, "-s", "-o", os.path.join(jni, name), os.path.join(options.libraries, name)], check=True)
    out = os.path.join(folder, "repository")
    version = re.search(r"^project\(taper VERSION ([0-9.]+)", read(os.path.join(ROOT, "CMakeLists.txt")).decode(), re.M).group(1)
    command = [sys.executable, os.path.join(ROOT, "scripts", "android", "package.py"), out, "--version", version, "--home", HOME + "/", "--classes",
               options.classes, "--sources", os.path.join(ROOT, "bindings", "android", "java"), "--include", os.path.join(ROOT, "include"), "--headers",
               os.path.join(ROOT, "bindings", "cpp", "include"), options.headers, "--jni", abi + "=" + jni]
    subprocess.run(command, check=True)
    first = package.tree(out)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    check(package.tree(out) == first, "a second run gives other bytes")
    faults_are_found(read(os.path.join(jni, "libpytorch_jni.so")), "glibc")
    return out, [abi]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository")
    parser.add_argument("--abis", default="")
    parser.add_argument("--system", default="bionic")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--make", action="store_true")
    parser.add_argument("--libraries")
    parser.add_argument("--classes")
    parser.add_argument("--headers", help="the folder with the C++ headers that are generated")
    parser.add_argument("--cxx", help="the C++ compiler of this machine")
    parser.add_argument("--strip", default="strip")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        where, abis, system = options.repository, options.abis.split(","), options.system
        if options.make:
            (where, abis), system = make(options, scratch), "glibc"
        repository = Repository(where)
        layout(repository)
        poms(repository, HOME if options.make else os.environ.get("TAPER_HOME", "").rstrip("/"))
        modules(repository)
        archives(repository)
        each_class_once(repository)
        libraries(repository, abis, system, options.limit)
        if options.make and options.cxx:
            compiles(repository, abis[0], options.cxx, scratch)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
