"""Generation of classes from CRDs."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pyctrl._atomic_files import write_atomically
from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._definition_sources import read_source
from pyctrl.errors import CommandFailed
from pyctrl.manifests import import_definitions

__all__ = ["write_classes"]


def write_classes(sources: Sequence[str], *, out: Path | None, force: bool, login: ClientFlags) -> None:
    """Print the classes of CRDs, or write them to a file; report on stderr what classes cannot express."""
    if out is not None and out.exists() and not force:
        raise CommandFailed(f"{out} exists; --force overwrites it")
    for source in sources:
        if source.startswith(("https://", "http://")):
            # curl handles proxies, certificates, tokens and redirects.
            curl = f"curl --fail --location {shlex.quote(source)}"
            raise CommandFailed(f"pyctrl downloads nothing; pipe it in: {curl} | pyctrl crd import -")
    imported = import_definitions([each for source in sources for each in read_source(source, login)])
    if out is None:
        sys.stdout.write(imported.code)
    else:
        _write(out, imported.code)
        _tell(f"{out}: {', '.join(imported.kinds)}")
    for note in imported.notes:
        _tell(f"not expressible as classes: {note}")


def _write(out: Path, code: str) -> None:
    try:
        write_atomically(out, code)
    except OSError as error:
        raise CommandFailed(f"{out}: {error.strerror}") from error
    ruff = shutil.which("ruff")
    if ruff is not None:  # formatted for 120 columns already; a project may have other rules
        subprocess.run([ruff, "format", "--quiet", str(out)], check=False)


def _tell(text: str) -> None:
    print(text, file=sys.stderr)
