#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""docs_site.py BUILD OUT [--pages]: makes the documentation as a site, OUT/site: the pages of the tree, every command (BUILD/manual/commands.md, made
of the programs' tables of options), the operators (scripts/supported_ops.py) and the C interface (from the headers). It needs mkdocs with its
material theme, in the versions of Debian (mkdocs, mkdocs-material). Links that lead nowhere are errors. --pages writes only the pages, for which
mkdocs is not needed."""
import json
import os
import re
import shutil
import subprocess
import sys

import supported_ops

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The pages for readers who change a part, in the order of a model's life.
INSIDE = ("frontends", "compiler", "runtime", "cpu", "gpu", "nnapi", "writing-files", "small-builds")

# The site's order. Other headers and pages of docs/ come at the end of the reference.
NAVIGATION = [
    ("Get started", [("index.md", "README.md"), ("start.md", "docs/start.md"), ("support.md", "docs/support.md"), ("c.md", "docs/c.md"), ("cpp.md", "docs/cpp.md"),
                     ("python.md", "docs/python.md"), ("javascript.md", "docs/javascript.md"), ("android.md", "docs/android.md"), ("ios.md", "docs/ios.md"),
                     ("demo.md", "examples/demo/README.md"), ("gallery.md", "docs/gallery.md")]),
    ("Help", [("troubleshooting.md", "docs/troubleshooting.md"), ("reporting.md", "docs/reporting.md"), ("versions.md", "docs/versions.md")]),
    ("Moving", [("differences.md", "docs/differences.md"), ("from-pytorch-mobile.md", "docs/from-pytorch-mobile.md"),
                ("from-executorch.md", "docs/from-executorch.md")]),
    ("PyTorch Mobile's tutorials", [(f"tutorials/{name}.md", f"docs/tutorials/{name}.md")
                                    for name in ("lite-interpreter", "ios-metal", "nnapi", "performance")]),
    ("Reference", [("commands.md", None), ("api/taper.md", None), ("supported-ops.md", None),
                   ("pt2.md", "docs/pt2.md"), ("gpu.md", "docs/gpu.md"), ("numerics.md", "docs/numerics.md"),
                   ("numerics-differences.md", "docs/numerics-differences.md"),
                   ("sizes.md", "docs/sizes.md"), ("targets.md", "docs/targets.md"), ("performance.md", "docs/performance.md"), ("performance-details.md", "docs/performance-details.md"),
                   ("security.md", "SECURITY.md"), ("changelog.md", "CHANGELOG.md")]),
    ("How it works", [("architecture.md", "docs/architecture.md"),
                      *[(f"inside/{name}.md", f"docs/inside/{name}.md") for name in INSIDE], ("glossary.md", "docs/glossary.md"), ("fuzzing.md", "docs/fuzzing.md"),
                      ("contributing.md", "CONTRIBUTING.md"), ("packaging.md", "packaging/README.md")]),
]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def comment_text(comment):
    lines = re.sub(r"^/\*|\*/$", "", comment).split("\n")
    return "\n".join(re.sub(r"^ ?\* ?", "", line).rstrip() for line in lines).strip()


def as_list(text):
    """Adds the blank line that mkdocs needs before a list."""
    return re.sub(r"([^\n])\n- ", r"\1\n\n- ", text, count=1)


def plain(text):
    """Returns the text of a comment with stars, underscores and angle brackets escaped, because they are C and not markup. Code in backquotes
    stays."""
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[])", r"\\\1", part) for part in re.split(r"(`[^`\n]*`)", text))


def chunks(body):
    """Returns the parts of a header. A comment begins a part, unless it is inside a declaration."""
    return [part for block in re.split(r"\n\s*\n", body) for part in re.split(r"(?<=[;,)}/])\n(?=/\*)", block)]


def interface(header):
    """Returns a header as a page: sections, comments as text, declarations as code below the names that they declare."""
    text = read(header)
    name = os.path.basename(header)
    out = [f"# {name}\n"]
    first = re.match(r"/\* SPDX[^\n]*\n(.*?)\*/", text, re.S)
    out.append("\n\n".join(as_list(plain(part)) for part in comment_text("/*" + first.group(1) + "*/").split("\n\n")) + "\n")
    body = text[first.end():]
    body = body[body.index("#define"):] if "#define" in body else body
    for chunk in chunks(body):
        section = re.search(r"/\* ---- (.*?) -* ?\*/", chunk)
        if section:
            out.append(f"## {section.group(1).capitalize()}\n")
            chunk = chunk.replace(section.group(0), "")
        lines = [line for line in chunk.split("\n") if not re.match(r"#(ifn?def|endif|else|elif|include|if)\b|extern \"C\"|[{}]$|#define TAPER_\w+_H$", line)]
        chunk = "\n".join(lines).strip("\n")
        if not chunk or not re.search(r"taper_|TAPER_", chunk) or re.fullmatch(r"#define TAPER_(API|MUST_USE|EXPERIMENTAL).*(\n#define .*)*", chunk):
            continue
        names = re.findall(r"TAPER_API[^;(]*?\b(taper_\w+)\(", chunk) or re.findall(r"^(?:typedef (?:struct|enum) )(taper_\w+)", chunk, re.M)
        if names:
            out.append("### " + ", ".join(f"`{one}`" for one in names) + "\n")
        said = re.match(r"/\*.*?\*/\n", chunk, re.S)
        if said:
            out.append(as_list(plain(comment_text(said.group(0).strip()))) + "\n")
            chunk = chunk[said.end():]
        if chunk.strip():
            out.append(f"```c\n{chunk.strip()}\n```\n")
    declared = set(re.findall(r"TAPER_API[^;(]*?\b(taper_\w+)\(", re.sub(r"^#.*$", "", text, flags=re.M)))
    page = "\n".join(out)
    lost = {one for one in declared if f"`{one}`" not in page}
    if lost:
        sys.exit(f"docs_site.py: {name}: not on its page: {', '.join(sorted(lost))}")
    return page


def linked(text, source, places):
    """Converts links between files of the tree to links between pages, and names of pages in code to links."""
    here = places[source]

    def to(file):
        return os.path.relpath(places[file], os.path.dirname(here) or ".")

    def link(match):
        label, target = match.groups()
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target) or not path:
            return match.group(0)
        file = os.path.normpath(os.path.join(os.path.dirname(source), path))
        if file in places:
            return f"[{label}]({to(file)}{'#' + anchor if anchor else ''})"
        return label

    def page_name(match):
        name = match.group(1)
        return f"[`{name}`]({to(name)})" if name in places and name != source else match.group(0)

    def image(match):
        file = os.path.normpath(os.path.join(os.path.dirname(source), match.group(2)))
        return f"![{match.group(1)}]({to(file)})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"(?<!!)\[([^\]\[]*)\]\(([^)\s]+)\)", link, parts[index])
        parts[index] = re.sub(r"!\[([^\]\[]*)\]\(([^)\s]+)\)", image, parts[index])
        parts[index] = re.sub(r"(?<!\[)`([\w./-]+\.md)`", page_name, parts[index])
        parts[index] = re.sub(r"^<!-- (?:not run: .*?|run: .*?|fails|[\w./-]+ says: .*?) -->\n", "", parts[index], flags=re.M)
    for index in range(1, len(parts), 2):
        parts[index] = re.sub(r"^```(\w+) .*", r"```\1", parts[index]) # the words after the language are for tests
    return "".join(parts)


def title_of(text):
    """Returns the first heading as plain text, for menus and the title of a window."""
    heading = re.search(r"^# (.*)$", text, re.M).group(1)
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip()


# In the theme's own width, code of 120 columns and wide tables do not fit and scroll. Long names in cells may break.
STYLE = """.md-grid { max-width: 90rem; }
.md-typeset pre > code { overflow-x: auto; }
.md-typeset table:not([class]) { display: block; max-width: 100%; overflow-x: auto; }
.md-typeset td code, .md-typeset p code, .md-typeset li code { overflow-wrap: anywhere; }
.md-typeset img { max-width: 100%; height: auto; }
"""

THEME = {"name": "material", "font": False, "features": ["navigation.sections", "search.highlight", "search.suggest"]}
# pymdownx comes with the theme, and Pygments with pymdownx.
EXTENSIONS = ["tables", "toc", "admonition", {"pymdownx.highlight": {"guess_lang": False}}, "pymdownx.superfences"]
# Names are found by their parts: session_run finds taper_session_run.
SEARCH = {"search": {"separator": r"[\s\-_.,:;()\[\]{}<>\"'/=*&`]+", "min_search_length": 2}}


def main():
    build, out = map(os.path.abspath, sys.argv[1:3])
    pages = os.path.join(out, "pages")
    shutil.rmtree(pages, ignore_errors=True)
    places = {source: page for _, group in NAVIGATION for page, source in group if source}
    made = {"commands.md": lambda: read(os.path.join(build, "manual", "commands.md")), "supported-ops.md": supported_ops.page}
    places.update({f"docs/{page}": page for page in made})
    for header in sorted(os.listdir(os.path.join(TOP, "include", "taper"))):
        page = f"api/{header[:-2]}.md"
        places[f"docs/{page}"] = places[f"include/taper/{header}"] = page
        made[page] = lambda header=header: interface(os.path.join(TOP, "include", "taper", header))
    for folder, _, names in os.walk(os.path.join(TOP, "docs")):
        for name in names:
            file = os.path.relpath(os.path.join(folder, name), TOP)
            if file.startswith("docs/decisions/"):
                places[file] = file[5:]
            elif name.endswith((".md", ".jpg", ".svg")) and file not in places:
                places[file] = file[5:]
    listed = {page for _, group in NAVIGATION for page, _ in group}
    titles = {}
    for source, page in places.items():
        os.makedirs(os.path.dirname(os.path.join(pages, page)), exist_ok=True)
        if not page.endswith(".md"): # a picture
            shutil.copyfile(os.path.join(TOP, source), os.path.join(pages, page))
            continue
        text = made[page]() if page in made else linked(read(os.path.join(TOP, source)), source, places)
        titles[page] = title_of(text)
        with open(os.path.join(pages, page), "w", encoding="utf-8") as file:
            file.write(text)
    with open(os.path.join(pages, "site.css"), "w", encoding="utf-8") as file:
        file.write(STYLE)

    def menu(group):
        return [{titles[page]: page} for page in group]
    decisions = sorted(page for page in titles if page.startswith("decisions/"))
    headers = sorted(page for page in titles if page.startswith("api/"))
    others = sorted(set(titles) - listed - set(decisions) - set(headers))
    navigation = []
    for title, group in NAVIGATION:
        rows = menu(page for page, _ in group if page not in headers)
        if title == "Reference": # lists within a group are folded until a reader opens them
            rows = [rows[0], {"The C interface": menu(headers)}, *rows[1:], *menu(others)]
        if title == "How it works":
            rows.append({"Decisions": menu(decisions)})
        navigation.append({title: rows})
    settings = {"site_name": "Taper", "docs_dir": pages, "site_dir": os.path.join(out, "site"), "use_directory_urls": False, "nav": navigation,
                "theme": THEME, "extra_css": ["site.css"], "markdown_extensions": EXTENSIONS, "plugins": [SEARCH]}
    with open(os.path.join(out, "mkdocs.yml"), "w", encoding="utf-8") as file:
        json.dump(settings, file, indent=1) # JSON is valid YAML
    if "--pages" in sys.argv:
        print(f"{pages}: {len(places)} pages")
        return
    if shutil.which("mkdocs") is None:
        print("SKIPPED: the pages are there, a site needs mkdocs and its material theme (Debian: mkdocs mkdocs-material)")
        sys.exit(77)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "0")}
    done = subprocess.run(["mkdocs", "build", "--strict", "--clean", "-q", "-f", os.path.join(out, "mkdocs.yml")], env=environment)
    if done.returncode == 0:
        print(f"{out}/site/index.html: {len(places)} pages")
    sys.exit(1 if done.returncode else 0)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["--pages"]):
        sys.exit("usage: docs_site.py BUILD OUT [--pages]")
    main()
