"""TokenRequests for service accounts, and their error messages."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from pyctrl import _clock
from pyctrl.api import AccessRule, Key, format_time
from pyctrl.cli._durations import shown_duration
from pyctrl.client import Client, Config, ServiceAccountToken, create_token
from pyctrl.errors import ApiError, CommandFailed, Forbidden, NotFound
from pyctrl.kinds.core.v1 import Namespace, ServiceAccount
from pyctrl.rbac import remedy

__all__ = ["TokenOptions", "account_key"]

_SHOWN = 10  # service accounts listed in an error
_USER = "system:serviceaccount:"
_SLACK = timedelta(seconds=30)  # allowed difference between the local and the server's clock


def account_key(text: str, namespace: str) -> Key:
    """Parse ``NAME``, ``NAMESPACE:NAME`` or the user name of a service account."""
    first, colon, second = text.removeprefix(_USER).partition(":")
    key = Key(first, second) if colon else Key(namespace, first)
    if not key.name or not key.namespace or ":" in key.name or "/" in text:
        raise CommandFailed(f"{text!r} is not a service account: NAME or NAMESPACE:NAME was expected")
    return key


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenOptions:
    """The options of a token to request."""

    account: str
    duration: timedelta | None = None
    audiences: Sequence[str] = ()
    bound_kind: Literal["Pod", "Secret", "Node"] | None = None
    bound_name: str | None = None
    bound_uid: str | None = None

    async def get(self, client: Client, config: Config) -> tuple[Key, ServiceAccountToken]:
        """Request the token.

        Raises:
            CommandFailed: the account does not exist, or the permission is missing; the message lists the accounts of
                the namespace, or how to grant the permission.
            ApiError: the server rejects the request for another reason.
        """
        key, bound_to = account_key(self.account, config.namespace), self._bound_to()
        seconds = math.ceil(self.duration.total_seconds()) if self.duration else None
        try:
            token = await create_token(
                client, key, audiences=self.audiences, expiration_seconds=seconds, bound_to=bound_to
            )
        except NotFound as error:
            if error.details.get("kind") not in {"serviceaccounts", "namespaces"}:  # the object to bind it to
                raise
            raise CommandFailed(await _missing(client, key)) from error
        except Forbidden as error:
            raise CommandFailed(_refused(error, key)) from error
        self._tell_if_shorter(token)
        return key, token

    def shown(self, got: tuple[Key, ServiceAccountToken], output: Literal["text", "json", "yaml"]) -> str:
        """Return the token in an output format."""
        key, token = got
        if output == "text":
            return token.token
        if output == "json":
            return json.dumps(self._to_wire(key, token), indent=2)
        import yaml  # here: a slow import, for YAML only

        return str(yaml.safe_dump(self._to_wire(key, token), sort_keys=False)).rstrip()

    def _bound_to(self) -> Mapping[str, str] | None:
        if self.bound_kind is None or self.bound_name is None:
            if self.bound_kind or self.bound_name or self.bound_uid:
                raise CommandFailed("--bound-object-kind and --bound-object-name must be set together")
            return None
        uid = {"uid": self.bound_uid} if self.bound_uid else {}
        return {"apiVersion": "v1", "kind": self.bound_kind, "name": self.bound_name, **uid}

    def _tell_if_shorter(self, token: ServiceAccountToken) -> None:
        left = token.expires_at - _clock.now()
        if self.duration and left + _SLACK < self.duration:
            asked, given = shown_duration(self.duration), shown_duration(left)
            print(f"pyctrl: requested {asked}, but the server granted {given}", file=sys.stderr)

    def _to_wire(self, key: Key, token: ServiceAccountToken) -> dict[str, Any]:
        bound_to = self._bound_to()
        spec = {"audiences": list(self.audiences), "boundObjectRef": dict(bound_to) if bound_to else None}
        return {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "metadata": {"name": key.name, "namespace": key.namespace},
            "spec": {name: value for name, value in spec.items() if value},
            "status": {"token": token.token, "expirationTimestamp": format_time(token.expires_at)},
        }


def _refused(error: Forbidden, key: Key) -> str:
    """Return the error with the commands that grant tokens of this account only."""
    if error.verb != "create" or not error.user:
        return str(error)
    rule = AccessRule(verbs=("create",), groups=("",), resources=("serviceaccounts/token",), names=(key.name,))
    fix = remedy(rule, key.namespace, user=error.user, name=f"{key.name}-token")
    return "\n  ".join([f"{error.message}. An administrator grants it with:", *fix.commands])


async def _missing(client: Client, key: Key) -> str:
    """Return the error for a missing account, with the existing ones, and how to create it."""
    message = f"no service account {key.name!r} in the namespace {key.namespace!r}"
    make = f"Create it: kubectl create serviceaccount {key.name} -n {key.namespace}"
    try:
        names = [account.metadata.name for account in await client.list(ServiceAccount, namespace=key.namespace)]
        if not names and await client.find(Namespace, Key("", key.namespace)) is None:
            return f"no namespace {key.namespace!r}. Create it: kubectl create namespace {key.namespace}"
    except ApiError:  # listing is forbidden; the error is useful without the list
        return f"{message}. {make}"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{message}, which has {', '.join(names[:_SHOWN]) or 'none'}{more}. {make}"
