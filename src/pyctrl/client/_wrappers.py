"""Clients derived from a client: the same connections, with something decided for every request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol, Self, TypeVar

from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._requests.options import ClientOptions, FieldValidation

__all__ = ["Derivable", "dry_run", "impersonate", "in_namespace", "with_field_owner", "with_field_validation"]


class Derivable(Protocol):
    """A client that others can be derived from."""

    @property
    def options(self) -> ClientOptions:
        """What holds for every request."""
        ...

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options, on the same connections; it needs no closing of its own."""
        ...


C = TypeVar("C", bound=Derivable)


def in_namespace(client: C, namespace: str) -> C:
    """Return a client for one namespace: it is filled in where a request names none, and any other is refused."""
    return client.with_options(replace(client.options, namespace=namespace))


def dry_run(client: C) -> C:
    """Return a client whose writes are checked and answered by the server, but never kept."""
    return client.with_options(replace(client.options, dry_run=True))


def with_field_owner(client: C, name: str) -> C:
    """Return a client that owns the fields it writes as ``name``, unless a request says otherwise."""
    return client.with_options(replace(client.options, field_owner=name))


def with_field_validation(client: C, validation: FieldValidation) -> C:
    """Return a client whose creates, updates and patches ask for this validation, unless a request says otherwise.

    An apply is always strict.
    """
    return client.with_options(replace(client.options, field_validation=validation))


def impersonate(client: C, user: str, groups: Iterable[str] = ()) -> C:
    """Return a client that acts as another user, which its own user must have the right to."""
    return client.with_options(replace(client.options, impersonate=Impersonation(user=user, groups=tuple(groups))))
