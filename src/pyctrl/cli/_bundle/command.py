"""`pyctrl bundle` and `pyctrl bundle validate`: bundles for the Operator Lifecycle Manager."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._packaging_flags import NO_WORKLOAD_FLAGS, WorkloadFlags
from pyctrl.cli._shared_flags import Check, Output, OutputDir, ShippedProgram

__all__ = ["app"]

RELEASE = Group("Release", sort_key=0)

EPILOGUE = epilogue(
    """\
# bundle/ and bundle.Dockerfile
pyctrl bundle podset.py --version 0.1.0 --image registry.example/podset:0.1.0

# the next version, as an update of the last one
pyctrl bundle podset.py --version 0.2.0 --replaces 0.1.0 --image registry.example/podset:0.2.0

# the bundle image, for a catalog
docker build --file bundle.Dockerfile --tag registry.example/podset-bundle:0.2.0 .

# in CI: fail if bundle/ is out of date
pyctrl bundle --check
""",
    {0: "written, or with `--check` nothing differs", 1: "the bundle is invalid, something differs, or failed"},
)
VALIDATE_EPILOGUE = epilogue(
    """\
pyctrl bundle validate

# another bundle, by the rules of operatorhub.io
pyctrl bundle validate etcd/0.9.4 --select-optional name=operatorhub
""",
    {0: "the bundle is valid; warnings do not count", 1: "the bundle is invalid, or failed"},
)

Optional = Literal["name=operatorhub", "name=good-practices", "name=scorecard", "suite=operatorframework"]

app = CommandLine("bundle", help_epilogue=EPILOGUE, version_flags=[])  # --version is that of the bundle


def _flag(metavar: str) -> Parameter:
    return Parameter(group=RELEASE, metavar=metavar)


@app.default
def bundle(
    program: ShippedProgram = None,
    /,
    *,
    version: Annotated[str, _flag("X.Y.Z")] = "",
    package: Annotated[str, _flag("NAME")] = "",
    channels: Annotated[tuple[str, ...], _flag("NAME")] = (),
    default_channel: Annotated[str, _flag("NAME")] = "",
    replaces: Annotated[str, _flag("X.Y.Z")] = "",
    skips: Annotated[tuple[str, ...], _flag("X.Y.Z")] = (),
    skip_range: Annotated[str, _flag("RANGE")] = "",
    output_dir: OutputDir = None,
    check: Check = False,
    force: bool = False,
    output: Output = "text",
    flags: WorkloadFlags = NO_WORKLOAD_FLAGS,
) -> int:
    """Generate a bundle for OLM, the Operator Lifecycle Manager.

    A bundle consists of a ClusterServiceVersion, CRDs, roles for users, Services and annotations. Its image is built
    by bundle.Dockerfile, which is written beside it. The bundle is validated before it is written, including files that
    you added to the directory. Files that are no longer needed are removed; your own files are kept. OLM issues webhook
    certificates itself.

    Descriptive fields are set in pyproject.toml, in `[tool.pyctrl.bundle]`: `display-name`, `description`, `icon`,
    `provider`, `maintainers`, `keywords`, `links`, `maturity`, `min-kube-version`, `categories`, `capabilities`,
    `architectures`, `install-modes` and `annotations`.

    Parameters
    ----------
    version
        The semantic version of the release. Defaults to `version` of `[project]` in pyproject.toml.
    package
        The package name in catalogs. Defaults to the program's name.
    channels
        The channels of the release, `NAME` or `NAME,NAME`. May be repeated. Defaults to `stable`.
    default_channel
        The channel that is used if none is named. Defaults to the first one.
    replaces
        The version that this one updates.
    skips
        A further version that this one updates and that must not be installed any more. May be repeated.
    skip_range
        The versions that this one updates, as a range: `>=0.1.0 <0.3.0`.
    output_dir
        The directory to write. Defaults to `bundle-dir` of `[tool.pyctrl]`, or `bundle`.
    force
        Replace files of the same name that pyctrl did not write.
    """
    from pyctrl.cli._bundle.writer import write_bundle
    from pyctrl.packaging import Release  # here: help needs none of it

    release = Release(
        version=version,
        package=package,
        channels=_split(channels),
        default_channel=default_channel,
        replaces=replaces,
        skips=_split(skips),
        skip_range=skip_range,
    )
    return write_bundle(program, flags, release, directory=output_dir, check=check, force=force, output=output)


def _split(values: tuple[str, ...]) -> list[str]:
    return [name for value in values for name in value.split(",") if name]


@app.command(help_epilogue=VALIDATE_EPILOGUE)
def validate(
    directory: Annotated[Path | None, Parameter(metavar="DIR")] = None,
    /,
    *,
    select_optional: Annotated[tuple[Optional, ...], Parameter(metavar="RULES")] = (),
    output: Output = "text",
) -> int:
    """Validate a bundle offline, with line numbers.

    Applies the rules of `operator-sdk bundle validate`. Also finds examples and Deployments that an API server would
    reject.

    Parameters
    ----------
    directory
        The bundle. Defaults to `bundle-dir` of `[tool.pyctrl]`, or `bundle`.
    select_optional
        Additional rules: of operatorhub.io, good practices (warnings only), both (the suite), or the scorecard tests
        that need no cluster. May be repeated.
    """
    from pyctrl.cli._bundle.writer import report_bundle_problems  # here: help needs none of it

    return report_bundle_problems(directory, select_optional, output=output)
