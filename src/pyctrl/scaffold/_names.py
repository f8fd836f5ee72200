"""Names that Kubernetes and Python both take, and what is wrong with others."""

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
_PROJECT = re.compile(r"[a-z]([-a-z0-9]{0,26}[a-z0-9])?")  # names of objects begin with it, see pyctrl manifests

#: What generated code calls by these names; a class of the same name would hide it.
_TAKEN = frozenset(
    {"Builder", "Client", "Conversion", "CustomResource", "Defaulter", "Int64", "Manager", "Model", "ObjectMeta"}
    | {"AdmissionRequest", "FieldError", "Operation", "Reconciler", "Rejected", "Request", "Spoke", "UnderRole"}
    | {"Validator", "Warnings"}
)
_LOCAL = frozenset({"before", "client", "namespace", "operator", "request", "self"})


def project_name(text: str) -> str:
    """Make the name of a project of that of a directory: ``mySrv`` gives ``mysrv``.

    Raises:
        CommandFailed: there is no way to; or Python has a module of this name, which would be imported instead.
    """
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not _PROJECT.fullmatch(name):
        raise CommandFailed(
            f"{text!r} is no name for a project: at most 28 lower-case letters, digits and '-' are expected, a letter "
            "first; choose another one with --name"
        )
    taken = package_name(name)
    if taken in sys.stdlib_module_names or keyword.iskeyword(taken) or taken in ("pyctrl", "tests"):
        raise CommandFailed(
            f"a project called {name!r} could not be imported: Python, or pyctrl, has a module of that name; "
            f"--name my-{name} would do"
        )
    return name


def package_name(project: str) -> str:
    """Return what Python calls a project."""
    return project.replace("-", "_")


def check_domain(domain: str) -> None:
    """Refuse what groups cannot end with."""
    if not _is_subdomain(domain):
        raise CommandFailed(f"{domain!r} is no domain: example.com, in lower case, would be one")


def check_group(group: str) -> None:
    """Refuse what no group can be, before the domain is put behind it."""
    if group and not _is_subdomain(group):
        raise CommandFailed(f"{group!r} is no group: lower-case letters, digits, '-' and '.' are expected")


def check_version(version: str) -> None:
    """Refuse what no version can be."""
    if not _VERSION.fullmatch(version):
        raise CommandFailed(f"{version!r} is no version: v1, v1beta1 or v1alpha1 was expected")


def check_kind(kind: str) -> None:
    """Refuse what no kind can be, and what would hide a name that the generated code needs."""
    if not _KIND.fullmatch(kind):
        words = [word for word in re.split(r"[^A-Za-z0-9]+", kind) if word]
        better = "".join(word[0].upper() + word[1:] for word in words)
        hint = f"; did you mean {better}?" if _KIND.fullmatch(better) else ""
        raise CommandFailed(f"{kind!r} is no kind: CamelCase was expected, a capital letter first{hint}")
    if kind in _TAKEN or hasattr(builtins, kind) or keyword.iskeyword(kind):
        raise CommandFailed(f"a kind {kind} would hide what Python or pyctrl calls so; choose another name")


def check_plural(plural: str) -> None:
    """Refuse what no plural can be."""
    if plural and not _LABEL.fullmatch(plural):
        raise CommandFailed(f"{plural!r} is no plural: lower-case letters, digits and '-' are expected")


def looks_built_in(group: str) -> bool:
    """Whether Kubernetes has a group that is called so, or begins so: ``apps``, ``batch``, ``networking``."""
    spec = find_spec("pyctrl.kinds")
    assert spec is not None
    folders = pkgutil.iter_modules(spec.submodule_search_locations)
    return group in {each.name for each in folders if each.ispkg}


def variable_name(kind: str) -> str:
    """Return what to call one object of a kind in Python; also its module."""
    name = kind.lower()
    return f"{name}_" if keyword.iskeyword(name) or hasattr(builtins, name) or name in _LOCAL else name


def _is_subdomain(text: str) -> bool:
    return len(text) <= 253 and all(_LABEL.fullmatch(part) for part in text.split("."))
