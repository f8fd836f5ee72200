"""`pyctrl validate`: offline validation of objects in files, as in the API server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._command_line import MISUSE, CommandLine, epilogue
from pyctrl.cli._shared_flags import KINDS, Definitions, Output, Programs, refuse_options

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# samples against the CRDs in config/crd/bases
pyctrl validate config/samples/

# against the classes of a program
pyctrl validate podset.yaml --types examples.podset.podset

# a rendered chart, against CRDs from a file
helm template mine/ | pyctrl validate - --crd cert-manager-crds.yaml

# annotate a pull request on GitHub
pyctrl validate config/ -o json | jq -r '.objects[] | .file as $file | .problems[]
  | "::error file=\\($file),line=\\(.line),col=\\(.column)::\\(.message)"'
""",
    {0: "all objects are valid", 1: "an object is invalid", 2: f"a file could not be read, or {MISUSE}"},
)

app = CommandLine("validate", help_epilogue=EPILOGUE)

FILES = Parameter(metavar="FILE", allow_leading_hyphen=True, validator=refuse_options)


@app.default
def validate(
    files: Annotated[tuple[Path, ...], FILES],
    /,
    *,
    crd: Definitions = (),
    types: Programs = (),
    ignore_unknown: Annotated[bool, Parameter(group=KINDS)] = False,
    output: Output = "text",
) -> int:
    """Validate objects in files offline, with line numbers.

    Runs the API server's own validation, as `kubectl apply --dry-run=server` does, without a cluster: unknown and
    duplicate fields, types, bounds, patterns, list types, validation rules (with `pyctrl-runtime[cel]`), and the rules
    of built-in kinds. Defaults are applied first. Reports all problems, even where the server stops at the first one.

    Parameters
    ----------
    files
        YAML or JSON files, directories, or `-` for stdin. CRDs among them are used, too.
    ignore_unknown
        Skip objects of unknown kinds instead of reporting them.
    """
    from pyctrl.cli._validate.files import validate as judge  # here: help needs none of it

    return judge(files, definitions=crd, programs=types, ignore_unknown=ignore_unknown, output=output)
