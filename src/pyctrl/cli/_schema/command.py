"""`pyctrl schema`: JSON Schemas of kinds, with which editors complete and validate YAML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import KINDS, Check, Output, OutputDir, ShippedProgram

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# schemas/ with the kinds of this project
pyctrl schema

# and with other kinds that its users write
pyctrl schema --builtin ConfigMap --builtin Deployment --crd cert-manager-crds.yaml

# in CI: fail if schemas/ is out of date
pyctrl schema --check
""",
    {0: "written, or with `--check` nothing differs", 1: "something differs, or failed"},
)

app = CommandLine("schema", help_epilogue=EPILOGUE)


@app.default
def schema(
    program: ShippedProgram = None,
    /,
    *,
    builtin: Annotated[tuple[str, ...], Parameter(group=KINDS, metavar="KIND")] = (),
    crd: Annotated[tuple[Path, ...], Parameter(group=KINDS, metavar="FILE|DIR")] = (),
    output_dir: OutputDir = None,
    check: Check = False,
    force: bool = False,
    output: Output = "text",
) -> int:
    """Write JSON Schemas of kinds, for YAML in editors.

    Editors complete fields with them, show their descriptions, and underline unknown fields, wrong types and missing
    fields. Each version of each kind has a file, `GROUP/KIND_VERSION.json`; `all.json` covers all kinds. VS Code,
    IntelliJ, Neovim and kubeconform read them. No cluster is contacted.

    With `--check`, `-o json` prints what differs.

    Parameters
    ----------
    builtin
        Add this built-in kind, such as `Deployment`. May be repeated. Defaults to `schema-builtins` of `[tool.pyctrl]`.
    crd
        Read CRDs from here, besides the classes of the program. May be repeated. Defaults to `schema-crds` of
        `[tool.pyctrl]`.
    output_dir
        The directory to write. Defaults to `schema-dir` of `[tool.pyctrl]`, or `schemas`.
    force
        Replace files of the same name that pyctrl did not write.
    """
    from pyctrl.cli._schema.writer import write_schemas  # here: help needs none of it

    return write_schemas(
        program, builtins=builtin, crds=crd, directory=output_dir, check=check, force=force, output=output
    )
