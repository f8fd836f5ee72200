"""The image of a program: its Dockerfile, and the command that builds it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl._distribution import DISTRIBUTION, version
from pyctrl.errors import CommandFailed
from pyctrl.manager import Target

from ._settings import Settings

__all__ = ["Image", "find_tool", "image_of"]

BASE = "python:3.13.12-slim-trixie"  # by version: a build next year starts from what one today starts from
LOCK = "requirements.txt"
TOOLS = ("docker", "podman")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """How an image is built.

    Attributes:
        name: what it is called.
        context: the directory that files are copied from.
        dockerfile: its text.
        is_own: whether the author has written it, beside the program.
    """

    name: str
    context: Path
    dockerfile: str
    is_own: bool

    def command(self, tool: str) -> list[str]:
        """Return the command that builds it; the Dockerfile comes in."""
        return [tool, "build", "--file", "-", "--tag", self.name, str(self.context)]


def image_of(settings: Settings) -> Image:
    """Return how the image of a program is built: by a ``Dockerfile`` beside it, or by one that is made for it.

    Raises:
        CommandFailed: there is no such program, or it is not in files that could be copied.
    """
    target = Target.parse(settings.target)
    settings = settings.named(target.name)
    context = settings.root if settings.root != Path() or target.place.folder is None else target.place.root
    own = context / "Dockerfile"
    if own.is_file():
        return Image(name=settings.image, context=context, dockerfile=own.read_text(encoding="utf-8"), is_own=True)
    source, entry = _sources(target, context)
    text = dockerfile(source, entry, is_locked=(context / LOCK).is_file())
    return Image(name=settings.image, context=context, dockerfile=text, is_own=False)


def _sources(target: Target, context: Path) -> tuple[str, str]:
    """Return what is to be copied, and what to run of it."""
    place = target.place
    function = f":{target.function}" if target.function else ""
    if place.file is not None:
        path, entry = place.file, place.file.name
    else:
        top = place.root / place.module.partition(".")[0]
        path = top if top.is_dir() else top.with_suffix(".py")
        entry = place.module.removesuffix(".__main__")
    path, context = path.resolve(), context.resolve()
    if not path.exists() or not path.is_relative_to(context):
        raise CommandFailed(
            f"{place.text} is not in files below {context}, which an image is made of; write a Dockerfile there"
        )
    return path.relative_to(context).as_posix(), f"{entry}{function}"


def dockerfile(source: str, entry: str, *, is_locked: bool) -> str:
    """Return a Dockerfile: two stages, nobody in particular, no shell, nothing unpinned.

    Args:
        source: the file or directory of the program, below the context.
        entry: what ``pyctrl run`` is to run.
        is_locked: whether there is a requirements.txt with versions and hashes.
    """
    name = source.rpartition("/")[2]
    here = f"{DISTRIBUTION}[metrics,webhook]=={version()}"
    wanted = ["--require-hashes", f"--requirement={LOCK}"] if is_locked else [here]
    install = json.dumps(["pip", "install", "--prefix=/install", *wanted])
    copy_lock = f"COPY {LOCK} ./\n" if is_locked else ""
    return (
        f"FROM {BASE} AS build\n"
        "ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore\n"
        f"WORKDIR /src\n{copy_lock}RUN {install}\n\n"
        f"FROM {BASE}\n"
        "COPY --from=build /install /usr/local\n"
        "ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1\n"
        f"WORKDIR /app\nCOPY {source} {name}\nUSER 65532:65532\n"
        f"ENTRYPOINT {json.dumps(['pyctrl', 'run', entry])}\n"
    )


def find_tool(environment: Mapping[str, str], found: Mapping[str, str | None]) -> str:
    """Return what builds images: CONTAINER_TOOL, or the first there is.

    Args:
        environment: of the process.
        found: where each of `TOOLS` is; None: nowhere.

    Raises:
        CommandFailed: there is none.
    """
    if tool := environment.get("CONTAINER_TOOL"):
        return tool
    if tools := [tool for tool in TOOLS if found.get(tool)]:
        return tools[0]
    raise CommandFailed(
        f"nothing here builds images: install {' or '.join(TOOLS)}, or name another tool in CONTAINER_TOOL; --print "
        "shows the Dockerfile"
    )
