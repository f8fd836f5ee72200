"""Options of the verbs (`ListOptions`, `DeleteOptions`, ...), read and validated as in kube-apiserver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pyctrl.apiserver._errors import (
    FieldError,
    StatusError,
    bad_request,
    field_forbidden,
    invalid_options,
    invalid_value,
    not_supported,
    required,
    too_long,
    unknown_error,
)
from pyctrl.apiserver._request.request import QueryParameters

__all__ = [
    "EXACT",
    "DeleteOptions",
    "ListOptions",
    "WriteOptions",
    "delete_options",
    "list_options",
    "parse_list_version",
    "parse_object_version",
    "parse_version",
    "requested_version",
    "write_options",
]

VERSION_DIGITS = 20  # of the largest 64-bit number

EXACT = "Exact"
NOT_OLDER_THAN = "NotOlderThan"
FIELD_VALIDATION = ("", "Ignore", "Strict", "Warn")
PROPAGATION = ("Foreground", "Background", "Orphan")
MANAGER_LIMIT = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """Options of create, update and patch."""

    dry_run: bool = False
    field_validation: str = "Warn"
    force: bool = False


def write_options(query: QueryParameters, kind: str, *, is_apply: bool = False) -> WriteOptions:
    """Read `CreateOptions`, `UpdateOptions` or `PatchOptions`.

    Raises:
        StatusError: 422, with all errors.
    """
    return _read_write_options(tuple(query), kind, is_apply)


@lru_cache(maxsize=256)  # a client sends the same options again and again
def _read_write_options(parameters: tuple[tuple[str, str], ...], kind: str, is_apply: bool) -> WriteOptions:
    query, causes = QueryParameters(parameters), list[FieldError]()
    manager = query.get("fieldManager")
    force = query.flag("force")
    if kind == "PatchOptions":
        if is_apply and not manager:
            causes.append(required("fieldManager", "is required for apply patch"))
        if not is_apply and force is not None:
            causes.append(field_forbidden("force", "may not be specified for non-apply patch"))
    if len(manager) > MANAGER_LIMIT:
        causes.append(too_long("fieldManager", MANAGER_LIMIT))
    causes += _unprintable(manager)
    causes += _dry_run_causes(query.every("dryRun"))
    validation = query.get("fieldValidation")
    if validation not in FIELD_VALIDATION:
        causes.append(not_supported("fieldValidation", validation, FIELD_VALIDATION))
    if causes:
        raise invalid_options(kind, causes)
    return WriteOptions(dry_run=bool(query.every("dryRun")), field_validation=validation or "Warn", force=bool(force))


def _unprintable(manager: str) -> Iterator[FieldError]:
    if manager.isprintable():
        return
    for position, character in enumerate(manager):
        if not character.isprintable():
            at = len(manager[:position].encode())
            why = f"invalid character U+{ord(character):04X} (at position {at})"
            yield invalid_value("fieldManager", manager, why)


def _dry_run_causes(values: list[str]) -> list[FieldError]:
    if all(value == "All" for value in values):
        return []
    return [not_supported("dryRun", values, ("All",))]


# -- list and watch ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ListOptions:
    """Options of list, watch and deletecollection."""

    label_selector: str = ""
    field_selector: str = ""
    watch: bool = False
    bookmarks: bool = False
    resource_version: str = ""
    match: str = ""
    timeout_seconds: int | None = None
    limit: int = 0
    continue_token: str = ""
    send_initial_events: bool | None = None
    shard_selector: str = ""


def list_options(query: QueryParameters, *, watch: bool) -> ListOptions:
    """Read `ListOptions`.

    Raises:
        StatusError: 400 or 422, with all errors.
    """
    options = ListOptions(
        label_selector=query.get("labelSelector"),
        field_selector=query.get("fieldSelector"),
        watch=watch or bool(query.flag("watch")),
        bookmarks=bool(query.flag("allowWatchBookmarks")),
        resource_version=query.get("resourceVersion"),
        match=query.get("resourceVersionMatch"),
        timeout_seconds=_integer(query, "timeoutSeconds"),
        limit=max(_integer(query, "limit") or 0, 0),
        continue_token=query.get("continue"),
        send_initial_events=query.flag("sendInitialEvents"),
        shard_selector=query.get("shardSelector"),
    )
    options = _with_initial_events(options)
    causes = _watch_causes(options) if options.watch else _list_causes(options)
    if causes:
        raise invalid_options("ListOptions", causes)
    return options


def _with_initial_events(options: ListOptions) -> ListOptions:
    """Make a watch from no version or from 0 a streamed list: upstream's `SetListOptionsDefaults`."""
    is_stated = options.send_initial_events is not None or options.match
    if not options.watch or is_stated or options.resource_version not in ("", "0"):
        return options
    return replace(options, send_initial_events=True, match=NOT_OLDER_THAN)


def _integer(query: QueryParameters, name: str) -> int | None:
    if not query.has(name):
        return None
    text = query.get(name)  # "" is no number, as in Go
    problem = _number_problem(text[1:] if text[:1] in ("+", "-") else text, bits=63)
    if problem:
        raise bad_request(f'strconv.ParseInt: parsing "{text}": {problem}')
    return int(text)


def _number_problem(digits: str, *, bits: int) -> str:
    """Return the error of Go's strconv for a number; "" when it is valid."""
    if not (digits.isascii() and digits.isdecimal()):
        return "invalid syntax"
    return "value out of range" if len(digits) > 20 or int(digits) >= 2**bits else ""


def _watch_causes(options: ListOptions) -> list[FieldError]:
    causes: list[FieldError] = []
    match = options.match
    if options.send_initial_events is not None:
        if match != NOT_OLDER_THAN:
            why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            causes.append(field_forbidden("resourceVersionMatch", why))
    elif match:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(field_forbidden("resourceVersionMatch", why))
    if match and match != NOT_OLDER_THAN:
        causes.append(not_supported("resourceVersionMatch", match, (NOT_OLDER_THAN,)))
    if match and options.continue_token:
        causes.append(_match_forbidden("resourceVersionMatch is forbidden when continue is provided"))
    return causes


def _list_causes(options: ListOptions) -> list[FieldError]:
    causes = _match_causes(options) if options.match else []
    if options.send_initial_events is not None:
        causes.append(field_forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _match_causes(options: ListOptions) -> list[FieldError]:
    match, version = options.match, options.resource_version
    causes: list[FieldError] = []
    if not version:
        causes.append(_match_forbidden("resourceVersionMatch is forbidden unless resourceVersion is provided"))
    if options.continue_token:
        causes.append(_match_forbidden("resourceVersionMatch is forbidden when continue is provided"))
    if match not in (EXACT, NOT_OLDER_THAN):
        causes.append(not_supported("resourceVersionMatch", match, (EXACT, NOT_OLDER_THAN, "")))
    if match == EXACT and version == "0":
        causes.append(_match_forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    return causes


def _match_forbidden(why: str) -> FieldError:
    return field_forbidden("resourceVersionMatch", why)


def requested_version(text: str) -> int:
    """Return the resource version that a request waits for; 0 when it is no number, which the handler refuses."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < VERSION_DIGITS else 0


def parse_version(text: str) -> int | None:
    """Read a resource version; None when it is absent.

    Raises:
        StatusError: 500 without a reason, as in kube-apiserver, for a version that is no number.
    """
    if not text:
        return None
    problem = _number_problem(text, bits=64)
    if problem:
        cause = invalid_value("resourceVersion", text, f'strconv.ParseUint: parsing "{text}": {problem}')
        raise unknown_error(f"resourceVersion: {cause.message}")
    return int(text)


def parse_object_version(text: str) -> int:
    """Read the resource version of an object; 0 when it has none.

    Raises:
        StatusError: 500 without a reason, it is no number.
    """
    problem = _number_problem(text, bits=64) if text else ""
    if problem:
        raise unknown_error(f'strconv.ParseUint: parsing "{text}": {problem}')
    return int(text or 0)


def parse_list_version(text: str) -> int | None:
    """Read the resource version of a list.

    Raises:
        StatusError: 400, it is no number.
    """
    try:
        return parse_version(text)
    except StatusError as refusal:
        raise bad_request(f"invalid resource version: {refusal}") from None


# -- delete --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    """Options of delete and deletecollection, from the body or, without one, from the query."""

    dry_run: bool = False
    grace_period_seconds: int | None = None
    propagation: str = ""  # "" is the default of the kind
    orphan_dependents: bool | None = None  # deprecated form of propagation
    uid: str | None = None
    resource_version: str | None = None


def delete_options(query: QueryParameters, body: Mapping[str, Any] | None) -> DeleteOptions:
    """Read `DeleteOptions`.

    Raises:
        StatusError: 400 or 422, with all errors.
    """
    values = _from_query(query) if body is None else body
    policy = values.get("propagationPolicy")
    orphan = values.get("orphanDependents")
    dry_run = values.get("dryRun") or []
    causes: list[FieldError] = []
    if policy is not None and orphan is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        causes.append(invalid_value("propagationPolicy", policy, why))
    if policy is not None and policy not in PROPAGATION:
        causes.append(not_supported("propagationPolicy", policy, (*PROPAGATION, "nil")))
    causes += _dry_run_causes(list(dry_run))
    if causes:
        raise invalid_options("DeleteOptions", causes)
    preconditions = values.get("preconditions") or {}
    return DeleteOptions(
        dry_run=bool(dry_run),
        grace_period_seconds=values.get("gracePeriodSeconds"),
        propagation=policy or {True: "Orphan", False: "Background", None: ""}[orphan],
        orphan_dependents=orphan,
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
    )


def _from_query(query: QueryParameters) -> dict[str, Any]:
    return {
        "propagationPolicy": query.first.get("propagationPolicy"),
        "orphanDependents": query.flag("orphanDependents"),
        "dryRun": query.every("dryRun"),
        "gracePeriodSeconds": _integer(query, "gracePeriodSeconds"),
        "preconditions": {name: value for name in ("uid", "resourceVersion") if (value := query.get(name))},
    }
