"""`pyctrl image build` and `pyctrl build-installer`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._packaging_flags import NO_IMAGE_FLAGS, NO_PACKAGING_FLAGS, ImageFlags, PackagingFlags
from pyctrl.cli._shared_flags import Check, Output, OutputFile, ShippedProgram
from pyctrl.errors import CommandFailed

if TYPE_CHECKING:
    from pyctrl.packaging import Image

__all__ = ["app", "installer_app"]

BUILD_EPILOGUE = epilogue(
    """\
pyctrl image build operator.py --image registry.example/podset:0.1.0

# write the Dockerfile, to edit it
pyctrl image build operator.py --print > Dockerfile

# with another tool
CONTAINER_TOOL=podman pyctrl image build operator.py
""",
    {0: "built", 1: "failed"},
)
INSTALLER_EPILOGUE = epilogue(
    """\
pyctrl build-installer operator.py --image registry.example/podset:0.1.0
kubectl apply --server-side -f dist/install.yaml

# in CI: fail if the file is out of date
pyctrl build-installer operator.py --check
""",
    {0: "written, or with `--check` nothing differs", 1: "something differs, or failed"},
)

app = CommandLine("image")
installer_app = CommandLine("build-installer", help_epilogue=INSTALLER_EPILOGUE)


@app.command(help_epilogue=BUILD_EPILOGUE)
def build(
    program: ShippedProgram = None,
    /,
    *,
    print_: Annotated[bool, Parameter(name="--print")] = False,
    flags: ImageFlags = NO_IMAGE_FLAGS,
) -> int:
    """Build an image with docker, podman or `$CONTAINER_TOOL`.

    Uses the Dockerfile beside the program or pyproject.toml. Otherwise generates one with two stages on Python's slim
    image, the project with its dependencies (locked by requirements.txt if it exists), and a non-root user.

    Parameters
    ----------
    print_
        Build nothing; print the Dockerfile, and the command to stderr.
    """
    from pyctrl.packaging import (
        find_tool,
        image_of,  # here: help needs none of it
    )

    image = image_of(flags.settings(program))
    if print_:
        sys.stdout.write(image.dockerfile)
        for command in (*image.wheel_commands, image.command("docker")):
            print(shlex.join(command), file=sys.stderr)
        return 0
    tool = find_tool(os.environ, {tool: shutil.which(tool) for tool in ("docker", "podman")})
    _prepare(image)
    try:
        ran = subprocess.run(image.command(tool), input=image.dockerfile, text=True, check=False)
    except OSError as error:
        raise CommandFailed(f"{tool} cannot be run: {error.strerror}") from error
    if ran.returncode:
        raise CommandFailed(f"{tool} build failed with exit code {ran.returncode}")
    print(f"built {image.name}; push it with: {tool} push {image.name}")
    return 0


def _prepare(image: Image) -> None:
    """Add the files that the build needs to its context, and a .dockerignore for the others."""
    from pyctrl.scaffold import DOCKERIGNORE, Folder  # here: help needs none of it

    if not image.is_own and (missing := Folder(image.context).missing({".dockerignore": DOCKERIGNORE})):
        Folder(image.context).write(missing)
        print(f"wrote {image.context / '.dockerignore'}", file=sys.stderr)
    if image.needs.is_project and not (image.is_own or image.needs.has_lock):
        print(
            "note: no requirements.txt, so the image gets the newest versions of dependencies; lock them with: "
            f"{image.needs.lock_command}",
            file=sys.stderr,
        )
    for wheel in image.wheels.glob("*.whl") if image.wheel_commands else ():
        wheel.unlink()
    for command in image.wheel_commands:
        ran = subprocess.run(command, check=False)
        if ran.returncode:
            raise CommandFailed(f"cannot build a wheel of {command[-1]}: pip failed with exit code {ran.returncode}")
    image.check_wheels()


@installer_app.default
def build_installer(
    program: ShippedProgram = None,
    /,
    *,
    output_file: Annotated[
        OutputFile,
        Parameter(help="The file to write. Defaults to `install-file` of `[tool.pyctrl]`, or `dist/install.yaml`."),
    ] = None,
    check: Check = False,
    output: Output = "text",
    flags: PackagingFlags = NO_PACKAGING_FLAGS,
) -> int:
    """Write all manifests to one file.

    Writes `dist/install.yaml`, as kubebuilder does, with all objects in the order in which kubectl has to apply them.
    `pyctrl manifests -o yaml` prints the same.
    """
    from pyctrl.cli._manifest_writer import write_installer  # here: help needs none of it

    return write_installer(program, flags, file=output_file, check=check, output=output)
