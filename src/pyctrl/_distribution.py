"""The distribution that this package is installed from: its name and version, and how to install the same one again."""

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
    """Return the version that is installed."""
    return metadata.version(DISTRIBUTION)


def requirement(*extras: str, source: str = "") -> str:
    """Return the requirement (PEP 508) that installs this distribution.

    Args:
        extras: of the distribution.
        source: a URL makes it a direct reference, a version the range from this version to later fixes of it; "": what
            is running now, from the checkout, commit or archive that pip recorded (PEP 610), or else its version.
    """
    source = source or origin() or version().partition("+")[0]
    name = f"{DISTRIBUTION}[{','.join(extras)}]" if extras else DISTRIBUTION
    return f"{name} @ {source}" if is_url(source) else f"{name}~={source}"


def origin() -> str:
    """Return the URL that what is running now was installed from; "": it came from an index."""
    return for_any_pip(direct_reference(metadata.distribution(DISTRIBUTION).read_text("direct_url.json")))


def is_url(source: str) -> bool:
    """Whether a source is a URL, and not a version."""
    return ":" in source


def direct_reference(recorded: str | None) -> str:
    """Return the URL that pip understands for what it recorded in ``direct_url.json``; "": it recorded nothing.

    Args:
        recorded: the text of the file; None: there is none, because the distribution came from an index.
    """
    if recorded is None:
        return ""
    origin = json.loads(recorded)
    url, vcs, archive = origin["url"], origin.get("vcs_info"), origin.get("archive_info")
    if vcs is not None:
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    fragments = [f"subdirectory={origin['subdirectory']}"] if origin.get("subdirectory") else []
    if archive is not None and not url.startswith("file:") and (sha256 := _sha256(archive)):
        fragments.append(f"sha256={sha256}")  # a file of this machine may be built again
    return f"{url}#{'&'.join(fragments)}" if fragments else url


def for_any_pip(url: str) -> str:
    """Return the checkout of a local repository instead of its commit, if there is a checkout.

    pip before 24.1, as fresh virtual environments of Python 3.11 and 3.12 have it, refuses ``git+file:///PATH`` as the
    URL of a dependency.
    """
    found = re.fullmatch(r"git\+(file://(/[^@#]+))@\w+(?:#subdirectory=(.+))?", url)
    below = f"/{found[3]}" if found and found[3] else ""
    if found and Path(unquote(found[2] + below), "pyproject.toml").is_file():
        return found[1] + below
    return url


def _sha256(archive: Mapping[str, Any]) -> str:
    algorithm, _, digest = archive.get("hash", "").partition("=")  # as older versions of pip write it
    return str((archive.get("hashes") or {}).get("sha256") or (digest if algorithm == "sha256" else ""))
