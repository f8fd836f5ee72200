"""Template of the test that tries every fault against the operator."""

from __future__ import annotations

from string import Template

from pyctrl.scaffold._project import ScaffoldProject

__all__ = ["simulation_files"]

SIMULATION = Template('''\
"""Every fault is tried against the operator, in a simulated cluster and in virtual time."""

from pyctrl.simulation import Explore

$imported


def test_the_operator_survives(explore: Explore) -> None:
    """Whatever fails, the operator reaches the same state as without the fault, and comes to rest."""
    explore($program)
''')


def simulation_files(project: ScaffoldProject) -> dict[str, str]:
    """Return the test, by path."""
    name = project.package
    is_package = project.layout == "package"
    words = {
        "imported": f"from {name}.__main__ import add_{name}" if is_package else f"import {name}",
        "program": f"add_{name}" if is_package else name,
    }
    return {"tests/test_simulation.py": project.python(SIMULATION.substitute(words))}
