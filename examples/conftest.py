"""Lets the tests of the ladder import their programs, as `pythonpath` in each project's pyproject.toml does."""

import sys
from pathlib import Path

sys.path += [str(directory) for directory in Path(__file__).parent.glob("[0-9][0-9]_*")]
