"""Every fault is tried against the operator, in a simulated cluster and in virtual time."""

from pyctrl.simulation import Explore

import greeter


def test_the_operator_survives(explore: Explore) -> None:
    """Whatever fails, the operator reaches the same state as without the fault, and comes to rest."""
    explore(greeter)
