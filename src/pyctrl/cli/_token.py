"""`pyctrl token`: a token of a service account, alone on stdout."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

from ._durations import duration
from ._login import NO_FLAGS, Login

WANTED = Group("What is asked for", sort_key=1)
OUTPUT = Group("Output", sort_key=2)

EPILOGUE = """\
The token is all that is printed, and is kept nowhere: anybody who has it is that account until it expires. It needs the
right to create `serviceaccounts/token`. Your own token is printed by `pyctrl whoami --print token`.

Examples:

```
# be the service account jenkins for an hour
TOKEN=$(pyctrl token jenkins)

# of another namespace, for ten minutes
pyctrl token -n ci jenkins --duration 10m

# one that ends with a pod
pyctrl token jenkins --bound-object-kind Pod --bound-object-name jenkins-0
```
"""

app = App(name="token", help_epilogue=EPILOGUE)


@app.default
def token(
    name: str,
    /,
    *,
    duration: Annotated[
        timedelta | None, Parameter(group=WANTED, metavar="DURATION", converter=duration, show_default=False)
    ] = None,
    audience: Annotated[tuple[str, ...], Parameter(group=WANTED, metavar="NAME", negative="", show_default=False)] = (),
    bound_object_kind: Annotated[Literal["Pod", "Secret", "Node"] | None, Parameter(group=WANTED)] = None,
    bound_object_name: Annotated[str | None, Parameter(group=WANTED, metavar="NAME")] = None,
    bound_object_uid: Annotated[str | None, Parameter(group=WANTED, metavar="UID")] = None,
    output: Annotated[Literal["text", "json", "yaml"], Parameter(name=("--output", "-o"), group=OUTPUT)] = "text",
    login: Login = NO_FLAGS,
) -> None:
    """Print a token of a service account.

    Parameters
    ----------
    name
        The service account: NAME, or NAMESPACE:NAME.
    duration
        How long it shall be good, at least 10m. By default what the server gives, usually an hour. It may give less
        than was asked for, which is told on stderr.
    audience
        Who may accept the token. May be repeated; by default the API server itself.
    bound_object_kind
        Let the token end with an object of this kind.
    bound_object_name
        The name of that object.
    bound_object_uid
        Its uid, if it has to be this very one.
    output
        The token alone, or the whole TokenRequest.
    """
    from ._tokens import Wanted  # here: help and completion need none of it

    wanted = Wanted(
        account=name,
        duration=duration,
        audiences=audience,
        bound_kind=bound_object_kind,
        bound_name=bound_object_name,
        bound_uid=bound_object_uid,
    )
    print(wanted.shown(login.run(wanted.get), output))
