"""Clients derived from a client: the same connection, with other defaults for every request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol, Self, TypeVar

from pyctrl.client._login.impersonation import Impersonation
from pyctrl.client._requests.options import ClientOptions, FieldValidation

__all__ = ["Derivable", "dry_run", "impersonate", "in_namespace", "with_field_owner", "with_field_validation"]


class Derivable(Protocol):
    """A client from which others can be derived."""

    @property
    def options(self) -> ClientOptions:
        """The defaults of every request."""
        ...

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options on the same connection; it need not be closed."""
        ...


C = TypeVar("C", bound=Derivable)


def in_namespace(client: C, namespace: str) -> C:
    """Return a client for one namespace: the default of its requests, and the only one that they may name."""
    return client.with_options(replace(client.options, namespace=namespace))


def dry_run(client: C) -> C:
    """Return a client whose writes the server checks and answers, but does not keep."""
    return client.with_options(replace(client.options, dry_run=True))


def with_field_owner(client: C, name: str) -> C:
    """Return a client that writes as the field owner ``name``, unless a request names another."""
    return client.with_options(replace(client.options, field_owner=name))


def with_field_validation(client: C, validation: FieldValidation) -> C:
    """Return a client whose creates, updates and patches have this field validation, unless a request names another.

    An apply is always strict.
    """
    return client.with_options(replace(client.options, field_validation=validation))


def impersonate(client: C, user: str, groups: Iterable[str] = ()) -> C:
    """Return a client that acts as another user; its own user needs the right to impersonate that one."""
    return client.with_options(replace(client.options, impersonate=Impersonation(user=user, groups=tuple(groups))))
