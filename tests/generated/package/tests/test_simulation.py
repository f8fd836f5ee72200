# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Every fault is tried against the operator, in a simulated cluster and in virtual time."""

from pyctrl.simulation import Explore

from shop.__main__ import add_shop


def test_the_operator_survives(explore: Explore) -> None:
    """Whatever fails, the operator reaches the same state as without the fault, and comes to rest."""
    explore(add_shop)
