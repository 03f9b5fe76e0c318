#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_macho.py [options] FILE…: checks Taper's files for Apple's systems. Libraries export taper_* and nothing else. Archives only define names
taper_*, so that they do not clash with names of an app. Only libSystem and zlib are needed, which every system has. No code runs before main.
The privacy manifest has the reasons that Apple requires. Prints a size for each file. Exit status 1 if a check fails."""
import argparse
import plistlib
import re
import sys

import macho

NEEDED = {"/usr/lib/libSystem.B.dylib", "/usr/lib/libz.1.dylib"}
SHOWN = r"_taper_\w+"
# Symbols that linkers add.
LINKER = r"__mh_(execute|dylib)_header|___dso_handle|_main"
# {Apple's category of reasons: functions}. An app that calls one of these functions must state a reason in that category.
REASONS = {
    "NSPrivacyAccessedAPICategoryFileTimestamp": "stat fstat lstat fstatat getattrlist getattrlistbulk fgetattrlist getattrlistat",
    "NSPrivacyAccessedAPICategorySystemBootTime": "mach_absolute_time",
    "NSPrivacyAccessedAPICategoryDiskSpace": "statfs fstatfs statvfs fstatvfs",
}
SYSTEM_MINIMUM = {"macos": "11.0", "ios": "12.0"}


def stated(path):
    with open(path, "rb") as file:
        return {entry["NSPrivacyAccessedAPIType"] for entry in plistlib.load(file)["NSPrivacyAccessedAPITypes"] if entry["NSPrivacyAccessedAPITypeReasons"]}


def check(path, arguments, system):
    """Returns (bytes, problems)."""
    with open(path, "rb") as file:
        data = file.read()
    wrong, defined, undefined, seen = [], set(), set(), set()
    for name, part in macho.files(data):
        where = "%s: " % name if name else ""
        seen.add((part.platform, part.cpu))
        wanted = "14.0" if (part.platform, part.cpu) == ("ios-simulator", "arm64") else SYSTEM_MINIMUM.get((part.platform or "").split("-")[0])
        if part.minimum != (arguments.minimum or wanted):
            wrong.append("%sis for %s %s, not %s" % (where, part.platform, part.minimum, arguments.minimum or wanted))
        for needed in part.needed:
            if needed not in NEEDED:
                wrong.append("%sneeds %s" % (where, needed))
        for path_ in part.rpaths:
            wrong.append("%slooks for libraries in %s" % (where, path_))
        if any(section in ("__mod_init_func", "__init_offsets") for section in part.sections):
            wrong.append("%sruns something before main" % where)
        if part.kind != "object":
            shown = {symbol for symbol in part.defined(False) if not re.fullmatch(LINKER, symbol)}
            wrong += ["%sshows %s" % (where, symbol) for symbol in sorted(shown) if not re.fullmatch(SHOWN, symbol)]
            if part.kind == "library" and "_taper_model_load" not in shown:
                wrong.append("does not show taper_model_load")
            if part.kind == "library" and (part.name or "").startswith("/") and not part.name.startswith("/usr/"):
                wrong.append("is known by a place on the building machine, %s" % part.name)
        elif not arguments.binding:
            wrong += ["%sdefines %s" % (where, symbol) for symbol in sorted(part.defined(True)) if not re.match(r"_taper_|l_|ltmp", symbol)]
        defined |= part.defined(True)
        undefined |= part.undefined()
    if not seen:
        wrong.append("is empty")
    if arguments.slice:
        platform, cpu = re.fullmatch(r"(ios|macos)-(arm64|x86_64)(?:-simulator)?", arguments.slice).groups()
        if seen != {(platform + ("-simulator" if arguments.slice.endswith("simulator") else ""), cpu)}:
            wrong.append("is for %s" % ", ".join("%s on %s" % one for one in sorted(seen, key=str)))
    undefined -= defined
    if system is not None:
        wrong += ["takes %s from the system, which is not said to have it" % symbol for symbol in sorted(undefined - system)]
    if arguments.privacy:
        declared = stated(arguments.privacy)
        for category, names in REASONS.items():
            used = sorted(name for name in names.split() if re.search(r"'_%s(\$\w+)?'" % name, str(undefined)))
            if used and category not in declared:
                wrong.append("uses %s, and the privacy manifest gives no reason" % ", ".join(used))
    return len(data), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slice", help="ios-arm64, macos-x86_64, …: what it is for")
    parser.add_argument("--minimum", help="of the system's version, where it is not the usual one")
    parser.add_argument("--limit", type=int, help="bytes of a file")
    parser.add_argument("--stub", action="append", default=[], help="a .tbd: what the system exports, and nothing else is taken from it")
    parser.add_argument("--privacy", help="PrivacyInfo.xcprivacy")
    parser.add_argument("--binding", action="store_true", help="classes are in it, too")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    system = None
    if arguments.stub:
        system = {"dyld_stub_binder", "__mh_execute_header"}
        for path in arguments.stub:
            with open(path, encoding="utf-8") as file:
                system |= macho.stub_exports(file.read())
    failed = False
    for path in arguments.files:
        try:
            size, wrong = check(path, arguments, system)
        except (ValueError, OSError) as error:
            size, wrong = 0, [str(error)]
        if arguments.limit and size > arguments.limit:
            wrong.append("has more than %d bytes" % arguments.limit)
        print("%10d  %s%s" % (size, path, "".join("\n  FAILED  " + line for line in wrong)))
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
