"""The projects in tests/generated: output of the commands, checked in so that mypy, ruff and pytest check it."""

from __future__ import annotations

from pathlib import Path

GENERATED = Path(__file__).parents[2] / "generated"

CACHES = frozenset({"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"})

DOMAIN = "generated.pyctrl.test"


def words(typed: str) -> list[str]:
    """Split a command into words."""
    return typed.split()


FROM = ("--pyctrl-from", "0.1.0")  # the default would be the path of this checkout

#: The commands of each project, run in its directory.
COMMANDS: dict[str, list[list[str]]] = {
    "package": [
        ["init", "--name", "shop", "--domain", DOMAIN, "--license", "apache2", "--owner", "Jane Doe", *FROM],
        ["create", "api", "--group", "apps", "--version", "v1alpha1", "--kind", "PodSet"],
        ["create", "api", "--version", "v1", "--kind", "Fleet", "--no-namespaced", "--plural", "armada"],
        words("create api --version v2 --kind Fleet --no-namespaced --plural armada --no-controller"),
        words("create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6-alpine"),
        words("create webhook --group apps --version v1alpha1 --kind PodSet --default --validate"),
        words("create webhook --version v2 --kind Fleet --convert"),
    ],
    "single-file": [
        ["init", "--name", "greeter", "--domain", DOMAIN, "--layout", "single-file", *FROM],
        ["create", "api", "--version", "v1", "--kind", "Greeting"],
        words("create webhook --version v1 --kind Greeting --validate --default"),
    ],
}


def files_of(root: Path) -> dict[str, str]:
    """Return the files below a directory by path, without the files that tools keep there."""
    found = (path for path in root.rglob("*") if path.is_file() and CACHES.isdisjoint(path.parts))
    return {path.relative_to(root).as_posix(): path.read_text() for path in sorted(found)}
