"""Print every public name of pyctrl, or write the list that tests/test_exports.py compares with.

    python tools/public_names.py            # print
    python tools/public_names.py --write    # write tests/public_names.txt

A public name is in the `__all__` of `pyctrl` or of one of its public packages. The names of the generated kinds are
left out: the generator's check covers them.
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SNAPSHOT = ROOT / "tests" / "public_names.txt"


def public_packages() -> list[str]:
    """Return the modules whose names are public: `pyctrl`, its packages, and its public single files."""
    source = ROOT / "src" / "pyctrl"
    packages = [path.parent.name for path in source.glob("*/__init__.py")]
    files = [path.stem for path in source.glob("*.py")]
    public = [name for name in (*packages, *files) if not name.startswith("_") and name != "kinds"]
    return ["pyctrl", *(f"pyctrl.{name}" for name in sorted(public))]


def public_names() -> list[str]:
    """Return the full name of each public object, in order."""
    return [
        f"{package}.{name}"
        for package in public_packages()
        for name in sorted(importlib.import_module(package).__all__)
    ]


def main() -> None:
    """Print the list, or write it."""
    parser = argparse.ArgumentParser(description="List the public names of pyctrl.")
    parser.add_argument("--write", action="store_true", help=f"write {SNAPSHOT.relative_to(ROOT)} instead of printing")
    text = "".join(f"{name}\n" for name in public_names())
    if parser.parse_args().write:
        SNAPSHOT.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
