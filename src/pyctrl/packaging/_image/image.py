"""The image of a program: its Dockerfile, and the command that builds it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pyctrl._distribution import requirement
from pyctrl.errors import CommandFailed
from pyctrl.packaging._image.dependencies import Dependencies, read_dependencies
from pyctrl.packaging._image.dockerfile import BASE, WHEELS, dockerfile
from pyctrl.packaging._settings import Settings
from pyctrl.program import Target

__all__ = ["Image", "find_tool", "image_of"]

TOOLS = ("docker", "podman")


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """How an image is built.

    Attributes:
        name: what it is called.
        context: the directory that files are copied from.
        dockerfile: its text.
        is_own: whether the author has written it, beside the program.
        needs: what is installed into it.
    """

    name: str
    context: Path
    dockerfile: str
    is_own: bool
    needs: Dependencies

    @property
    def wheels(self) -> Path:
        """The directory that the build finds wheels in of what it cannot reach."""
        return self.context / WHEELS

    @property
    def wheel_commands(self) -> list[list[str]]:
        """The commands that make these wheels, on this machine."""
        if WHEELS not in self.dockerfile:
            return []
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(self.wheels)]
        return [[*pip, each] for each in self.needs.unreachable]

    def check_wheels(self) -> None:
        """Look at the wheels that were made. Raises CommandFailed: they are not for the image, or do not get there."""
        ignored = self.context / ".dockerignore"
        lines = set(ignored.read_text(encoding="utf-8").split()) if ignored.is_file() and self.wheel_commands else set()
        if lines & {"dist", "dist/", "/dist", "**/dist"}:
            raise CommandFailed(
                f"{ignored} leaves out dist, and so {WHEELS}, which the build installs from; write dist/* and "
                f"!{WHEELS} instead"
            )
        for wheel in sorted(self.wheels.glob("*.whl")):
            if not wheel.name.endswith("-none-any.whl"):
                raise CommandFailed(
                    f"{wheel.name} is for machines such as this one, and not for the image; put the distribution on an "
                    "index, or write a Dockerfile that builds it"
                )

    def command(self, tool: str) -> list[str]:
        """Return the command that builds it; the Dockerfile comes in."""
        return [tool, "build", "--file", "-", "--tag", self.name, str(self.context)]


def image_of(settings: Settings) -> Image:
    """Return how the image of a program is built: by a ``Dockerfile`` beside it, or by one that is made for it.

    Raises:
        CommandFailed: there is no such program, or it is not in files that could be copied, or what it needs cannot be
            installed in an image build.
    """
    target = Target.parse(settings.target)
    settings = settings.named(target.name)
    context = settings.root if settings.root != Path() or target.place.folder is None else target.place.root
    own, runtime = context / "Dockerfile", requirement("metrics", "webhook")
    if own.is_file():
        text = own.read_text(encoding="utf-8")
        needs = read_dependencies(context, runtime) if WHEELS in text else Dependencies(requirements=())
        return Image(name=settings.image, context=context, dockerfile=text, is_own=True, needs=needs)
    needs = read_dependencies(context, runtime)
    source, entry = _sources(target, context)
    text = dockerfile(source, entry, base=settings.base_image or BASE, needs=needs)
    return Image(name=settings.image, context=context, dockerfile=text, is_own=False, needs=needs)


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
