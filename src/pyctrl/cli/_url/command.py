"""`pyctrl url`: the URL of a kind or an object, and a curl command for it."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT, ServiceAccount

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
# the claims of this namespace, and one of them
pyctrl url ephemeralvolumeclaims
pyctrl url evc my-claim

# list them as the service account jenkins
eval "$(pyctrl url evc -o curl --service-account jenkins)"

# watch the deployments of all namespaces
pyctrl url deployments.apps -A --watch

# in scripts
kubectl get --raw "$(pyctrl url deploy/web --subresource scale -o path)"
""",
    {0: "printed", 1: "no such kind, or failed"},
)

app = CommandLine("url", help_epilogue=EPILOGUE)


@app.default
def url(
    kind: Annotated[str, Parameter(metavar="KIND[/NAME]")],
    name: Annotated[str | None, Parameter(metavar="NAME")] = None,
    /,
    *,
    all_namespaces: Annotated[bool, Parameter(name=("--all-namespaces", "-A"))] = False,
    subresource: Annotated[str | None, Parameter(metavar="NAME")] = None,
    watch: Annotated[bool, Parameter(name=("--watch", "-w"))] = False,
    service_account: Annotated[ServiceAccount, Parameter(group=OUTPUT)] = None,
    show_secrets: Annotated[bool, Parameter(group=OUTPUT)] = False,
    output: Annotated[
        Literal["path", "url", "curl", "json"] | None,
        Parameter(name=("--output", "-o"), group=OUTPUT, metavar="FORMAT"),
    ] = None,
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Print the URL of a kind or object, and a curl command.

    Prints three lines: the path, the URL, and a curl command for bash or zsh. The command reads the token or key when
    it runs, so no secret is printed. The object need not exist. If several groups have a kind of this name, the first
    one is used, as in kubectl, and the others are listed on stderr.

    Parameters
    ----------
    kind
        A plural, singular, kind or short name, such as `evc`, `deployments.apps` or `deployments.v1.apps`.
    name
        The name of an object. Defaults to the list.
    all_namespaces
        All namespaces.
    subresource
        A subresource of the object, such as `status` or `scale`.
    watch
        Watch for changes.
    service_account
        The service account, `NAME` or `NAMESPACE:NAME`. The curl command logs in as this account, with a token that it
        requests.
    show_secrets
        Write the token into the curl command. Anyone who sees it can log in with it.
    output
        Output format: one of the three lines, or all as JSON. Defaults to the three lines.
    """
    from pyctrl.cli._url.resource_url import UrlOptions  # here: help and completion need none of it

    wanted = UrlOptions(
        kind=kind,
        name=name,
        all_namespaces=all_namespaces,
        subresource=subresource,
        watch=watch,
        account=service_account,
        show_secrets=show_secrets,
        output=output,
        login=login,
    )
    print("\n".join(login.run(wanted.lines, quiet=output == "json")))
