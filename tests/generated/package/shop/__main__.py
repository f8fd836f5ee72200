# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Runs the operator: `python -m shop`, or `pyctrl run shop`."""

import sys

from pyctrl import Manager
from pyctrl.cli import program
from pyctrl.program import setup_package

import shop


def add_shop(manager: Manager) -> None:
    """Add every reconciler and webhook in the modules of this package."""
    setup_package(manager, shop)


if __name__ == "__main__":
    sys.exit(program(add_shop, name="shop"))
