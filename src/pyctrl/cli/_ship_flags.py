"""The flags that say how a program is shipped; each is a setting of ``[tool.pyctrl]``, too."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter
from cyclopts.validators import Number

if TYPE_CHECKING:
    from pyctrl.shipping import Settings

SHIPPED = Group("How it is shipped", sort_key=1)


def _flag(text: str, metavar: str | None = None) -> Parameter:
    return Parameter(group=SHIPPED, show_default=False, negative="", help=text, metavar=metavar)


@Parameter(name="*")  # each field is a flag of the command
@dataclass(frozen=True, kw_only=True)
class ShipFlags:
    """How a program is shipped. A command has one parameter of this type: ``flags: ShipFlags = NO_SHIP_FLAGS``."""

    image: Annotated[str | None, _flag("What runs; else NAME:latest.", "IMAGE")] = None
    name: Annotated[str | None, _flag("What names of objects begin with; else the program's.", "NAME")] = None
    namespace: Annotated[
        str | None,
        Parameter(
            name=("--namespace", "-n"),
            group=SHIPPED,
            show_default=False,
            metavar="NAME",
            help="Where it runs; else NAME-system.",
        ),
    ] = None
    config_dir: Annotated[Path | None, _flag("The directory to write; else config.", "DIR")] = None
    replicas: Annotated[
        int | None,
        Parameter(
            group=SHIPPED, show_default=False, validator=Number(gte=0), help="One works, the others stand by; else 1."
        ),
    ] = None
    watch_namespaces: Annotated[
        tuple[str, ...] | None,
        _flag("Look at this namespace only, and have rights in it only; may be repeated. Else all.", "NAME"),
    ] = None
    metrics: Annotated[
        Literal["https", "http", "off"] | None,
        _flag("Serve /metrics over TLS to those who may get it, in the clear, or not. Else https."),
    ] = None
    prometheus: Annotated[bool | None, _flag("Have a ServiceMonitor, for the Prometheus operator.")] = None
    network_policy: Annotated[bool | None, _flag("Let in who scrapes metrics and who calls webhooks, only.")] = None
    webhook_certificates: Annotated[
        Literal["managed", "cert-manager"] | None,
        _flag("Who makes the certificates of webhooks: the program itself, or cert-manager. Else managed."),
    ] = None

    def settings(self, program: str | None) -> Settings:
        """Return the settings of pyproject.toml, with the flags over them.

        Args:
            program: as it was named; None: as pyproject.toml says.
        """
        from pyctrl.shipping import read_settings  # here: help and completion need none of it

        found = read_settings(_folder(program))
        said = {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}
        if self.config_dir is not None:
            said["config_dir"] = str(self.config_dir.absolute())
        if program is not None:
            place = Path(program.partition(":")[0])
            said["program"] = str(Path.cwd() / program) if place.exists() else program
        return replace(found, **said)


def _folder(program: str | None) -> Path:
    """Return where to begin to look for pyproject.toml."""
    place = Path((program or "").partition(":")[0])
    if program and place.exists():
        return (place if place.is_dir() else place.parent).resolve()
    return Path.cwd()


NO_SHIP_FLAGS = ShipFlags()
