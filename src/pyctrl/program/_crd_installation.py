"""Installation of CRDs in a cluster, which refuses to drop versions or conversions in use."""

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
ESTABLISHED_TIMEOUT = 30.0  # seconds; an API server takes less than one
ATTEMPTS = 5  # on conflicts; the API server itself writes the status of a new CRD twice

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """A planned installation of a CRD.

    Attributes:
        definition: the CRD to apply. It has the ``resourceVersion`` of the existing one, so that the server rejects it
            if that has changed meanwhile.
        losses: versions and conversions in use that would be lost.
    """

    definition: dict[str, Any]
    losses: tuple[str, ...] = ()


def plan_installation(existing: Definition | None, wanted: Definition) -> Installation:
    """Return the CRD to apply over an existing one, and what would be lost.

    A loss is a version that is served or in which objects are stored, or a conversion by webhook. An existing
    conversion is kept if the wanted CRD has none. All other validation is left to the API server.

    Args:
        existing: the CRD on the API server, with its status; None: there is none.
        wanted: the CRD of `definitions_of`, or of a file. A webhook conversion without a ``webhook`` means that the
            versions need a conversion by a webhook with an unknown address.
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
    """Return the ``spec.conversion`` to apply: the wanted one if it has an address, else the existing one."""
    conversion = _mapping(wanted.get("spec")).get("conversion")
    if conversion is not None and not _is_without_address(conversion):
        return conversion
    current = _mapping(_mapping((existing or {}).get("spec")).get("conversion"))
    return current if current.get("strategy") == "Webhook" else conversion


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
        yield "the conversion of its versions; the address of the program's webhook is unknown"
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
    """Return a member that should be an object; {} if a file has something else."""
    return value if isinstance(value, Mapping) else {}


async def install_definitions(
    client: Client, definitions: Iterable[Definition], *, force: bool = True, allow_loss: bool = False
) -> None:
    """Apply CRDs server-side, and wait until their kinds are served.

    If a version that is served or stored, or a conversion by webhook, would be lost, nothing is changed and
    CommandFailed is raised. A CRD therefore needs all versions of its kind, as `definitions` returns them. Removed
    fields and stricter rules are logged as warnings, because they matter only to stored objects that use them;
    ``pyctrl crd diff`` shows them in advance.

    Args:
        client: a client with permission to read and write CRDs.
        definitions: CRDs of `definitions` or `pyctrl.manifests.definition`.
        force: whether to take over fields of other field managers.
        allow_loss: install a CRD even if a version or conversion is lost.

    Raises:
        CommandFailed: a version or conversion would be lost, or the server rejected a CRD or does not serve it within
            30 seconds. The message names the CRD and the reason. Earlier ones are installed.
    """
    for definition in definitions:
        name = definition["metadata"]["name"]
        try:
            await install_definition(client, definition, force=force, allow_loss=allow_loss)
        except CommandFailed:
            raise
        except (PyctrlError, TimeoutError) as error:
            raise CommandFailed(f"cannot install CustomResourceDefinition {name}: {error}") from error


async def install_definition(
    client: Client, wanted: Definition, *, force: bool = True, allow_loss: bool = False
) -> None:
    """Apply one CRD, and wait until its kind is served; see `install_definitions`.

    Raises:
        CommandFailed: a version or conversion would be lost.
        PyctrlError: the server rejected the CRD.
        TimeoutError: the kind is not served within 30 seconds.
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
            continue  # changed since it was read: plan again
        if existing is not None:
            _warn(key.name, existing, applied.to_wire())
        break
    await wait_for(client, DEFINITION, key, is_established, timeout=ESTABLISHED_TIMEOUT)


def _appliable(definition: Definition) -> dict[str, Any]:
    """Return the CRD without a conversion that has no address, which the server would reject. Its loss is allowed."""
    spec = _mapping(definition.get("spec"))
    if not _is_without_address(spec.get("conversion")):
        return dict(definition)
    return {**definition, "spec": {name: value for name, value in spec.items() if name != "conversion"}}


def _warn(name: str, before: Definition, after: Definition) -> None:
    from pyctrl.manifests import compare_definitions  # here: most CRDs are new

    for change in compare_definitions(before, after):
        if change.effect == "breaking" or (change.code == "conversion-changed" and _is_unconverted(after)):
            version = f"version {change.version}, " if change.version else ""
            log.warning(
                "Change of CustomResourceDefinition may break stored objects or clients: %s: %s%s: %s",
                *(name, version, change.path, change.message),
            )


def _is_unconverted(definition: Definition) -> bool:
    return bool(definition["spec"]["conversion"]["strategy"] == "None")  # defaulted by the server


def _loss_error(name: str, losses: Iterable[str]) -> str:
    return (
        f"CustomResourceDefinition {name} was not installed, because this would be lost:\n"
        + "".join(f"- {loss}\n" for loss in losses)
        + _FIX
    )


_FIX = """\
Install all versions of the kind and their conversion, as pyctrl.program.definitions returns them. A conversion needs \
the address of its webhook: `pyctrl run --webhook-service NAME`, `pyctrl deploy` or `pyctrl dev`. To accept the \
loss: --allow-crd-loss, or allow_loss=True"""


def is_established(definition: Any) -> bool:
    """Return whether the kind of a CRD is served."""
    conditions = definition.get("status", {}).get("conditions") or []  # null until kube-apiserver sets it
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)
