"""`pyctrl token`: prints a token of a service account."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from cyclopts import Parameter

from pyctrl.cli._client_flags import NO_CLIENT_FLAGS, ClientFlags
from pyctrl.cli._command_line import CommandLine, epilogue
from pyctrl.cli._durations import duration
from pyctrl.cli._shared_flags import OutputWithYaml

__all__ = ["app"]

EPILOGUE = epilogue(
    """\
TOKEN=$(pyctrl token jenkins)

# in another namespace, for ten minutes
pyctrl token -n ci jenkins --duration 10m

# valid as long as a pod exists
pyctrl token jenkins --bound-object-kind Pod --bound-object-name jenkins-0
""",
    {0: "printed", 1: "failed"},
)

app = CommandLine("token", help_epilogue=EPILOGUE)


@app.default
def token(
    name: Annotated[str, Parameter(metavar="ACCOUNT")],
    /,
    *,
    duration: Annotated[timedelta | None, Parameter(metavar="DURATION", converter=duration)] = None,
    audience: Annotated[tuple[str, ...], Parameter(metavar="NAME")] = (),
    bound_object_kind: Annotated[Literal["Pod", "Secret", "Node"] | None, Parameter(metavar="KIND")] = None,
    bound_object_name: Annotated[str | None, Parameter(metavar="NAME")] = None,
    bound_object_uid: Annotated[str | None, Parameter(metavar="UID")] = None,
    output: OutputWithYaml = "text",
    login: ClientFlags = NO_CLIENT_FLAGS,
) -> None:
    """Print a service account token.

    Prints only the token, and stores it nowhere. Anyone who has it can act as that account until it expires. Needs the
    permission to create `serviceaccounts/token`. For your own token: `pyctrl whoami -o token`.

    Parameters
    ----------
    name
        The service account: `NAME` or `NAMESPACE:NAME`.
    duration
        How long the token is valid, at least 10m. Defaults to the server's choice, usually 1h. A note on stderr
        says if the server shortens it.
    audience
        The audience of the token. Defaults to the API server. May be repeated.
    bound_object_kind
        Bind the token to an object of this kind; it becomes invalid when the object is deleted.
    bound_object_name
        The name of that object.
    bound_object_uid
        The uid of that object, so that another object of the same name is not accepted.
    """
    from pyctrl.cli._token.token_request import TokenOptions  # here: help and completion need none of it

    wanted = TokenOptions(
        account=name,
        duration=duration,
        audiences=audience,
        bound_kind=bound_object_kind,
        bound_name=bound_object_name,
        bound_uid=bound_object_uid,
    )
    print(wanted.shown(login.run(wanted.get, quiet=output != "text"), output))
