"""All commands. Each is imported when it is called, or its help is printed."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Group, Parameter

from pyctrl.cli._command_line import CommandLine, epilogue

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# create a project, a kind, a controller and a passing test
pyctrl init podset-operator --domain example.com
pyctrl create api --group apps --version v1alpha1 --kind PodSet

# develop it in an in-process cluster
pyctrl dev operator.py

# run it against the cluster that kubectl uses
pyctrl run operator.py --install-crds

# build and deploy it
pyctrl image build operator.py --image registry.example/podset:0.1.0
pyctrl deploy operator.py --image registry.example/podset:0.1.0
""",
    {0: "done", 1: "failed, or a check found something"},
    "Run `pyctrl COMMAND --help` for more about a command. With `--traceback`, any command prints the traceback of an "
    "error.",
)

# In the order of use. The help of a command is one line: `pyctrl --help` has to fit 80 columns.
COMMANDS = {
    "Start a project": {
        "init": ("_init:app", "Start a project."),
        "create": ("_create:app", "Add a kind or webhooks to a project."),
        "delete": ("_delete:app", "Remove a kind or webhooks from a project."),
    },
    "Develop": {
        "dev": ("_dev.command:app", "Run a program in an in-process cluster, reloading on save."),
        "simulate": ("_simulate.command:app", "Try every fault against a program, and tell what breaks it."),
        "run": ("_run.command:app", "Run a program against a cluster."),
        "shards": ("_shards.command:app", "Show how replicas divide the work of a program."),
        "apiserver": ("_apiserver.command:app", "Serve a Kubernetes API server."),
        "envtest": ("_envtest.command:app", "Print a directory for `KUBEBUILDER_ASSETS`."),
    },
    "CRDs and objects": {
        "explain": ("_explain.command:app", "Show the fields of a kind."),
        "validate": ("_validate.command:app", "Validate objects in files offline, with line numbers."),
        "crd": ("_crd.command:app", "Compare and import CustomResourceDefinitions."),
        "schema": ("_schema.command:app", "Write JSON Schemas of kinds, for YAML in editors."),
    },
    "Ship": {
        "manifests": ("_manifests:app", "Generate a program's manifests from its code."),
        "bundle": ("_bundle.command:app", "Generate a bundle for OLM, the Operator Lifecycle Manager."),
        "image": ("_image:app", "Build a program's container image."),
        "build-installer": ("_image:installer_app", "Write all manifests to one file."),
        "helm": ("_helm:app", "Generate a Helm chart of a program."),
        "deploy": ("_deploy.command:deploy_app", "Deploy a program to a cluster."),
        "undeploy": ("_deploy.command:undeploy_app", "Remove a deployed program from a cluster."),
    },
    "Access": {
        "whoami": ("_whoami.command:app", "Show the login that is used, and its user."),
        "token": ("_token.command:app", "Print a service account token."),
        "url": ("_url.command:app", "Print the URL of a kind or object, and a curl command."),
        "rbac": ("_rbac.command:app", "Generate, check and explain RBAC permissions."),
    },
}
OTHER = Group("Other", sort_key=len(COMMANDS))


def _version() -> str:
    from pyctrl._distribution import version  # here: reads files, and is rarely needed

    return version()


app = CommandLine(
    "pyctrl",
    help="Write, run and ship Kubernetes operators in Python.",
    help_epilogue=EPILOGUE,
    version=_version,
    group_commands=OTHER,
)
app["--help"].help, app["--version"].help = "Show this help.", "Show the version."
for place, (title, commands) in enumerate(COMMANDS.items()):
    heading = Group(title, sort_key=place)
    for key, (name, (module, summary)) in enumerate(commands.items()):
        app.command(f"pyctrl.cli.{module}", name=name, help=summary, group=heading, sort_key=key)


@app.command(name="help", help_epilogue=epilogue("pyctrl help rbac generate", {0: "printed", 1: "failed"}))
def help_(*command: Annotated[str, Parameter(metavar="COMMAND")]) -> None:
    """Show the help of a command.

    Parameters
    ----------
    command
        The command, such as `rbac generate`.
    """
    app([*command, "--help"], exit_on_error=False, print_error=False, result_action="return_value")


@app.command(name="version", help_epilogue=epilogue("pyctrl version", {0: "printed", 1: "failed"}))
def version_() -> None:
    """Show the version."""
    print(_version())


@app.command(
    help_epilogue=epilogue(
        """\
# bash, with the package bash-completion
mkdir -p ~/.local/share/bash-completion/completions
pyctrl completion bash > ~/.local/share/bash-completion/completions/pyctrl

# zsh, with fpath=(~/.zfunc $fpath) before compinit in ~/.zshrc
mkdir -p ~/.zfunc
pyctrl completion zsh > ~/.zfunc/_pyctrl

# fish
pyctrl completion fish > ~/.config/fish/completions/pyctrl.fish
""",
        {0: "printed", 1: "failed"},
    )
)
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter(metavar="SHELL")], /) -> None:
    """Print a shell completion script.

    Write it to a file, which the shell reads at the first Tab. Its start then costs nothing. Write it again after an
    upgrade.

    Parameters
    ----------
    shell
        The shell to complete for.
    """
    from pyctrl.cli._completion import completion_script  # here: rarely needed

    print(completion_script(app, shell))
