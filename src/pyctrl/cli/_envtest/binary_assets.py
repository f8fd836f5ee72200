"""The directory of `pyctrl envtest`: executables with the names that envtest looks for in `KUBEBUILDER_ASSETS`."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pyctrl._distribution import version
from pyctrl.errors import CommandFailed

__all__ = ["default_directory", "write_binary_assets"]

_ETCD = """\
#!/bin/sh
# etcd of `pyctrl envtest`: answers health checks.
exec {python} -I -S {etcd} "$@"
"""
_KUBE_APISERVER = """\
#!/bin/sh
# kube-apiserver of `pyctrl envtest`: pyctrl's API server.
{environment}exec {python} -P -m pyctrl.cli._envtest.kube_apiserver "$@"
"""
_KUBECTL = """\
#!/bin/sh
# kubectl of `pyctrl envtest`: the kubectl on the PATH, except this one.
here=$(cd "$(dirname "$0")" && pwd -P)
IFS=:
for directory in $PATH; do
  if [ -x "$directory/kubectl" ] && [ "$(cd "$directory" && pwd -P)" != "$here" ]; then
    unset IFS
    exec "$directory/kubectl" "$@"
  fi
done
echo "kubectl: there is no kubectl on the PATH; install it: https://kubernetes.io/docs/tasks/tools/" >&2
exit 127
"""


def default_directory(environment: Mapping[str, str]) -> Path:
    """Return the directory for these variables, the same for each call of one installation of pyctrl."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    identity = "\0".join((sys.executable, __file__, *(f"{name}={value}" for name, value in environment.items())))
    digest = hashlib.sha256(identity.encode()).hexdigest()[:12]
    try:
        home = Path(cache).expanduser()
    except RuntimeError as error:
        raise CommandFailed("there is no home directory; name a directory with --bin-dir") from error
    return home / "pyctrl" / "envtest" / f"{version()}-{digest}"


def write_binary_assets(directory: Path, environment: Mapping[str, str]) -> None:
    """Write the executables, unless they are there. Several commands may write them at the same time.

    Args:
        environment: variables of kube-apiserver. Those that the process has already take precedence.

    Raises:
        CommandFailed: the directory cannot be written.
    """
    python, etcd = shlex.quote(sys.executable), shlex.quote(str(Path(__file__).with_name("etcd.py")))
    lines = "".join(f': "${{{name}={value}}}"\nexport {name}\n' for name, value in environment.items())
    scripts = {
        "etcd": _ETCD.format(python=python, etcd=etcd),
        "kube-apiserver": _KUBE_APISERVER.format(python=python, environment=lines),
        "kubectl": _KUBECTL,
    }
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in scripts.items():
            _write_executable(directory / name, text)
    except OSError as error:
        raise CommandFailed(f"cannot write {error.filename or directory}: {error.strerror}; see --bin-dir") from error


def _write_executable(path: Path, text: str) -> None:
    """Replace a file atomically: a shell may be reading it."""
    if path.is_file() and path.read_text() == text and os.access(path, os.X_OK):
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        temporary.chmod(0o755)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
