"""`pyctrl helm`: a Helm chart generated from a program."""

from __future__ import annotations

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS, PackagingFlags
from pyctrl.cli._shared_flags import Check, Output, OutputDir, ShippedProgram

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# a chart/ directory, and from there into a cluster
pyctrl helm podset.py --image registry.example/podset:0.1.0
helm install podset ./chart --namespace podset-system --create-namespace

# in CI: fail if the chart is out of date
pyctrl helm --check
""",
    {0: "written, or with `--check` nothing differs", 1: "something differs, or failed"},
)

app = CommandLine("helm", help_epilogue=EPILOGUE)


@app.default
def helm(
    program: ShippedProgram = None,
    /,
    *,
    output_dir: OutputDir = None,
    check: Check = False,
    force: bool = False,
    output: Output = "text",
    flags: PackagingFlags = NO_PACKAGING_FLAGS,
) -> int:
    """Generate a Helm chart of a program.

    The chart installs the objects of `pyctrl manifests`. Its values include image, replicas, resources, metrics and
    certificates, with a schema that rejects unknown values. Flags and `[tool.pyctrl]` in pyproject.toml set their
    defaults. Helm is not needed.

    Your own templates and an edited Chart.yaml or values.yaml are kept. New values are added.

    With `--check`, `-o json` prints what differs.

    Parameters
    ----------
    output_dir
        The directory to write. Defaults to `chart-dir` of `[tool.pyctrl]`, or `chart`.
    force
        Replace files of the same name that pyctrl did not write, and edited Chart.yaml and values.yaml.
    """
    from pyctrl.cli._manifest_writer import write_chart  # here: help needs none of it

    return write_chart(program, flags, directory=output_dir, check=check, force=force, output=output)
