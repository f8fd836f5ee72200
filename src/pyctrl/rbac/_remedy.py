"""What to do about a right that is missing: the rule that grants it, and the commands."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from pyctrl.api import AccessRule
from pyctrl.rbac._manifests import dump

__all__ = ["Remedy", "remedy"]

_ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """How to grant rules of one resource.

    Attributes:
        what: the right in words: ``list and watch deployments.apps at the cluster scope``.
        rule: the rule to add to a role, as an item of a YAML list.
        commands: lines for a shell; they make a role of its own and bind it.
    """

    what: str
    rule: str
    commands: tuple[str, ...]


def remedy(rule: AccessRule, namespace: str, *, user: str, name: str) -> Remedy:
    """Say how to grant a rule of one resource, or of paths.

    Args:
        rule: what is missing.
        namespace: where; "" is the whole cluster, of which paths always are.
        user: who lacks it, as the server names it; ``system:serviceaccount:NAMESPACE:NAME`` is a service account.
        name: of the role and the binding that the commands make.
    """
    kind, place = ("role", f" --namespace={shlex.quote(namespace)}") if namespace else ("clusterrole", "")
    create = f"kubectl create {kind} {name}{place} --verb={','.join(rule.verbs)}{_objects(rule)}"
    bind = f"kubectl create {kind}binding {name}{place} --{kind}={name} {_subject(user)}"
    scope = f"in namespace {namespace!r}" if namespace else "at the cluster scope"
    verbs = f"{', '.join(rule.verbs[:-1])} and {rule.verbs[-1]}" if len(rule.verbs) > 1 else rule.verbs[0]
    what = f"{verbs} {', '.join(rule.paths)}" if rule.paths else f"{verbs} {', '.join(_qualified(rule))} {scope}"
    return Remedy(what=what, rule=dump([rule.to_wire()]), commands=(create, bind))


def _objects(rule: AccessRule) -> str:
    if rule.paths:
        return "".join(f" --non-resource-url={shlex.quote(path)}" for path in rule.paths)
    names = "".join(f" --resource-name={shlex.quote(name)}" for name in rule.names)
    return f" --resource={','.join(_qualified(rule))}{names}"


def _qualified(rule: AccessRule) -> list[str]:
    """Name resources as kubectl takes them: ``deployments.apps/status``."""
    found = []
    for resource in rule.resources:
        plural, slash, subresource = resource.partition("/")
        group = rule.groups[0] if rule.groups else ""
        found.append(f"{plural}.{group}{slash}{subresource}" if group else resource)
    return found


def _subject(user: str) -> str:
    if user.startswith(_ACCOUNT):
        return f"--serviceaccount={user.removeprefix(_ACCOUNT)}"
    return f"--user={shlex.quote(user)}"
