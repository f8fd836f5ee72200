"""Compare everything that tools of this directory generate with the files of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
GENERATORS = ("generate_kinds.py", "plot_benchmarks.py", "draw_diagrams.py")


def main() -> int:
    """Run each generator with `--check`; return the highest exit code."""
    return max(subprocess.run([sys.executable, TOOLS / name, "--check"], check=False).returncode for name in GENERATORS)


if __name__ == "__main__":
    sys.exit(main())
