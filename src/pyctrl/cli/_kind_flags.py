"""How `pyctrl create` and `pyctrl delete` are told of what they are about; each command says what it means there."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Group, Parameter

__all__ = ["FILES", "KIND", "Convert", "Default", "KindGroup", "KindName", "KindVersion", "Validate"]

KIND = Group("Kind", sort_key=0)
FILES = Group("Files", sort_key=1)

KindGroup = Annotated[str, Parameter(group=KIND, metavar="GROUP")]
KindVersion = Annotated[str, Parameter(group=KIND, metavar="VERSION")]
KindName = Annotated[str, Parameter(group=KIND, metavar="KIND")]

# The second names are kubebuilder's.
Default = Annotated[bool, Parameter(name=("--default", "--defaulting"), group=FILES)]
Validate = Annotated[bool, Parameter(name=("--validate", "--programmatic-validation"), group=FILES)]
Convert = Annotated[bool, Parameter(name=("--convert", "--conversion"), group=FILES)]
