"""The text of a Dockerfile."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pyctrl.packaging._image.dependencies import LOCK, Dependencies

__all__ = ["BASE", "WHEELS", "dockerfile"]

BASE = "python:3.13.12-slim-trixie"  # by version: a build next year starts from what one today starts from
WHEELS = "dist/wheels"
VENV = "/venv"


def dockerfile(source: str, entry: str, *, base: str, needs: Dependencies) -> str:
    """Return a Dockerfile: two stages, the second without what the first builds with, and a user without a name.

    Args:
        source: the file or directory of the program, below the context.
        entry: what ``pyctrl run`` is to run.
        base: the image that both stages start from.
        needs: what is installed.
    """
    return "\n".join((*_build(base, needs), "", *_run(source, entry, base))) + "\n"


def _build(base: str, needs: Dependencies) -> Iterator[str]:
    yield f"FROM {base} AS build"
    yield "ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore"
    yield "WORKDIR /src"
    yield _command("python", "-m", "venv", "--without-pip", VENV)
    if needs.unreachable:
        yield f"# Wheels of what an image build cannot reach: pyctrl image build puts them into {WHEELS}."
        yield f"COPY {WHEELS} /wheels"
        yield "ENV PIP_FIND_LINKS=/wheels"
        yield _pip("install", "--no-index", "--no-deps", *needs.names)
    if needs.has_lock:
        yield f"COPY {LOCK} ./"
        yield _pip("install", *(["--require-hashes"] if needs.has_hashes else []), f"--requirement={LOCK}")
    elif needs.requirements:
        yield _pip("install", *needs.requirements)
    if needs.is_project:  # after its dependencies, so that a change of code does not install them again
        yield "COPY . ."
        yield _pip("install", *([] if needs.is_dynamic and not needs.has_lock else ["--no-deps"]), ".")
    yield _pip("check")


def _run(source: str, entry: str, base: str) -> Iterator[str]:
    yield f"FROM {base}"
    yield f"COPY --from=build {VENV} {VENV}"
    yield f"ENV PATH={VENV}/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1"
    yield "WORKDIR /app"
    yield f"COPY {source} {source.rpartition('/')[2]}"
    yield "USER 65532:65532"
    yield f"ENTRYPOINT {json.dumps(['pyctrl', 'run', entry])}"


def _pip(*words: str) -> str:
    return _command("pip", f"--python={VENV}/bin/python", *words)


def _command(*words: str) -> str:
    return f"RUN {json.dumps(words, ensure_ascii=False)}"
