"""`BuiltinResource`: the declaration of one built-in kind, and the search for all declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._authn import Authenticator, ServiceAccountTokens
    from pyctrl.apiserver._endpoints.backend import RESTStorage
    from pyctrl.apiserver._endpoints.delete import DeleteHandler
    from pyctrl.apiserver._endpoints.update import UpdateHandler
    from pyctrl.apiserver._kubelet import KubeletServer
    from pyctrl.apiserver._registry.table_cells import Cells

__all__ = ["REST_METHODS", "BuiltinResource", "RESTContext", "RESTFactory", "builtin_resources"]

_PACKAGE: Final = "pyctrl.apiserver._registry"
_DECLARES_NOTHING: Final = frozenset(("policy_expressions",))  # not imported: loads CEL, which few servers need

_PLAIN: Final = Strategy()


class RESTContext(msgspec.Struct, frozen=True, eq=False):
    """The parts of one server that the handlers of its subresources use."""

    backend: RESTStorage
    updates: UpdateHandler
    deletes: DeleteHandler
    authenticator: Authenticator
    accounts: ServiceAccountTokens
    kubelets: Mapping[str, KubeletServer] = {}


#: Makes the handler of a subresource for one server. Its methods answer those of HTTP, by `REST_METHODS`: each takes
#: the request and returns the response, or a coroutine for it. Methods that it lacks are not allowed (405).
RESTFactory: TypeAlias = Callable[[RESTContext], object]

#: The methods of handlers of subresources. Only proxies have the last three.
REST_METHODS: Final[Mapping[str, str]] = {
    "GET": "get",
    "POST": "create",
    "PUT": "replace",
    "PATCH": "patch",
    "DELETE": "delete",
    "HEAD": "head",
    "OPTIONS": "options",
}


class BuiltinResource(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A built-in kind: everything that the documents in `pyctrl._schemas` do not say about it.

    Attributes:
        strategy: Defaults, validation and the like; a factory where it keeps state, called once for each server.
        cells: Makes the cells of an object's table row; the columns Name and Age need none.
        cells_are_of_written: Whether the cells are those of the object as it was written, before it is converted.
        row_order: The sort key of a table's rows; None keeps the order of the list.
        row_conditions: Returns the conditions of a table row; None: it has none.
        rest: Handlers of subresources by name. The one under "" handles the creation of objects that are not stored,
            such as reviews.
        repeats_columns: Whether each line of a watch has the columns of the table.
        extra_cells: Names of cells that have no column.
        has_status_table: Whether the status is served as a table.
        conversions: By `apiVersion`, a function that converts an object of another version into it. By default, the
            versions have the same form.
        storage_group: The group whose collection stores the objects, where it is not `group`.
        storage_version: The version of the objects in etcd, where it is not the served one.
        storage_prefix: The prefix of the keys in etcd, where it is not the plural.
        deprecation: The warning that answers every request.
        internal_zeros: What a bookmark has besides the zero values of its Go type: those of upstream's internal type.
        raw_fields: The fields that hold any JSON, whose text is kept, such as `spec.config[].opaque.parameters`.
    """

    group: str
    kind: str
    strategy: Strategy | Callable[[], Strategy] = _PLAIN
    cells: Callable[[Object], Cells] | None = None
    cells_are_of_written: bool = False
    row_order: Callable[[Object], tuple[int, str]] | None = None
    row_conditions: Callable[[Object], list[JSON]] | None = None
    repeats_columns: bool = False
    extra_cells: tuple[str, ...] = ()
    has_status_table: bool = True
    rest: Mapping[str, RESTFactory] = {}
    conversions: Mapping[str, Callable[[Object], Object]] = {}
    storage_group: str | None = None
    storage_version: str = ""
    storage_prefix: str = ""
    deprecation: str = ""
    internal_zeros: Mapping[str, JSON] = {}
    raw_fields: tuple[str, ...] = ()

    def new_strategy(self) -> Strategy:
        """Return the strategy for one server."""
        return self.strategy if isinstance(self.strategy, Strategy) else self.strategy()

    def convert(self, obj: Object, api_version: str) -> Object:
        """Return an object of another version in this one; the object may be changed."""
        convert = self.conversions.get(api_version)
        converted = obj if convert is None else convert(obj)
        converted["apiVersion"] = api_version
        return converted


@cache
def builtin_resources() -> Mapping[tuple[str, str], BuiltinResource]:
    """Return the declared kinds by group and kind: those in `RESOURCES` of the files of this package.

    Raises:
        ValueError: A kind is declared twice.
    """
    found: dict[tuple[str, str], BuiltinResource] = {}
    for module in iter_modules(import_module(_PACKAGE).__path__):
        if module.ispkg or module.name in _DECLARES_NOTHING:
            continue
        resources: tuple[BuiltinResource, ...] = getattr(import_module(f"{_PACKAGE}.{module.name}"), "RESOURCES", ())
        for each in resources:
            if (each.group, each.kind) in found:
                raise ValueError(f"{_PACKAGE}.{module.name} declares {each.kind} of group {each.group!r} a second time")
            found[each.group, each.kind] = each
    return found
