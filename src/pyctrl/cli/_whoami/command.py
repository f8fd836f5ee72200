"""`pyctrl whoami`: the login that is used, and the user that the server sees."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._shared_flags import OUTPUT, OutputWithYaml

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
pyctrl whoami

# the user of a service account
pyctrl whoami --as system:serviceaccount:default:jenkins

# in scripts
pyctrl whoami -o json | jq -r .user.username
curl -H "Authorization: Bearer $(pyctrl whoami --print token)" "$(pyctrl url pods -o url)"
""",
    {0: "the server accepts the login", 1: "no login, no answer, or the server rejects the login"},
)

app = CommandLine("whoami", help_epilogue=EPILOGUE)


@app.default
def whoami(
    *,
    output: OutputWithYaml = "text",
    print_part: Annotated[
        Literal["token", "ca", "certificate", "key"] | None, Parameter(name="--print", group=OUTPUT, metavar="PART")
    ] = None,
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Show the login that is used, and its user.

    If it fails, the message lists each source of a login that was tried, and what to do.

    Parameters
    ----------
    print_part
        Print only this part of the login, even if it is secret, without contacting the server. Runs the login plugin if
        needed.
    """
    if print_part is not None:
        import asyncio  # here and below: help and completion need none of it

        from pyctrl.cli._credential import part_of

        print(asyncio.run(part_of(login.config(), print_part)).rstrip("\n"))
        return
    from pyctrl.cli._whoami.identity import identify, shown

    print(shown(login.run(identify, quiet=output != "text"), output))
