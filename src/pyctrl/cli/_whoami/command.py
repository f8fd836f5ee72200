"""`pyctrl whoami`: the login that is used, and the user that the server sees."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
pyctrl whoami

# the user of a service account
pyctrl whoami --as system:serviceaccount:default:jenkins

# in scripts
pyctrl whoami -o json | jq -r .user.username
curl -H "Authorization: Bearer $(pyctrl whoami -o token)" "$(pyctrl url pods -o url)"
""",
    {0: "the server accepts the login", 1: "no login, no answer, or the server rejects the login"},
)

app = CommandLine("whoami", help_epilogue=EPILOGUE)


@app.default
def whoami(
    *,
    output: Annotated[
        Literal["text", "json", "yaml", "token", "ca", "certificate", "key"],
        Parameter(name=("--output", "-o"), group=OUTPUT, metavar="FORMAT"),
    ] = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Show the login that is used, and its user.

    If it fails, the message lists each source of a login that was tried, and what to do.

    Parameters
    ----------
    output
        Output format. The last four print only this part of the login, even if it is secret, without contacting the
        server. They run the login plugin if needed.
    """
    if output == "text" or output == "json" or output == "yaml":
        from pyctrl.cli._whoami.identity import identify, shown  # here and below: help and completion need none of it

        print(shown(login.run(identify, quiet=output != "text"), output))
        return
    import asyncio

    from pyctrl.cli._credential import part_of

    print(asyncio.run(part_of(login.config(), output)).rstrip("\n"))
