"""The container image of a program: its Dockerfile, and the commands that build it."""

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
        name: the name of the image.
        context: the build context.
        dockerfile: the text of the Dockerfile.
        is_own: whether the Dockerfile is the author's, next to the program.
        needs: the dependencies to install.
    """

    name: str
    context: Path
    dockerfile: str
    is_own: bool
    needs: Dependencies

    @property
    def wheels(self) -> Path:
        """The directory for the wheels of dependencies that the build cannot reach."""
        return self.context / WHEELS

    @property
    def wheel_commands(self) -> list[list[str]]:
        """The commands that build these wheels on this machine."""
        if WHEELS not in self.dockerfile:
            return []
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(self.wheels)]
        return [[*pip, each] for each in self.needs.unreachable]

    def check_wheels(self) -> None:
        """Check the wheels. Raises CommandFailed if they are platform-specific or ignored by the build."""
        ignored = self.context / ".dockerignore"
        lines = set(ignored.read_text(encoding="utf-8").split()) if ignored.is_file() and self.wheel_commands else set()
        if lines & {"dist", "dist/", "/dist", "**/dist"}:
            raise CommandFailed(
                f"{ignored} excludes dist, and so {WHEELS}, which the build installs from; use dist/* and "
                f"!{WHEELS} instead"
            )
        for wheel in sorted(self.wheels.glob("*.whl")):
            if not wheel.name.endswith("-none-any.whl"):
                raise CommandFailed(
                    f"{wheel.name} is specific to this platform and may not run in the image; publish the distribution "
                    "on a package index, or write a Dockerfile that builds it"
                )

    def command(self, tool: str) -> list[str]:
        """Return the command that builds the image; it reads the Dockerfile from standard input."""
        return [tool, "build", "--file", "-", "--tag", self.name, str(self.context)]


def image_of(settings: Settings) -> Image:
    """Return the image of a program, built with the ``Dockerfile`` next to it or with a generated one.

    Raises:
        CommandFailed: the program does not exist, its files are not below the context, or a dependency cannot be
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
    """Return the path to copy, and the program in it to run."""
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
            f"{place.text} is not in a file below {context}, the build context; write a Dockerfile there"
        )
    return path.relative_to(context).as_posix(), f"{entry}{function}"


def find_tool(environment: Mapping[str, str], found: Mapping[str, str | None]) -> str:
    """Return the tool that builds images: CONTAINER_TOOL, or the first installed one of `TOOLS`.

    Args:
        environment: the environment of the process.
        found: the path of each of `TOOLS`; None if it is not installed.

    Raises:
        CommandFailed: there is none.
    """
    if tool := environment.get("CONTAINER_TOOL"):
        return tool
    if tools := [tool for tool in TOOLS if found.get(tool)]:
        return tools[0]
    raise CommandFailed(
        f"no tool to build images found: install {' or '.join(TOOLS)}, or name another tool in CONTAINER_TOOL; "
        "--print shows the Dockerfile"
    )
