"""The commands there are. Each is imported when it is called or asked for help."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Parameter

EPILOGUE = """\
Examples:

```
# a project, a kind of your own, its controller and a test that passes
pyctrl init podset-operator --domain example.com
pyctrl create api --group apps --version v1alpha1 --kind PodSet

# an operator while you write it, in a cluster of its own
pyctrl dev operator.py

# the same one against the cluster that kubectl speaks to
pyctrl run operator.py --install-crds

# a cluster of your own, and how kubectl reaches it
pyctrl apiserver --kubeconfig-out dev.kubeconfig

# who am I, and where is what I look for
pyctrl whoami
pyctrl url deployments

# complete commands and flags with Tab
source <(pyctrl completion bash)
```

Exit codes: 0 done, 1 failed, 2 not understood. With `--traceback`, anywhere, a failure shows where it happened.
"""


def _version() -> str:
    from importlib.metadata import version  # here: it reads files, for an answer that is hardly ever wanted

    return version("pyctrl")


app = App(
    name="pyctrl",
    help="Kubernetes controllers in typed asyncio Python.",
    help_epilogue=EPILOGUE,
    help_format="markdown",
    version=_version,
)
app.command("pyctrl.cli._init:app", name="init", help="Begin a project.")
app.command("pyctrl.cli._create:app", name="create", help="Add a kind to a project.")
app.command("pyctrl.cli._delete:app", name="delete", help="Take a kind out of a project.")
app.command("pyctrl.cli._dev:app", name="dev", help="Run a program in a cluster of its own, and follow what is saved.")
app.command("pyctrl.cli._run:app", name="run", help="Run the controllers of a file or a module against a cluster.")
app.command("pyctrl.cli._apiserver:app", name="apiserver", help="Serve a Kubernetes API server from memory.")
app.command(
    "pyctrl.cli._crd:app",
    name="crd",
    help="Definitions: typed classes of them, and which changes break stored objects.",
)
app.command("pyctrl.cli._explain:app", name="explain", help="Show what a kind or one of its fields is.")
app.command(
    "pyctrl.cli._manifests:app", name="manifests", help="Write what a program needs in a cluster, made from its code."
)
app.command(
    "pyctrl.cli._deploy:deploy_app", name="deploy", help="Apply what a program needs to a cluster, and wait for it."
)
app.command("pyctrl.cli._deploy:undeploy_app", name="undeploy", help="Remove from a cluster what deploy put there.")
app.command("pyctrl.cli._image:installer_app", name="build-installer", help="Write dist/install.yaml.")
app.command("pyctrl.cli._image:app", name="image", help="Build the image of a program.")
app.command(
    "pyctrl.cli._rbac:app", name="rbac", help="The rights of a program: derive, check, compare and explain them."
)
app.command(
    "pyctrl.cli._validate:app", name="validate", help="Say of objects in files what the API server would, and where."
)
app.command("pyctrl.cli._whoami:app", name="whoami", help="Show which login is used, and who the server takes it for.")
app.command("pyctrl.cli._token:app", name="token", help="Print a token of a service account.")
app.command("pyctrl.cli._url:app", name="url", help="Print where a kind or an object is, and a curl line that gets it.")


@app.command
def completion(shell: Annotated[Literal["bash", "zsh", "fish"], Parameter()]) -> None:
    """Print a script that completes pyctrl's commands and flags.

    Parameters
    ----------
    shell
        The shell to write it for; load it with `source <(pyctrl completion bash)`.
    """
    print(app.generate_completion(shell=shell))
