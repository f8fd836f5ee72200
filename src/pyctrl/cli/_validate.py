"""`pyctrl validate`: what the API server would say of objects in files, without one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._sources import no_option

KINDS = Group("The kinds that are known", sort_key=1)

EPILOGUE = """\
Examples:

```
# samples against the definitions in config/crd/bases beside them
pyctrl validate config/samples/

# against the classes of a program
pyctrl validate podset.yaml --types examples.podset.podset

# somebody else's kinds, and what a chart renders
helm template mine/ | pyctrl validate - --crd cert-manager-crds.yaml

# as GitHub shows it in a pull request
pyctrl validate config/ -o json | jq -r '.objects[] | .file as $file | .problems[]
  | "::error file=\\($file),line=\\(.line),col=\\(.column)::\\(.message)"'
```

Exit codes: 0 everything is valid, 1 something is not, 2 something could not be read or understood.
"""

app = App(name="validate", help_epilogue=EPILOGUE)

FILES = Parameter(metavar="FILE|DIR|-", negative="", allow_leading_hyphen=True, validator=no_option)


@app.default
def validate(
    files: Annotated[tuple[Path, ...], FILES],
    /,
    *,
    crd: Annotated[tuple[Path, ...], Parameter(group=KINDS, metavar="FILE|DIR", negative="", show_default=False)] = (),
    types: Annotated[
        tuple[str, ...], Parameter(group=KINDS, metavar="MODULE|FILE.py", negative="", show_default=False)
    ] = (),
    ignore_unknown: Annotated[bool, Parameter(group=KINDS, negative="")] = False,
    output: Annotated[Literal["text", "json"], Parameter(name=["--output", "-o"])] = "text",
) -> int:
    """Say of objects in files what the API server would say, with the line and column it is about.

    It is the server's own validation, as with `kubectl apply --dry-run=server`, and nothing is asked of a cluster:
    unknown and repeated fields, types, bounds, patterns, list types, validation rules (with the extra `cel`), the rules
    of built-in kinds; defaults are applied first. Where the server stops at the first kind of mistake, all are told.

    Parameters
    ----------
    files
        Files of YAML or JSON, of one or more objects each; the files below a folder; or `-`, what comes in.
    crd
        The definitions of custom kinds. By default those in `config/crd/bases` beside the files, or in a folder
        above. Definitions among the files count, too. May be repeated.
    types
        A program whose classes define custom kinds: a module, or a file of Python. May be repeated.
    ignore_unknown
        Pass over objects of kinds that nobody here knows, instead of complaining of them.
    output
        For people or for programs.
    """
    from ._validate_files import validate as judge  # here: help needs none of it

    return judge(files, definitions=crd, programs=types, ignore_unknown=ignore_unknown, output=output)
