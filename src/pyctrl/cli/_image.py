"""`pyctrl image build` and `pyctrl build-installer`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Group, Parameter

from pyctrl.errors import CommandFailed

from ._ship_flags import NO_SHIP_FLAGS, ShipFlags

HOW = Group("How it is done", sort_key=0)
INSTALLER = Path("dist", "install.yaml")

_Program = Annotated[str | None, Parameter(metavar="PROGRAM", negative="")]

app = App(name="image")
installer_app = App(name="build-installer")


@app.command
def build(
    program: _Program = None,
    /,
    *,
    print_: Annotated[bool, Parameter(name="--print", group=HOW, negative="")] = False,
    flags: ShipFlags = NO_SHIP_FLAGS,
) -> int:
    """Build the image of a program with docker, podman, or what CONTAINER_TOOL names.

    A Dockerfile beside the program (or pyproject.toml) is used as it is. Without one, one is made: two stages, Python
    and pyctrl by version, or what requirements.txt says by version and hash; a user who is nobody; no shell.

    Parameters
    ----------
    program
        `FILE.py`, `DIRECTORY` or `MODULE`; else as pyproject.toml says.
    print_
        Build nothing: print the Dockerfile, and on stderr the command.
    """
    from pyctrl.shipping import find_tool, image_of  # here: help needs none of it

    image = image_of(flags.settings(program))
    if print_:
        sys.stdout.write(image.dockerfile)
        print(shlex.join(image.command("docker")), file=sys.stderr)
        return 0
    tool = find_tool(os.environ, {tool: shutil.which(tool) for tool in ("docker", "podman")})
    try:
        ran = subprocess.run(image.command(tool), input=image.dockerfile, text=True, check=False)
    except OSError as error:
        raise CommandFailed(f"{tool} cannot be run: {error.strerror}") from error
    if ran.returncode:
        raise CommandFailed(f"{tool} build ended with exit code {ran.returncode}")
    print(f"built {image.name}; push it with: {tool} push {image.name}")
    return 0


@installer_app.default
def build_installer(program: _Program = None, /, *, flags: ShipFlags = NO_SHIP_FLAGS) -> int:
    """Write dist/install.yaml: everything that a program needs, in one file. As `pyctrl manifests --install`.

    Parameters
    ----------
    program
        `FILE.py`, `DIRECTORY` or `MODULE`; else as pyproject.toml says.
    """
    from ._shipping import write_manifests  # here: help needs none of it

    words = () if program is None else (program,)
    return write_manifests(words, flags, file=INSTALLER, check=False, force=False)
