"""`pyctrl manifests`: the objects that a program needs in a cluster, generated from its code."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CONFIG_FLAGS, ConfigFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._packaging_flags import NO_PACKAGING_FLAGS, PackagingFlags
from pyctrl.cli._shared_flags import Check, OutputDir, OutputWithYaml
from pyctrl.errors import CommandFailed

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# a config/ directory, to be applied with: kubectl apply -k config/default
pyctrl manifests podset.py --image registry.example/podset:0.1.0

# print everything, in the order in which kubectl has to apply it
pyctrl manifests podset.py -o yaml

# apply the CRDs
pyctrl manifests podset.py crd -o yaml | kubectl apply --server-side -f -

# in CI: fail if config/ is out of date
pyctrl manifests --check

# show what applying them would change
pyctrl manifests --diff --context production
""",
    {0: "written, or with `--check` or `--diff` nothing differs", 1: "something differs, or failed"},
)

app = CommandLine("manifests", help_epilogue=EPILOGUE)


@app.default
def manifests(
    *words: Annotated[str, Parameter(metavar="PROGRAM|PART")],
    output_dir: OutputDir = None,
    check: Check = False,
    diff: bool = False,
    force: bool = False,
    output: OutputWithYaml = "text",
    flags: PackagingFlags = NO_PACKAGING_FLAGS,
    login: ConfigFlags = NO_CONFIG_FLAGS,
) -> int:
    """Generate a program's manifests from its code.

    Writes CRDs, RBAC, Deployment, webhooks and samples into a `config/` directory, in kubebuilder's layout. Files that
    are no longer needed are removed. Your own files, existing samples and additions to kustomizations are kept.

    Most flags can also be set in pyproject.toml, in `[tool.pyctrl]`, by their names without dashes.

    `-o yaml` and `-o json` print the manifests and write nothing. With `--check` or `--diff`, `-o json` prints the
    differences.

    Parameters
    ----------
    words
        The program (`FILE.py`, `DIRECTORY` or `MODULE`, with `:FUNCTION` if there are several), and the parts to write:
        `crd`, `rbac`, `manager`, `webhook`, `apiservice`, `samples` or `all`. Defaults to `program` of `[tool.pyctrl]`,
        and `all`.
    diff
        Show what applying would change in the cluster, and exit with 1 if anything would; write nothing.
    output_dir
        The directory to write. Defaults to `config-dir` of `[tool.pyctrl]`, or `config`.
    force
        Replace files of the same name that pyctrl did not write.
    """
    from pyctrl.cli._manifest_writer import (  # here: help needs none of it
        print_manifests,
        show_changes,
        write_manifests,
    )

    if output == "yaml" and (check or diff):
        raise CommandFailed("-o yaml prints the manifests; --check and --diff print text or -o json")
    if diff:
        return show_changes(words, flags, login, output=output)
    if output != "text" and not check:
        return print_manifests(words, flags, output=output)
    return write_manifests(words, flags, directory=output_dir, check=check, force=force, output=output)
