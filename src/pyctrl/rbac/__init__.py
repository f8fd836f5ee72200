"""RBAC permissions of a program: declarations, and the roles, bindings and commands derived from them.

A reconciler declares a `Permission` for each access that the builder does not derive. `allow` makes one from a kind and
verbs: ``allow(PersistentVolumeClaim, "create", "patch")``. `grants` resolves the permissions of a program to
namespaces, `manifests` returns the roles and bindings for them, and `remedy` describes how to grant a missing rule.
`diagnose` checks existing roles and bindings. The rules are `pyctrl.api.AccessRule` objects, and the requests that they
allow `pyctrl.api.Access` objects.

`compare` compares granted permissions with each `RecordedAccess` of a test run.

This package sends no requests: the manager reviews permissions at start, and `pyctrl.testing` records accesses.

Submodules are imported on first use: a program that declares permissions does not import the doctor.
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
        SHARDING,
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
    "SHARDING",
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

# In search order: the modules that every program needs come first, and later ones are imported only if needed.
_FILES = (
    *("_permission", "_grants", "_normalization", "_remedy", "_manifests", "_recording", "_comparison", "_doctor"),
)

if not TYPE_CHECKING:  # type checkers would accept any attribute of a module with __getattr__
    __getattr__, __dir__ = lazy_search(__name__, _FILES)
