#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""check_links.py: requests every external link of the documentation. A missing page is a failure. A link that could not be checked (no answer in
time, a host that refuses programs) is a remark. Exit status 77 if no host is reachable, because there is no network. Links within the tree are
checked by tests/docs/pages_test.py."""
import os
import re
import sys
import urllib.error
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "docs"))
import pages  # noqa: E402

GONE = {404, 410}
SECONDS = 10


def ask(link):
    """Returns the HTTP status of the answer, or, as text, the reason why there was no answer."""
    request = urllib.request.Request(link, headers={"User-Agent": "Mozilla/5.0 (a check of links)"})
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))


def main():
    links = {}
    for page in [*pages.pages(TOP), "bindings/wasm/package/README.md"]:
        for link in re.findall(r"https?://[\w-]+\.[^\s)>\"'`,]+", pages.without_code(pages.read(TOP, page))):
            links.setdefault(link.partition("#")[0], page)
    answers = {link: ask(link) for link in sorted(links)}
    if links and not any(isinstance(answer, int) for answer in answers.values()):
        print(f"SKIPPED: no network: none of {len(links)} links was answered")
        sys.exit(77)
    gone = {link: answer for link, answer in answers.items() if answer in GONE}
    for link, answer in answers.items():
        if link in gone:
            print(f"FAILED {links[link]}: {link}: {answer}")
        elif not (isinstance(answer, int) and answer < 400):
            print(f"{links[link]}: {link}: could not be asked: {answer}")
    print(f"{len(links) - len(gone)} passed, {len(gone)} failed")
    sys.exit(1 if gone else 0)


if __name__ == "__main__":
    main()
