"""Checks of names that have to be valid in Kubernetes and Python."""

from __future__ import annotations

import builtins
import keyword
import pkgutil
import re
import sys
from importlib.util import find_spec

from pyctrl.errors import CommandFailed

__all__ = [
    "check_domain",
    "check_group",
    "check_kind",
    "check_plural",
    "check_version",
    "looks_built_in",
    "package_name",
    "project_name",
    "variable_name",
]

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_VERSION = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_KIND = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
_PROJECT = re.compile(r"[a-z]([-a-z0-9]{0,26}[a-z0-9])?")  # the prefix of object names, see pyctrl manifests

#: Names that generated code uses; a class of the same name would shadow them.
_TAKEN = frozenset(
    {"Builder", "Client", "Conversion", "CustomResource", "Defaulter", "Int64", "Manager", "Model", "ObjectMeta"}
    | {"AdmissionRequest", "FieldError", "Operation", "Reconciler", "Rejected", "Request", "Spoke", "UnderRole"}
    | {"Validator", "Warnings"}
)
_LOCAL = frozenset({"before", "client", "namespace", "operator", "request", "self"})


def project_name(text: str) -> str:
    """Return the project name for a directory name: ``mySrv`` becomes ``mysrv``.

    Raises:
        CommandFailed: the name is invalid, or the module of this name is part of Python or pyctrl.
    """
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not _PROJECT.fullmatch(name):
        raise CommandFailed(
            f"{text!r} is not a project name: expected at most 28 lower-case letters, digits and '-', a letter first; "
            "choose another name with --name"
        )
    taken = package_name(name)
    if taken in sys.stdlib_module_names or keyword.iskeyword(taken) or taken in ("pyctrl", "tests"):
        raise CommandFailed(
            f"a project named {name!r} could not be imported: Python or pyctrl has a module of that name; use "
            f"--name my-{name}, for example"
        )
    return name


def package_name(project: str) -> str:
    """Return the Python package name of a project."""
    return project.replace("-", "_")


def check_domain(domain: str) -> None:
    """Raise CommandFailed if groups cannot end with a domain."""
    if not _is_subdomain(domain):
        raise CommandFailed(f"{domain!r} is not a domain: expected a lower-case name, such as example.com")


def check_group(group: str) -> None:
    """Raise CommandFailed if a group, without the domain, is invalid."""
    if group and not _is_subdomain(group):
        raise CommandFailed(f"{group!r} is not a group: expected lower-case letters, digits, '-' and '.'")


def check_version(version: str) -> None:
    """Raise CommandFailed if a version is invalid."""
    if not _VERSION.fullmatch(version):
        raise CommandFailed(f"{version!r} is not a version: expected v1, v1beta1, v1alpha1 or the like")


def check_kind(kind: str) -> None:
    """Raise CommandFailed if a kind is invalid, or would shadow a name that generated code uses."""
    if not _KIND.fullmatch(kind):
        words = [word for word in re.split(r"[^A-Za-z0-9]+", kind) if word]
        better = "".join(word[0].upper() + word[1:] for word in words)
        hint = f"; did you mean {better}?" if _KIND.fullmatch(better) else ""
        raise CommandFailed(f"{kind!r} is not a kind: expected CamelCase, a capital letter first{hint}")
    if kind in _TAKEN or hasattr(builtins, kind) or keyword.iskeyword(kind):
        raise CommandFailed(f"the kind {kind} would shadow a name of Python or pyctrl; choose another name")


def check_plural(plural: str) -> None:
    """Raise CommandFailed if a plural is invalid."""
    if plural and not _LABEL.fullmatch(plural):
        raise CommandFailed(f"{plural!r} is not a plural: expected lower-case letters, digits and '-'")


def looks_built_in(group: str) -> bool:
    """Return whether a group is the first label of a built-in group: ``apps``, ``batch``, ``networking``."""
    spec = find_spec("pyctrl.kinds")
    assert spec is not None
    folders = pkgutil.iter_modules(spec.submodule_search_locations)
    return group in {each.name for each in folders if each.ispkg}


def variable_name(kind: str) -> str:
    """Return the Python name for one object of a kind, and for its module."""
    name = kind.lower()
    return f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) or name in _LOCAL else name


def _is_subdomain(text: str) -> bool:
    return len(text) <= 253 and all(_LABEL.fullmatch(part) for part in text.split("."))
