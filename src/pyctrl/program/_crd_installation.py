"""Definitions, installed in a cluster without taking anything away that is in use there."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyctrl.api import GroupVersionKind, Key
from pyctrl.client import Client, wait_for
from pyctrl.errors import CommandFailed, Conflict, PyctrlError

__all__ = ["DEFINITION", "Installation", "install_definition", "install_definitions", "plan_installation"]

log = logging.getLogger("pyctrl.definitions")

DEFINITION = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
ESTABLISHED_TIMEOUT = 30.0  # an API server takes well under one
ATTEMPTS = 5  # of a write that others interfere with; the API server itself writes the status of a new definition twice

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """How a definition is installed.

    Attributes:
        definition: what is applied. It has the ``resourceVersion`` of what is there, so that the server refuses it if
            that has changed in between.
        losses: what is in use and would be lost.
    """

    definition: dict[str, Any]
    losses: tuple[str, ...] = ()


def plan_installation(existing: Definition | None, wanted: Definition) -> Installation:
    """Decide what is applied to make an existing definition the wanted one, and find what would be lost.

    A loss is a version that is served or that objects are stored in, and a conversion by webhook. A conversion that is
    there stays if the wanted definition has none. What else is wrong with the wanted definition is for the API server
    to say.

    Args:
        existing: as the API server has it, with its status; None: it has none.
        wanted: as `definitions_of` makes it, or from a file. A conversion by webhook without a ``webhook`` means that
            the versions have to be converted, by a webhook whose address is not known here.
    """
    spec, conversion = dict(_mapping(wanted.get("spec"))), _conversion(existing, wanted)
    if conversion is not None:
        spec["conversion"] = conversion
    losses = [*_lost_versions(existing or {}, wanted), *_lost_conversion(existing or {}, conversion)]
    merged = {**wanted, "spec": spec} if spec else dict(wanted)
    if existing is not None:
        merged["metadata"] = {**wanted["metadata"], "resourceVersion": existing["metadata"]["resourceVersion"]}
    return Installation(definition=merged, losses=tuple(losses))


def _conversion(existing: Definition | None, wanted: Definition) -> Any:
    """Return the ``spec.conversion`` to apply: the wanted one if it is whole, or else the one that is there."""
    mine = _mapping(wanted.get("spec")).get("conversion")
    if mine is not None and not _is_without_address(mine):
        return mine
    there = _mapping(_mapping((existing or {}).get("spec")).get("conversion"))
    return there if there.get("strategy") == "Webhook" else mine


def _lost_versions(existing: Definition, wanted: Definition) -> Iterator[str]:
    before, after = _versions(existing), _versions(wanted)
    stored = _mapping(existing.get("status")).get("storedVersions") or ()
    for name, version in before.items():
        if name not in after and (name in stored or version.get("storage")):
            yield f"version {name}, in which objects are stored; migrate them to another version first"
        elif name not in after and version.get("served"):
            yield f"version {name}, which is served; its clients would fail"
        elif name in after and version.get("served") and not after[name].get("served"):
            yield f"version {name} would not be served any more; its clients would fail"


def _lost_conversion(existing: Definition, conversion: Any) -> Iterator[str]:
    before = _mapping(_mapping(existing.get("spec")).get("conversion")).get("strategy")
    if _is_without_address(conversion):
        yield "the conversion of its versions; the address of the program's webhook is not known here"
    elif before == "Webhook" and _mapping(conversion).get("strategy") != "Webhook":
        yield "the conversion of its versions by a webhook; fields that only one version has would be dropped"


def _is_without_address(conversion: Any) -> bool:
    found = _mapping(conversion)
    return found.get("strategy") == "Webhook" and "webhook" not in found


def _versions(definition: Definition) -> dict[str, Definition]:
    found = _mapping(definition.get("spec")).get("versions")
    versions = map(_mapping, found if isinstance(found, list) else ())
    return {str(each.get("name")): each for each in versions}


def _mapping(value: Any) -> Definition:
    """Return a member that should be an object; of a file it may be anything."""
    return value if isinstance(value, Mapping) else {}


async def install_definitions(
    client: Client, definitions: Iterable[Definition], *, force: bool = True, allow_loss: bool = False
) -> None:
    """Apply definitions, server-side, and wait until their kinds are served.

    A definition that is there keeps what is in use: if one of its versions that is served or stored, or its conversion
    by webhook, would be lost, nothing is changed and CommandFailed is raised. So give it all versions of a kind, as
    `definitions` does, and not the class of one. A field that goes, or a rule that is stricter, is logged as a warning:
    only the stored objects show whether it matters, and ``pyctrl crd diff`` shows it before.

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
        existing = None if found is None else found.to_wire()
        planned = plan_installation(existing, wanted)
        if planned.losses and not allow_loss:
            raise CommandFailed(_loss_error(key.name, planned.losses))
        try:
            applied = await client.apply(_appliable(planned.definition), force=force)
        except Conflict:
            if attempt == ATTEMPTS or found is None:
                raise
            continue  # it was changed after it was read: decide again
        if existing is not None:
            _warn(key.name, existing, applied.to_wire())
        break
    await wait_for(client, DEFINITION, key, is_established, timeout=ESTABLISHED_TIMEOUT)


def _appliable(definition: Definition) -> dict[str, Any]:
    """Leave out a conversion without an address, which the server would refuse: its loss was allowed."""
    spec = _mapping(definition.get("spec"))
    if not _is_without_address(spec.get("conversion")):
        return dict(definition)
    return {**definition, "spec": {name: value for name, value in spec.items() if name != "conversion"}}


def _warn(name: str, before: Definition, after: Definition) -> None:
    from pyctrl.manifests import compare_definitions  # here: most definitions are new

    for change in compare_definitions(before, after):
        if change.effect == "breaking" or (change.code == "conversion-changed" and _is_unconverted(after)):
            version = f"version {change.version}, " if change.version else ""
            told = f"{version}{change.path}: {change.message}"
            log.warning("Stored objects or clients of %s may no longer fit: %s", name, told)


def _is_unconverted(definition: Definition) -> bool:
    return bool(definition["spec"]["conversion"]["strategy"] == "None")  # the server has filled it in


def _loss_error(name: str, losses: Iterable[str]) -> str:
    return (
        f"the definition {name} was not installed, because this would be lost:\n"
        + "".join(f"- {loss}\n" for loss in losses)
        + _FIX
    )


_FIX = """\
Install all versions of the kind and their conversion, as pyctrl.program.definitions gives them. For a conversion, \
the program says where its webhook is: `pyctrl run --webhook-service NAME`, `pyctrl deploy`, or `pyctrl dev`. To lose \
it all the same: --allow-crd-loss, or allow_loss=True"""


def is_established(definition: Any) -> bool:
    """Whether the kind of a definition is served."""
    conditions = definition.get("status", {}).get("conditions") or []  # kube-apiserver says null before it has looked
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
