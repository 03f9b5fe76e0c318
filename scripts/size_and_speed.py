#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""size_and_speed.py: draws docs/size-and-speed.svg, the chart that compares size and speed with other runtimes. docs/size-and-speed.tsv names
the panels and the place of each figure: docs/sizes.tsv or a table of docs/performance.md. size_and_speed.py --check fails if the chart is out of
date."""
import collections
import html
import pathlib
import re
import sys

import sizes_page

TOP = pathlib.Path(__file__).resolve().parent.parent
DATA, CHART = TOP / "docs" / "size-and-speed.tsv", TOP / "docs" / "size-and-speed.svg"

Panel = collections.namedtuple("Panel", "title unit conditions bars")
Bar = collections.namedtuple("Bar", "label value")

WIDTH, LABELS, BAR, STEP, RIGHT = 860, 250, 16, 22, 70 # pixels; RIGHT: room for the figure after the longest bar
OWN, PEER, TEXT, FAINT = "#d9480f", "#adb5bd", "#212529", "#6c757d"


class Wrong(Exception):
    """The data names a figure that does not exist."""


# ---- figures

def cell(place):
    """Returns the text of a cell of docs/performance.md, which the key "SECTION|NETWORK|COLUMN" names. The column's title may have more words
    than the key."""
    section, network, column = place.split("|")
    text = (TOP / "docs" / "performance.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    lines = match.group(1).splitlines() if match else []
    for number, line in enumerate(lines):
        columns = [one.strip() for one in line.strip("|").split("|")]
        if not line.startswith("|") or columns[0] != "Network" or column not in columns:
            continue
        for row in lines[number + 2:]:
            cells = [one.strip() for one in row.strip("|").split("|")]
            if cells[0] == network:
                return cells[columns.index(column)]
            if not row.startswith("|"):
                break
    raise Wrong(f"docs/performance.md has no figure {place}")


def first_figure(text, place):
    """ "0.56–0.59, 0.55" is 0.575: the middle of the range for one thread."""
    match = re.match(r"([\d.,]*\d)(?:–([\d.]*\d))?", text)
    if not match:
        raise Wrong(f"docs/performance.md has no number at {place}, but \"{text}\"")
    low = float(match.group(1).replace(",", ""))
    return (low + float(match.group(2) or low)) / 2


def value_of(source):
    kind, _, place = source.partition(" ")
    if kind == "size":
        found = [row.bytes for row in sizes_page.rows() if row.key == place]
        if not found:
            raise Wrong(f"docs/sizes.tsv has no row {place}")
        return found[0] / 1e6
    figure = first_figure(cell(place), place)
    section, network, column = place.split("|")
    if kind == "count" or column.startswith("Taper"):
        return figure
    own = f"{section}|{network}|Taper, ms"
    return first_figure(cell(own), own) / figure


def panels():
    found = []
    for line in DATA.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if line.startswith("#") or not line:
            continue
        if cells[0] == "panel":
            found.append(Panel(*cells[1:], []))
        else:
            found[-1].bars.append(Bar(cells[0], value_of(cells[1])))
    return found


# ---- drawing

def shown(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def text_at(x, y, words, more=""):
    return f'<text x="{x}" y="{y}"{more}>{html.escape(words)}</text>'


def draw(found):
    out, y = [], 16
    for panel in found:
        out.append(text_at(0, y, f"{panel.title} ({panel.unit})", ' font-weight="bold"'))
        out.append(text_at(0, y + 17, panel.conditions, f' fill="{FAINT}" font-size="11"'))
        y += 28
        longest = max(bar.value for bar in panel.bars)
        for bar in panel.bars:
            length = max(1, round(bar.value / longest * (WIDTH - LABELS - RIGHT)))
            own = bar.label.startswith("Taper")
            out.append(text_at(LABELS - 8, y + 12, bar.label, ' text-anchor="end"'))
            out.append(f'<rect x="{LABELS}" y="{y}" width="{length}" height="{BAR}" fill="{OWN if own else PEER}"/>')
            out.append(text_at(LABELS + length + 6, y + 12, shown(bar.value)))
            y += STEP
        y += 24
    head = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y - 20}" viewBox="-8 0 {WIDTH + 8} {y - 20}" '
            f'font-family="system-ui,sans-serif" font-size="13" fill="{TEXT}">',
            "<title>Size and speed of Taper beside its peers</title>",
            '<rect x="-8" width="100%" height="100%" fill="#ffffff"/>']
    return "\n".join([*head, *out, "</svg>"]) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    try:
        chart = draw(panels())
    except Wrong as problem:
        sys.exit(f"size_and_speed.py: {problem}")
    if not sys.argv[1:]:
        CHART.write_text(chart, encoding="utf-8")
    elif not CHART.exists() or CHART.read_text(encoding="utf-8") != chart:
        sys.exit("docs/size-and-speed.svg is not what the figures make: run scripts/size_and_speed.py")
    print(f"{CHART.relative_to(TOP)}: {chart.count('<rect') - 1} bars")


if __name__ == "__main__":
    main()
