"""The text of a Dockerfile."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pyctrl.packaging._image.dependencies import LOCK, Dependencies

__all__ = ["BASE", "WHEELS", "dockerfile"]

BASE = "python:3.13.12-slim-trixie"  # a full version, for reproducible builds
WHEELS = "dist/wheels"
VENV = "/venv"


def dockerfile(source: str, entry: str, *, base: str, needs: Dependencies) -> str:
    """Return a Dockerfile with two stages, the second without build tools and with a non-root user.

    Args:
        source: the file or directory of the program, below the context.
        entry: the program as ``pyctrl run`` takes it.
        base: the base image of both stages.
        needs: the dependencies to install.
    """
    return "\n".join((*_build(base, needs), "", *_run(source, entry, base))) + "\n"


def _build(base: str, needs: Dependencies) -> Iterator[str]:
    yield f"FROM {base} AS build"
    yield "ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore"
    yield "WORKDIR /src"
    yield _command("python", "-m", "venv", "--without-pip", VENV)
    if needs.unreachable:
        yield f"# Wheels of dependencies that an image build cannot reach; pyctrl image build puts them into {WHEELS}."
        yield f"COPY {WHEELS} /wheels"
        yield "ENV PIP_FIND_LINKS=/wheels"
        yield _pip("install", "--no-index", "--no-deps", *needs.names)
    if needs.has_lock:
        yield f"COPY {LOCK} ./"
        yield _pip("install", *(["--require-hashes"] if needs.has_hashes else []), f"--requirement={LOCK}")
    elif needs.requirements:
        yield _pip("install", *needs.requirements)
    if needs.is_project:  # after its dependencies, so that code changes reuse the cached layer
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
