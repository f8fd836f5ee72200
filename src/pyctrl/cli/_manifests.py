"""`pyctrl manifests`: everything that a program needs in a cluster, made from its code."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Group, Parameter

from ._login import NO_ACCOUNT, Account
from ._ship_flags import NO_SHIP_FLAGS, ShipFlags

WHERE = Group("What becomes of it", sort_key=0)

EPILOGUE = """\
Parts are `crd`, `rbac`, `manager`, `webhook`, `samples` and `all`, which is all of them. The program, and whatever
flags say, may stand in pyproject.toml instead: `[tool.pyctrl]`, with `program = "podset.py"` and the names of the
flags without their dashes.

Exit codes: 0 done, or with `--check` or `--diff` all is as it should be; 1 something is not, or it failed; 2 not
understood.

Examples:

```
# config/, as kubebuilder lays it out; then: kubectl apply -k config/default
pyctrl manifests podset.py --image registry.example/podset:0.1.0

# one file
pyctrl manifests podset.py --install dist/install.yaml

# the definitions only, to a cluster
pyctrl manifests podset.py crd -o - | kubectl apply --server-side -f -

# in continuous integration: exit code 1, and what differs
pyctrl manifests --check

# what would applying it change
pyctrl manifests --diff --context production
```
"""

app = App(name="manifests", help_epilogue=EPILOGUE)


@app.default
def manifests(
    *words: Annotated[str, Parameter(metavar="PROGRAM|PART", negative="")],
    install: Annotated[
        Path | None, Parameter(name=("--install", "-o"), group=WHERE, metavar="FILE|-", allow_leading_hyphen=True)
    ] = None,
    check: Annotated[bool, Parameter(group=WHERE, negative="")] = False,
    diff: Annotated[bool, Parameter(group=WHERE, negative="")] = False,
    force: Annotated[bool, Parameter(group=WHERE, negative="")] = False,
    flags: ShipFlags = NO_SHIP_FLAGS,
    account: Account = NO_ACCOUNT,
) -> int:
    """Write what a program needs in a cluster: definitions, rights, Deployment, webhooks, samples.

    All of it is made from the code. Files that were made before and that nobody needs any more go; files of others,
    samples that are there and what was added to a kustomization stay as they are.

    Parameters
    ----------
    words
        The program, `FILE.py`, `DIRECTORY` or `MODULE`, each with or without `:FUNCTION`; and parts, by default all.
    install
        Write one file instead of a directory, in the order in which it is applied; `-` prints it.
    check
        Write nothing: show what is not as it should be, and end with exit code 1 if anything is not.
    diff
        Write nothing: show what applying it would change in the cluster, and end with exit code 1 if anything would.
    force
        Replace files of the same names that somebody else has written.
    """
    from ._shipping import show_changes, write_manifests  # here: help needs none of it

    if diff:
        return show_changes(words, flags, account)
    return write_manifests(words, flags, file=install, check=check, force=force)
