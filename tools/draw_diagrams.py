"""Draw the Mermaid diagrams of docs/ as SVG, for the site. GitHub draws them itself.

    python tools/draw_diagrams.py --mmdc node_modules/.bin/mmdc --chromium /usr/bin/chromium
    python tools/draw_diagrams.py --check    # fail if a diagram has changed since it was drawn

Drawing needs mermaid-cli, a package of npm, and Chromium. Pages of the site run no script to draw diagrams, so they
can be read from the disk. An SVG has the colours of docs/assets/site.css, light and dark, and the hash of its source.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
DRAWN = DOCS / "images" / "diagrams"
BLOCK = re.compile(r"^```mermaid\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# Mermaid's colours, and the variables of the site that replace them.
FONT = "Helvetica, Arial, sans-serif"  # the same widths on all systems, because boxes are as wide as their text
COLOURS = {
    "#e8effd": "--blue-soft",
    "#1d52c4": "--blue",
    "#17202b": "--ink",
    "#566170": "--muted",
    "#dfe4ea": "--line",
    "#f5f7fa": "--soft",
    "#ffffff": "--md-default-bg-color",
}
FILL, BORDER, TEXT, EDGE, LINE, SOFT, PAPER = COLOURS
THEME = {
    "fontFamily": FONT,
    "fontSize": "15px",
    **dict.fromkeys(("primaryColor", "mainBkg", "actorBkg"), FILL),
    **dict.fromkeys(("primaryBorderColor", "nodeBorder", "actorBorder"), BORDER),
    **dict.fromkeys(("primaryTextColor", "textColor", "titleColor", "noteTextColor", "actorTextColor"), TEXT),
    **dict.fromkeys(("signalTextColor", "labelTextColor", "loopTextColor"), TEXT),
    **dict.fromkeys(("lineColor", "signalColor"), EDGE),
    **dict.fromkeys(("noteBorderColor", "actorLineColor", "labelBoxBorderColor"), LINE),
    **dict.fromkeys(("secondaryColor", "tertiaryColor", "noteBkgColor", "labelBoxBkgColor"), SOFT),
    **dict.fromkeys(("background", "edgeLabelBackground"), PAPER),
}
CONFIGURATION = {
    "theme": "base",
    "themeVariables": THEME,
    "fontFamily": FONT,
    "htmlLabels": False,
    "flowchart": {"htmlLabels": False, "padding": 12},
    "sequence": {"mirrorActors": False},
}


def name_of(source: str) -> str:
    """Return the file name of a diagram, without its extension: its `accTitle` in lower case.

    Raises:
        ValueError: the diagram has no title or no description for readers who do not see it.
    """
    title = re.search(r"^\s*accTitle: (.+)$", source, re.MULTILINE)
    if title is None or not re.search(r"^\s*accDescr: .+$", source, re.MULTILINE):
        raise ValueError(f"expected a diagram with accTitle and accDescr, got: {source.strip()[:80]}")
    return re.sub(r"\W+", "-", title[1].lower()).strip("-")


def diagrams() -> dict[str, str]:
    """Return the sources of all diagrams by name."""
    pages = sorted(DOCS.glob("**/*.md"))
    return {name_of(source): source for page in pages for source in BLOCK.findall(page.read_text())}


def hash_of(source: str) -> str:
    """Return what ties a drawn diagram to its source."""
    settings = json.dumps([CONFIGURATION, COLOURS])
    return hashlib.sha256((settings + source).encode()).hexdigest()[:16]


def stale() -> list[str]:
    """Return the names of diagrams that are not drawn as their source is, and of drawn ones without a source."""
    drawn = {file.stem: file.read_text() for file in DRAWN.glob("*.svg")}
    current = {name: f"<!-- {hash_of(source)} -->" for name, source in diagrams().items()}
    changed = [name for name, mark in current.items() if not drawn.get(name, "").startswith(mark)]
    return sorted({*changed, *(drawn.keys() - current.keys())})


def for_the_site(svg: str) -> str:
    """Return Mermaid's SVG with the variables of the site as colours, and as wide as it is drawn."""
    for colour, variable in COLOURS.items():
        svg = svg.replace(colour, f"var({variable})")
    size = re.search(r'viewBox="\S+ \S+ (\S+) ', svg)
    width = round(float(size[1])) if size else 0
    svg = re.sub(r' style="max-width: [^"]*"', "", svg, count=1)
    svg = svg.replace('width="100%"', f'width="{width}"', 1)
    svg = re.sub(r'role="[^"]*" aria-roledescription="[^"]*"', 'role="img"', svg, count=1)
    return re.sub(r"@import url\([^)]*\);|filter:drop-shadow\([^;]*;", "", svg)


def draw(name: str, source: str, mmdc: str, chromium: str) -> None:
    """Write the SVG of one diagram."""
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "diagram.mmd").write_text(source)
        (folder / "mermaid.json").write_text(json.dumps(CONFIGURATION))
        (folder / "browser.json").write_text(json.dumps({"executablePath": chromium, "args": ["--no-sandbox"]}))
        command = [mmdc, "--quiet", "-i", "diagram.mmd", "-o", "diagram.svg", "-b", "transparent", "-I", name]
        subprocess.run([*command, "-c", "mermaid.json", "-p", "browser.json"], cwd=folder, check=True)
        svg = for_the_site((folder / "diagram.svg").read_text())
    (DRAWN / f"{name}.svg").write_text(f"<!-- {hash_of(source)} -->\n{svg}\n")


def main() -> int:
    """Draw the diagrams that have changed, or name them; return the exit code."""
    parser = argparse.ArgumentParser(description="Draw the Mermaid diagrams of docs/ for the site.")
    parser.add_argument("--check", action="store_true", help="name the diagrams that have changed, instead of drawing")
    parser.add_argument("--mmdc", default="mmdc", help="the command of mermaid-cli; default %(default)s")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser; default %(default)s")
    arguments = parser.parse_args()
    names, sources = stale(), diagrams()
    if arguments.check:
        print("".join(f"{name}.svg: run tools/draw_diagrams.py to draw this diagram again\n" for name in names), end="")
        return 1 if names else 0
    DRAWN.mkdir(parents=True, exist_ok=True)
    for name in names:
        if name in sources:
            draw(name, sources[name], arguments.mmdc, arguments.chromium)
        else:
            (DRAWN / f"{name}.svg").unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
