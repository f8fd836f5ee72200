"""The rights of a program as data: what it declares, and the roles and commands that follow.

A reconciler declares a `Permission` for everything that it does beyond what the builder derives, and `allow` makes one
from a kind and verbs: ``allow(PersistentVolumeClaim, "create", "patch")``. `grants` resolves the permissions of a
program to namespaces, `manifests` writes them down as roles and bindings, and `remedy` says how to grant what is
missing. `diagnose` examines what somebody wrote. The rules themselves are `pyctrl.api.AccessRule`, and what they allow
is a `pyctrl.api.Access`.

What was `RecordedAccess` for in tests is compared with what is granted by `compare`.

Nothing here asks a server: the manager reviews its rights at start, and `pyctrl.testing` records what was asked for.

Nothing is imported before it is used: a program that declares its rights examines none.
"""

from typing import TYPE_CHECKING

from pyctrl._lazy_imports import lazy_search

if TYPE_CHECKING:
    from pyctrl.rbac._comparison import PermissionComparison, Wildcard, compare
    from pyctrl.rbac._doctor import (
        BoundRole,
        Diagnosis,
        Finding,
        ObjectRef,
        RequiredRule,
        ServedResource,
        Severity,
        diagnose,
        find_tokens,
    )
    from pyctrl.rbac._grants import Grants, grants
    from pyctrl.rbac._manifests import manifests, to_yaml
    from pyctrl.rbac._normalization import normalise
    from pyctrl.rbac._permission import (
        EVENTS,
        LEADER_ELECTION,
        Permission,
        PermissionScope,
        Resource,
        Verb,
        allow,
        resource_of,
    )
    from pyctrl.rbac._recording import RecordedAccess, is_default_access, read_recording, write_recording
    from pyctrl.rbac._remedy import Remedy, declaration, remedy

__all__ = [
    "EVENTS",
    "LEADER_ELECTION",
    "BoundRole",
    "Diagnosis",
    "Finding",
    "Grants",
    "ObjectRef",
    "Permission",
    "PermissionComparison",
    "PermissionScope",
    "RecordedAccess",
    "Remedy",
    "RequiredRule",
    "Resource",
    "ServedResource",
    "Severity",
    "Verb",
    "Wildcard",
    "allow",
    "compare",
    "declaration",
    "diagnose",
    "find_tokens",
    "grants",
    "is_default_access",
    "manifests",
    "normalise",
    "read_recording",
    "remedy",
    "resource_of",
    "to_yaml",
    "write_recording",
]

# What every program needs comes first: a name is looked for from the left, and what is not needed is not imported.
_FILES = (
    *("_permission", "_grants", "_normalization", "_remedy", "_manifests", "_recording", "_comparison", "_doctor"),
)

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = lazy_search(__name__, _FILES)
