"""Programs to package."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

from pyctrl.packaging import Project, Settings, read_project

EXAMPLES = Path(__file__).parents[3] / "examples"

WIDGETS = textwrap.dedent(
    '''
    """Widgets."""

    from typing import Literal

    from pydantic import Field

    from pyctrl.api import CustomResource, Model
    from pyctrl.controller import Reconciler, Request, Result


    class WidgetSpec(Model):
        """What is wanted."""

        size: int = Field(ge=3, lt=9, multiple_of=2)
        colour: Literal["red", "blue"]
        name: str = Field(pattern="^[a-z]+-[0-9]+$", examples=["box-1"])
        schedule: str = Field(pattern=r"^(\\S+ ){4}\\S+$")
        parts: list[str] = Field(min_length=1)
        note: str = ""
        mood: str = "calm"


    class WidgetStatus(Model):
        """What there is."""

        ready: bool = False


    class Widget(CustomResource[WidgetSpec, WidgetStatus], group="example.com", version="v1"):
        """Widget is made."""


    class WidgetReconciler(Reconciler[Widget]):
        """Makes them."""

        async def reconcile(self, request: Request) -> Result | None:
            """Make one."""
            return None
    '''
)


async def podset(**settings: object) -> Project:
    """Return the project of the example with other settings."""
    return await read_project(replace(Settings(program=str(EXAMPLES / "podset")), **settings))  # type: ignore[arg-type]


async def of_text(folder: Path, text: str, **settings: object) -> Project:
    """Return the project of a program that is written into a folder."""
    name = f"widgets_{len(text)}"  # a module is imported once, by its name
    (folder / f"{name}.py").write_text(text)
    found = Settings(program=str(folder / f"{name}.py"), name="widgets")
    return await read_project(replace(found, **settings))  # type: ignore[arg-type]


CONVERSION = '''
from pyctrl.webhook import Conversion, Spoke, same_fields


class OldWidget(CustomResource[WidgetSpec, WidgetStatus], group="example.com", version="v1beta1", kind="Widget"):
    """Widget, as it was."""


CONVERSION = Conversion(
    Widget,
    Spoke(
        OldWidget,
        to_hub=lambda old: same_fields(old, Widget),
        from_hub=lambda new: same_fields(new, OldWidget),
    ),
)
'''

WEBHOOK = '''
from pyctrl.errors import Denied
from pyctrl.webhook import AdmissionRequest, Validator


class WidgetValidator(Validator[Widget]):
    """Refuses what is sad."""

    def validate_create(self, obj: Widget, request: AdmissionRequest) -> None:
        """Look at one."""
        if obj.spec.mood == "sad":
            raise Denied("no sad widgets")
'''
