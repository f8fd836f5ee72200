"""A program with its own flags."""

from __future__ import annotations

PROGRAM = """\
from pyctrl import Builder, CustomResource, Model, Reconciler, Request


class Thing(CustomResource[Model], group="a.example.com", version="v1"):
    "A thing."


class ThingReconciler(Reconciler[Thing]):
    async def reconcile(self, request: Request) -> None: ...


def add_things(manager, *, colour: str = "red", shape: str = "round") -> None:
    print("things are", colour, shape)
    {then}
    Builder(manager).build(ThingReconciler())
"""
