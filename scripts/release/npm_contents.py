#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""npm_contents.py ARCHIVE: fails unless the archive of `npm pack` has package.json and the files that it names, this tree's version and licence,
and no scripts that run when the package is installed."""
import json
import os
import re
import sys
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def problems(names, package, version):
    """Returns the problems of an archive with these names and this package.json, as a list of texts."""
    found = []
    wanted = {"package/" + name for name in ["package.json", *package["files"]]}
    found += [f"{name} is missing" for name in sorted(wanted - set(names))]
    found += [f"{name} should not be there" for name in sorted(set(names) - wanted)]
    if package["version"] != version:
        found.append(f"its version is {package['version']}, and CMakeLists.txt has {version}")
    if package.get("license") != "BSD-2-Clause":
        found.append(f"its licence is {package.get('license')}")
    found += [f"it has the field {field}" for field in ("scripts", "dependencies", "private") if field in package]
    return found


def main():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        version = re.search(r"^project\(taper VERSION ([0-9.]+)", file.read(), re.M).group(1)
    with tarfile.open(sys.argv[1]) as archive:
        names = archive.getnames()
        package = json.load(archive.extractfile("package/package.json"))
    found = problems(names, package, version)
    if found:
        sys.exit("\n".join("npm_contents.py: " + text for text in found))
    print(f"checked: {len(names)} files, those of package.json")


if __name__ == "__main__":
    main()
