"""How to grant a missing permission: the rule, kubectl commands, and the declaration in code."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import indent

from pyctrl.api import Access, AccessRule
from pyctrl.kinds import BUILTIN_KINDS

__all__ = ["Remedy", "declaration", "remedy"]


_ACCOUNT = "system:serviceaccount:"
_UNUSUAL = re.compile(r"[^\w.:@-]+", re.ASCII)  # in names of roles; the API server only forbids / and %


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """How to grant a rule of one resource.

    Attributes:
        what: the permission in words: ``list and watch deployments.apps at the cluster scope``.
        rule: the rule to add to a role, as a YAML list item.
        commands: shell commands that create a separate role and bind it.
        role: the kind of role that needs the rule, and the user that it is bound to, in words.
    """

    what: str
    rule: str
    commands: tuple[str, str]
    role: str

    @property
    def text(self) -> str:
        """The remedy as several lines for a log: the rule, indented as in a role, and the commands."""
        return (
            f"grant it with this rule, in a {self.role}:\n{indent(self.rule, '  ')}"
            f"or with a separate role:\n  {self.commands[0]}\n  {self.commands[1]}"
        )


def remedy(rule: AccessRule, namespace: str, *, user: str, name: str = "") -> Remedy:
    """Return how to grant a rule of one resource, or of paths.

    Args:
        rule: the missing rule.
        namespace: where it is missing; "" is the whole cluster, and required for paths.
        user: the user who lacks it, as the server names it; ``system:serviceaccount:NAMESPACE:NAME`` is a service
            account. "" is unknown: the command then has a placeholder.
        name: the name of the role and binding that the commands create; by default made of the user and the rule, so
            that two remedies have different names.
    """
    name = shlex.quote(name or _name_for(rule, user))
    kind, place = ("role", f" --namespace={shlex.quote(namespace)}") if namespace else ("clusterrole", "")
    create = f"kubectl create {kind} {name}{place} --verb={_listed(rule.verbs)}{_objects(rule)}"
    bind = f"kubectl create {kind}binding {name}{place} --{kind}={name} {_subject(user)}"
    scope = f"in namespace {namespace!r}" if namespace else "at the cluster scope"
    *others, last = rule.verbs
    verbs = f"{', '.join(others)} and {last}" if others else last
    return Remedy(
        what=f"{verbs} {', '.join(rule.paths)}" if rule.paths else f"{verbs} {_described(rule)} {scope}",
        rule=_as_item(rule),
        commands=(create, bind),
        role=f"{f'Role {scope}' if namespace else 'ClusterRole'} that is bound to {user or 'the user of this program'}",
    )


def _described(rule: AccessRule) -> str:
    names = f" {', '.join(map(repr, rule.names))}" if rule.names else ""
    return f"{', '.join(rule.qualified_resources)}{names}"


def _as_item(rule: AccessRule) -> str:
    """Return the rule as a YAML list item, one line for each field; JSON lists are valid YAML."""
    first, *more = (f"{field}: {json.dumps(values)}\n" for field, values in rule.to_wire().items())
    return f"- {first}{indent(''.join(more), '  ')}"


def _name_for(rule: AccessRule, user: str) -> str:
    """Return a name made of user, resources and verbs: ``ops:podset:deployments.apps:list-watch``."""
    what = "-".join((*(rule.paths or rule.qualified_resources), *rule.names))
    parts = (user.removeprefix(_ACCOUNT), what, "-".join(rule.verbs).replace("*", "all"))
    return ":".join(_UNUSUAL.sub("-", part).strip("-") for part in parts if part)


def _objects(rule: AccessRule) -> str:
    if rule.paths:
        return "".join(f" --non-resource-url={shlex.quote(path)}" for path in rule.paths)
    names = "".join(f" --resource-name={shlex.quote(name)}" for name in rule.names)
    return f" --resource={_listed(rule.qualified_resources)}{names}"


def _listed(values: tuple[str, ...] | list[str]) -> str:
    return shlex.quote(",".join(values))


def _subject(user: str) -> str:
    if not user:
        return "--serviceaccount=NAMESPACE:NAME"
    if user.startswith(_ACCOUNT):
        return f"--serviceaccount={user.removeprefix(_ACCOUNT)}"
    return f"--user={shlex.quote(user)}"


def declaration(accesses: Sequence[Access], *, cluster: str = "") -> str:
    """Return the `allow` call that declares verbs of one resource: ``allow(Deployment, "create", "patch")``.

    Args:
        accesses: at least one, all of one resource, each with a different verb.
        cluster: the name of another cluster of the manager; "" for its own.
    """
    first = accesses[0]
    kinds = (gvk.kind for gvk, of in BUILTIN_KINDS.items() if (gvk.group, of.plural) == (first.group, first.resource))
    what = next(kinds, f'Resource("{first.group}", "{first.resource}")')
    verbs = ", ".join(f'"{access.verb}"' for access in accesses)
    part = f', subresource="{first.subresource}"' if first.subresource else ""
    part += f', cluster="{cluster}"' if cluster else ""
    return f"allow({what}, {verbs}{part})"
