"""`pyctrl whoami`: which login is used, and who the server takes it for."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._login import NO_FLAGS, Login

OUTPUT = Group("Output", sort_key=1)

EPILOGUE = """\
Exit code 1 means that there is no login, that the server cannot be reached, or that it does not know who asks; the
message then has each source of a login that was tried, and what to do.

Examples:

```
# who am I, and which of my kubeconfigs says so
pyctrl whoami

# what would a service account be
pyctrl whoami --as system:serviceaccount:default:jenkins

# for scripts
pyctrl whoami -o json | jq -r .user.username
curl -H "Authorization: Bearer $(pyctrl whoami --print token)" …
```
"""

app = App(name="whoami", help_epilogue=EPILOGUE)


@app.default
def whoami(
    *,
    output: Annotated[Literal["text", "json", "yaml"], Parameter(name=("--output", "-o"), group=OUTPUT)] = "text",
    print_part: Annotated[
        Literal["token", "ca", "certificate", "key"] | None, Parameter(name="--print", group=OUTPUT, show_default=False)
    ] = None,
    login: Login = NO_FLAGS,
) -> None:
    """Show which login is used, and who the server takes it for.

    Parameters
    ----------
    output
        The form.
    print_part
        Print this part of the login and nothing else, secret or not, without asking the server. A plugin is run for it.
    """
    if print_part is not None:
        import asyncio  # here and below: help and completion need none of it

        from ._credential import part_of

        print(asyncio.run(part_of(login.config(), print_part)).rstrip("\n"))
        return
    from ._identity import identify, shown

    print(shown(login.run(identify), output))
