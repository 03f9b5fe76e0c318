# SPDX-License-Identifier: BSD-2-Clause
"""site_test.py OUT: checks the files that scripts/docs_site.py wrote to OUT: the menu, the pages that the site is made from, and the site's
HTML if mkdocs was installed. Exit status 77 if OUT does not exist."""
import html.parser
import json
import os
import re
import sys

OUT = sys.argv[1]
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAILED {what}")


def read(*path):
    with open(os.path.join(OUT, *path), encoding="utf-8") as file:
        return file.read()


def entries(menu, depth=0):
    """Yields (title, page or None, depth) for each entry of a menu."""
    for entry in menu:
        for title, inside in entry.items():
            yield title, inside if isinstance(inside, str) else None, depth
            if not isinstance(inside, str):
                yield from entries(inside, depth + 1)


class Page(html.parser.HTMLParser):
    """Collects the text in menus, the text in code blocks, and the colours of code blocks."""

    def __init__(self, text):
        super().__init__()
        self.open, self.menu, self.code, self.body, self.colours = [], "", [], "", 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "pre":
            self.code.append("")
        if tag == "span" and "pre" in self.open and dict(attrs).get("class"):
            self.colours += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if "nav" in self.open or "title" in self.open:
            self.menu += data
        elif "pre" in self.open:
            self.code[-1] += data
        elif "code" not in self.open and "script" not in self.open and "style" not in self.open:
            self.body += data


def check_menu(settings):
    found = list(entries(settings["nav"]))
    for title, page, _ in found:
        check("`" not in title and "](" not in title, f"the menu has markup: {title}")
        check(page is None or os.path.exists(os.path.join(OUT, "pages", page)), f"the menu names {page}, which is not there")
    for name in ("Decisions", "The C interface"):
        check([depth for title, page, depth in found if title == name and page is None] == [1], f"\"{name}\" is no folded list within a group")
    for page in ("troubleshooting.md", "sizes.md", "versions.md", "reporting.md", "gallery.md"):
        check(page in [one for _, one, _ in found], f"the menu has no {page}")


def check_html():
    site = os.path.join(OUT, "site")
    names = [os.path.relpath(os.path.join(folder, name), site) for folder, _, files in os.walk(site) for name in files if name.endswith(".html")]
    pages = {name: Page(read("site", name)) for name in names}
    for name, page in pages.items():
        check("`" not in page.menu, f"{name}: raw backquotes in a menu or a title")
        check("`" not in page.body, f"{name}: raw backquotes in the text: {page.body[max(0, page.body.find('`') - 40):][:80]!r}")
        check("<!--" not in page.body, f"{name}: a comment in the text")
        check("site.css" in read("site", name), f"{name}: without the site's own style")
    for name in ("c.html", "python.html", "start.html", "android.html", "api/taper.html"):
        check(pages[name].colours > 20, f"{name}: code is not coloured")
    check("overflow-x" in read("site", "site.css"), "site.css: nothing scrolls, wide code and tables are cut")
    interface = pages["api/taper.html"]
    check("__attribute__((visibility(" in "".join(interface.code) or "__attribute__((deprecated(" in read("site", "api", "taper.html"), "api/taper.html: __attribute__ is not whole")
    check("<strong>attribute" not in read("site", "api", "taper.html"), "api/taper.html: __attribute__ became bold")
    check(not any(re.search(r"^ \* [A-Z]", code, re.M) for code in interface.code), "api/taper.html: a comment of a function is code")


def check_search():
    index = json.loads(read("site", "search", "search_index.json"))
    places = {document["location"].partition("#")[0] for document in index["docs"]}
    titles = {document["title"] for document in index["docs"]}
    check({"troubleshooting.html", "commands.html", "api/taper.html"} <= places, "the search does not have all pages")
    check("taper_session_cancel" in titles, "the search does not have each function")
    words = re.split(index["config"]["separator"], "taper_session_run(session, \"forward\")")
    check({"session", "run", "forward"} <= set(words), "the search does not find parts of names")
    workers = os.path.join(OUT, "site", "assets", "javascripts", "workers")
    check(any(name.startswith("search") and name.endswith(".js") for name in os.listdir(workers)), "the search has no program")


if not os.path.exists(os.path.join(OUT, "mkdocs.yml")):
    print(f"SKIPPED: there is no site in {OUT}")
    sys.exit(77)
check_menu(json.loads(read("mkdocs.yml")))
if os.path.exists(os.path.join(OUT, "site", "index.html")):
    check_html()
    check_search()
else:
    print("the site was not made: only its menu is checked")
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
