"""`pyctrl url`: where a kind or an object is, and a curl line that gets it."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._login import NO_FLAGS, Login

WANTED = Group("What is asked for", sort_key=1)
OUTPUT = Group("Output", sort_key=2)

EPILOGUE = """\
Three lines: the path, the URL, and a curl line for bash or zsh. No secret is in them: the line reads the token or the
key when it runs, from the file that has it, or from `pyctrl whoami --print`, or from `pyctrl token`. The object need
not exist. When several groups have a kind of this name the first one is taken, as kubectl does, and stderr names the
others.

Examples:

```
# where the claims of this namespace are, and one of them
pyctrl url ephemeralvolumeclaims
pyctrl url evc my-claim

# may the service account jenkins list them? ask as jenkins
eval "$(pyctrl url evc -o curl --account jenkins)"

# follow the deployments of all namespaces
pyctrl url deployments.apps -A --watch

# for scripts
kubectl get --raw "$(pyctrl url deploy/web --subresource scale -o path)"
```
"""

app = App(name="url", help_epilogue=EPILOGUE)


@app.default
def url(
    kind: str,
    name: str | None = None,
    /,
    *,
    all_namespaces: Annotated[
        bool, Parameter(name=("--all-namespaces", "-A"), group=WANTED, negative="", show_default=False)
    ] = False,
    subresource: Annotated[str | None, Parameter(group=WANTED, metavar="NAME")] = None,
    watch: Annotated[bool, Parameter(name=("--watch", "-w"), group=WANTED, negative="", show_default=False)] = False,
    account: Annotated[str | None, Parameter(group=OUTPUT, metavar="NAME")] = None,
    show_secrets: Annotated[bool, Parameter(group=OUTPUT, negative="", show_default=False)] = False,
    output: Annotated[
        Literal["path", "url", "curl"] | None, Parameter(name=("--output", "-o"), group=OUTPUT, show_default=False)
    ] = None,
    login: Login = NO_FLAGS,
) -> None:
    """Print where a kind or an object is, and a curl line that gets it.

    Parameters
    ----------
    kind
        A plural, singular, kind or short name, such as evc, deployments.apps or deployments.v1.apps; or KIND/NAME.
    name
        The object; without it, the list of them.
    all_namespaces
        The list of all namespaces.
    subresource
        A part of the object that has a path of its own, such as status or scale.
    watch
        Follow what changes.
    account
        Let the curl line log in as this service account, NAME or NAMESPACE:NAME, with a token that is made as it runs.
    show_secrets
        Write the token into the curl line, to take it elsewhere. Whoever sees it can log in with it.
    output
        One of the three lines only.
    """
    from ._addresses import Wanted  # here: help and completion need none of it

    wanted = Wanted(
        kind=kind,
        name=name,
        all_namespaces=all_namespaces,
        subresource=subresource,
        watch=watch,
        account=account,
        show_secrets=show_secrets,
        output=output,
        login=login,
    )
    print("\n".join(login.run(wanted.lines)))
