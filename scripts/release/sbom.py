#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""sbom.py FILE: writes the software bill of materials of this tree, SPDX 2.3 in JSON.

The list names the project with its version and licence, each file that a build may read with its checksums, and the libraries that programs link.
The files are the files that git tracks, or all files of the folder if it is not a git repository. The same tree makes the same bytes: the date is
that of SOURCE_DATE_EPOCH, or of the commit."""
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILT = ("CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "cmake", "src", "include", "tools", "bindings")  # files and folders that a build reads
DEPENDENCIES = {  # name: (licence, the part that links it, the text in the build files that looks for it, the file with that text)
    "zlib": ("Zlib", "the library, unless it is built with its own inflate", "taper_need(ZLIB", "CMakeLists.txt"),
    "libpng": ("libpng-2.0", "the programs", "taper_need(PNG", "tools/CMakeLists.txt"),
    "libjpeg-turbo": ("IJG AND BSD-3-Clause AND Zlib", "the programs", "taper_need(JPEG", "tools/CMakeLists.txt"),
}


def read(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return file.read()


def git(*arguments):
    """Returns the output of git, or None if there is no git or no repository."""
    try:
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None


def is_built(path):
    return path.split("/")[0] in BUILT and "__pycache__" not in path


def paths():
    listed = git("ls-files", "-z")
    if listed:
        found = listed.split("\0")
    else:
        found = [os.path.relpath(os.path.join(top, name), ROOT).replace(os.sep, "/")
                 for base in BUILT for top, _, names in os.walk(os.path.join(ROOT, base)) for name in names]
        found += [name for name in BUILT if os.path.isfile(os.path.join(ROOT, name))]
    return sorted(path for path in found if is_built(path) and os.path.isfile(os.path.join(ROOT, path)))


def created():
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or (git("log", "-1", "--format=%ct") or "0").strip()
    return datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def identifier(kind, text):
    return "SPDXRef-%s-%s" % (kind, re.sub(r"[^A-Za-z0-9.-]", "-", text))


def file_entry(path):
    data = read(path)
    licence = re.search(rb"SPDX-License-Identifier: ([A-Za-z0-9.-]+)", data[:400])
    # Two paths may differ only in a character that identifiers cannot have. Each identifier therefore ends in a part of the path's
    # checksum.
    return {"SPDXID": identifier("File", path + "-" + hashlib.sha256(path.encode()).hexdigest()[:8]),
            "fileName": "./" + path,
            "checksums": [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, data).hexdigest()} for name in ("sha1", "sha256")],
            "licenseConcluded": "BSD-2-Clause",
            "licenseInfoInFiles": [licence.group(1).decode() if licence else "NOASSERTION"],
            "copyrightText": "NOASSERTION"}


def document():
    version = re.search(r"^project\(taper VERSION ([0-9.]+)", read("CMakeLists.txt").decode(), re.M).group(1)
    copyright_text = re.search(r"^Copyright .*$", read("LICENSE").decode(), re.M).group(0)
    files = [file_entry(path) for path in paths()]
    sums = "".join(sorted(entry["checksums"][0]["checksumValue"] for entry in files))
    taper = {"SPDXID": "SPDXRef-Package-taper", "name": "taper", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
             "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1(sums.encode()).hexdigest()},
             "licenseConcluded": "BSD-2-Clause", "licenseDeclared": "BSD-2-Clause", "copyrightText": copyright_text,
             "licenseInfoFromFiles": sorted({licence for entry in files for licence in entry["licenseInfoInFiles"]})}
    packages, relations = [taper], [("SPDXRef-DOCUMENT", "DESCRIBES", taper["SPDXID"])]
    for name, (licence, user, word, where) in DEPENDENCIES.items():
        if word not in read(where).decode():
            sys.exit(f"sbom.py: {where} has no {word}: is {name} still a dependency?")
        packages.append({"SPDXID": identifier("Package", name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
                         "licenseConcluded": "NOASSERTION", "licenseDeclared": licence, "copyrightText": "NOASSERTION", "comment": f"linked by {user}"})
        relations.append((taper["SPDXID"], "DEPENDS_ON", packages[-1]["SPDXID"]))
    relations += [(taper["SPDXID"], "CONTAINS", entry["SPDXID"]) for entry in files]
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"taper-{version}",
            "documentNamespace": f"urn:taper:spdx:{version}:{hashlib.sha256(sums.encode()).hexdigest()}",
            "creationInfo": {"created": created(), "creators": ["Tool: scripts/release/sbom.py", "Organization: the Taper authors"]},
            "packages": packages, "files": files,
            "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations]}


def problems(found):
    """Returns the problems of a document: duplicate identifiers, relations to unknown elements, files without a checksum."""
    names = [found["SPDXID"]] + [entry["SPDXID"] for entry in found["packages"] + found["files"]]
    wrong = [f"{name} stands twice" for name in {name for name in names if names.count(name) > 1}] if len(names) != len(set(names)) else []
    known = set(names)
    for relation in found["relationships"]:
        wrong += [f"nothing is {relation[end]}" for end in ("spdxElementId", "relatedSpdxElement") if relation[end] not in known]
    wrong += [f"{entry['fileName']} has no checksum" for entry in found["files"] if len(entry["checksums"]) < 2]
    return wrong + ([] if found["files"] else ["it has no files"])


def main():
    found = document()
    wrong = problems(found)
    if wrong:
        sys.exit("\n".join("sbom.py: " + text for text in wrong))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
        file.write("\n")
    print(f"checked: {len(found['files'])} files, {len(found['packages']) - 1} dependencies, every reference")


if __name__ == "__main__":
    main()
