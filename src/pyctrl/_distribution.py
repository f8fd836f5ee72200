"""The installed distribution of pyctrl: name, version, and the requirement that installs it again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote

__all__ = ["DISTRIBUTION", "direct_reference", "for_any_pip", "is_url", "origin", "requirement", "version"]

DISTRIBUTION = "pyctrl-runtime"  # PyPI's `pyctrl` is another project


def version() -> str:
    """Return the installed version."""
    return metadata.version(DISTRIBUTION)


def requirement(*extras: str, source: str = "") -> str:
    """Return the requirement (PEP 508) that installs this distribution.

    Args:
        extras: extras of the distribution.
        source: a URL for a direct reference, or a version for the range from it to later patch releases. "": the
            running code, by the checkout, commit or archive that pip recorded (PEP 610), or else by its version.
    """
    source = source or origin() or version().partition("+")[0]
    name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
    return f"{name} @ {source}" if is_url(source) else f"{name}~={source}"


def origin() -> str:
    """Return the URL that pyctrl was installed from; "": it was installed from an index."""
    return for_any_pip(direct_reference(metadata.distribution(DISTRIBUTION).read_text("direct_url.json")))


def is_url(source: str) -> bool:
    """Return whether a source is a URL, not a version."""
    return ":" in source


def direct_reference(recorded: str | None) -> str:
    """Return the URL, for pip, of the source that pip recorded in ``direct_url.json``; "" if it recorded none.

    Args:
        recorded: the text of the file; None if it does not exist, because the distribution came from an index.
    """
    if recorded is None:
        return ""
    origin = json.loads(recorded)
    url, vcs, archive = origin["url"], origin.get("vcs_info"), origin.get("archive_info")
    if vcs is not None:
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    fragments = [f"subdirectory={origin['subdirectory']}"] if origin.get("subdirectory") else []
    if archive is not None and not url.startswith("file:") and (sha256 := _sha256(archive)):
        fragments.append(f"sha256={sha256}")  # a local file may be rebuilt
    return f"{url}#{'&'.join(fragments)}" if fragments else url


def for_any_pip(url: str) -> str:
    """Return the checkout of a local repository instead of its commit, if it has a checkout.

    pip before 24.1, the version in new virtual environments of Python 3.11 and 3.12, rejects ``git+file:///PATH`` as
    the URL of a dependency.
    """
    found = re.fullmatch(r"git\+(file://(/[^@#]+))@\w+(?:#subdirectory=(.+))?", url)
    below = f"/{found[3]}" if found and found[3] else ""
    if found and Path(unquote(found[2] + below), "pyproject.toml").is_file():
        return found[1] + below
    return url


def _sha256(archive: Mapping[str, Any]) -> str:
    algorithm, _, digest = archive.get("hash", "").partition("=")  # as older versions of pip write it
    return str((archive.get("hashes") or {}).get("sha256") or (digest if algorithm == "sha256" else ""))
