"""Whether the API server would take a definition, asked without one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyctrl.apiserver import Complaint, Examiner

__all__ = ["check_definition", "complaints_of"]


def check_definition(definition: Mapping[str, Any]) -> list[str]:
    """Return what the API server has against a definition, in its words; nothing, when it would take it.

    The code is the embedded server's own. What it does not know of the rules of kube-apiserver: the cost of rules in
    CEL, which it does not estimate (docs/apiserver-definitions.md). Without the extra ``cel``, rules are not compiled.
    """
    return [str(complaint) for complaint in complaints_of(definition)]


def complaints_of(definition: Mapping[str, Any]) -> tuple[Complaint, ...]:
    """Return what `check_definition` does, each with the path that it is about."""
    return _examiner().define(definition).complaints


@cache
def _examiner() -> Examiner:
    """Make one examiner for all definitions: what the server knows of definitions takes it a while to learn."""
    from pyctrl.apiserver import Examiner  # a server's code, for those who make definitions only

    return Examiner()
