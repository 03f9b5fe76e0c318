#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""interface_variables.py OUT FOLDER…: copies the sources in the folders to OUT, with the instance variables of each @implementation Name { … }
moved to its @interface. GNU's libobjc requires this; Apple's allows both places."""
import os
import re
import sys

IMPLEMENTATION = re.compile(r"^(@implementation (\w+)) \{\n(.*?)^\}\n", re.M | re.S)


def main():
    out, folders = sys.argv[1], sys.argv[2:]
    texts = {}
    for root in folders:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                if path.endswith((".h", ".m", ".mm", ".c", ".cpp")):
                    with open(path, encoding="utf-8") as file:
                        texts[os.path.join(os.path.relpath(folder, root), name)] = file.read()
    variables = {}
    for path, text in texts.items():
        for _, name, inside in IMPLEMENTATION.findall(text):
            variables[os.path.dirname(path), name] = inside
        texts[path] = IMPLEMENTATION.sub(r"\1\n", text)
    for (folder, name), inside in variables.items():
        pattern = re.compile(r"^(?:__attribute__.*)?@interface %s\b(?:<[\w, ]+>)? : .*$" % name, re.M)
        places = [path for path, text in texts.items() if pattern.search(text)]
        places = [path for path in places if os.path.dirname(path) == folder] or places  # each app has its own TorchModule
        if len(places) != 1:
            sys.exit("@interface %s is in %s" % (name, places or "none of the files"))
        head, tail = pattern.split(texts[places[0]], maxsplit=1)
        line = pattern.search(texts[places[0]]).group(0)
        texts[places[0]] = head + line + " {\n" + inside + "}" + tail
    for path, text in texts.items():
        os.makedirs(os.path.dirname(os.path.join(out, path)), exist_ok=True)
        with open(os.path.join(out, path), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
