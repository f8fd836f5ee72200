"""Definitions, installed in a cluster without taking anything away that is in use there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Client, wait_for
from pyctrl.errors import CommandFailed, Conflict, PyctrlError

if TYPE_CHECKING:
    from pyctrl.manifests import Change

__all__ = ["DEFINITION", "Installation", "install_definition", "install_definitions", "plan_installation"]

log = logging.getLogger("pyctrl.definitions")

DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
ESTABLISHED_SECONDS = 30.0  # an API server takes well under one
ATTEMPTS = 5  # of a write that others interfere with; the API server itself writes the status of a new definition twice
LOSSES = frozenset({"version-removed", "version-unserved", "conversion-changed"})  # of `Change.code`

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """How a definition is installed.

    Attributes:
        definition: what is applied. It has the ``resourceVersion`` of what is there, so that the server refuses it if
            that has changed in between.
        losses: what is in use and would be lost.
        warnings: what else may not suit the objects that are stored or the clients that read them.
    """

    definition: dict[str, Any]
    losses: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def plan_installation(existing: Definition | None, wanted: Definition) -> Installation:
    """Decide what is applied to make an existing definition the wanted one, and find what would be lost.

    A loss is a version that is served or that objects are stored in, and a conversion by webhook. A conversion that is
    there stays if the wanted definition has none. A field that is removed or a rule that is stricter is no loss but a
    warning: only the objects show whether it matters, and ``pyctrl crd diff`` shows it before.

    Args:
        existing: as the API server has it, with its status; None: it has none.
        wanted: as `definitions_of` makes it. A conversion by webhook without a ``clientConfig`` means that the
            versions have to be converted, by a webhook whose address is not known here.
    """
    conversion = _conversion(existing, wanted)
    spec = {name: value for name, value in wanted["spec"].items() if name != "conversion"}
    merged = {**wanted, "spec": spec if conversion is None else {**spec, "conversion": conversion}}
    if existing is None:
        return Installation(definition=merged, losses=tuple(_unconverted(conversion)))
    merged["metadata"] = {**wanted["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}
    changes = _breaking(existing, merged)
    losses = [_told(change) for change in changes if change.code in LOSSES]
    return Installation(
        definition=merged,
        losses=(*losses, *_unconverted(conversion)),
        warnings=tuple(_told(change) for change in changes if change.code not in LOSSES),
    )


def _conversion(existing: Definition | None, wanted: Definition) -> dict[str, Any] | None:
    """Return the ``spec.conversion`` to apply: the wanted one if it is whole, or else the one that is there."""
    mine = wanted["spec"].get("conversion")
    if mine is not None and (mine["strategy"] != "Webhook" or "webhook" in mine):
        return dict(mine)
    there = (existing or {"spec": {}})["spec"].get("conversion") or {}
    return dict(there) if there.get("strategy") == "Webhook" else mine


def _unconverted(conversion: Definition | None) -> Iterator[str]:
    if conversion is not None and conversion["strategy"] == "Webhook" and "webhook" not in conversion:
        yield "the conversion of its versions: the address of the program's webhook is not known here"


def _breaking(existing: Definition, wanted: Definition) -> list[Change]:
    from pyctrl.manifests import compare  # here: most definitions are new

    is_converted = (wanted["spec"].get("conversion") or {}).get("strategy") == "Webhook"
    return [
        change
        for change in compare(existing, wanted)
        if change.effect == "breaking" or (change.code == "conversion-changed" and not is_converted)
    ]


def _told(change: Change) -> str:
    version = f"version {change.version}, " if change.version else ""
    return f"{version}{change.path}: {change.message}"


async def install_definitions(
    client: Client, definitions: Iterable[Definition], *, force: bool = True, allow_loss: bool = False
) -> None:
    """Apply definitions, server-side, and wait until their kinds are served.

    A definition that is there keeps what is in use: if one of its versions that is served or stored, or its conversion
    by webhook, would be lost, nothing is changed and CommandFailed is raised. So give it all versions of a kind, as
    `definitions` does, and not the class of one. What else may not suit stored objects is logged as a warning.

    Args:
        client: may read and write definitions.
        definitions: as `definitions` or `pyctrl.manifests.definition` makes them.
        force: take over fields that others have applied.
        allow_loss: install a definition even if something is lost, and log what.

    Raises:
        CommandFailed: something would be lost; the server refused a definition, or does not serve it within half a
            minute; says which and why. Those before it are installed.
    """
    for definition in definitions:
        name = definition["metadata"]["name"]
        try:
            await install_definition(client, definition, force=force, allow_loss=allow_loss)
        except CommandFailed:
            raise
        except (PyctrlError, TimeoutError) as error:
            raise CommandFailed(f"the definition {name} could not be installed: {error}") from error


async def install_definition(
    client: Client, wanted: Definition, *, force: bool = True, allow_loss: bool = False
) -> None:
    """Apply one definition and wait until its kind is served; see `install_definitions`.

    Raises:
        CommandFailed: something would be lost.
        PyctrlError: the server refused it.
        TimeoutError: it is not served within half a minute.
    """
    key = Key("", wanted["metadata"]["name"])
    for attempt in range(1, ATTEMPTS + 1):
        found = await client.find(DEFINITION, key)
        planned = plan_installation(None if found is None else found.to_wire(), wanted)
        if planned.losses and not allow_loss:
            raise CommandFailed(_refusal(key.name, planned.losses))
        try:
            await client.apply(_appliable(planned.definition), force=force)
        except Conflict:
            if attempt == ATTEMPTS or found is None:
                raise
            continue  # it was changed after it was read: decide again
        for warning in (*planned.losses, *planned.warnings):
            log.warning("Stored objects or clients of %s may no longer fit: %s", key.name, warning)
        break
    await wait_for(client, DEFINITION, key, is_established, timeout=ESTABLISHED_SECONDS)


def _appliable(definition: Definition) -> dict[str, Any]:
    """Leave out a conversion without an address, which the server would refuse: its loss was allowed."""
    spec = definition["spec"]
    if not any(_unconverted(spec.get("conversion"))):
        return dict(definition)
    return {**definition, "spec": {name: value for name, value in spec.items() if name != "conversion"}}


def _refusal(name: str, losses: Iterable[str]) -> str:
    return (
        f"the definition {name} was not installed, because this would be lost:\n"
        + "".join(f"- {loss}\n" for loss in losses)
        + _CURE
    )


_CURE = """\
Install all versions of the kind and their conversion, as pyctrl.program.definitions gives them. For a conversion, \
the program says where its webhook is: `pyctrl run --webhook-service NAME`, `pyctrl deploy`, or `pyctrl dev`. To lose \
it all the same: --allow-crd-loss, or allow_loss=True"""


def is_established(definition: Any) -> bool:
    """Whether the kind of a definition is served."""
    conditions = definition.get("status", {}).get("conditions") or []  # kube-apiserver says null before it has looked
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
