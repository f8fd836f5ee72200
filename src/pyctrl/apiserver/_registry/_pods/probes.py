"""Validation of the probes and lifecycle handlers of containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.field_validation import not_negative, port, required_texts, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["PROBES", "validate_lifecycle", "validate_probe"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_OF_PROBES = ("exec", "httpGet", "tcpSocket", "grpc")
_OF_LIFECYCLES = ("exec", "httpGet", "tcpSocket", "sleep")
_TIMES = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HEADER = re.compile("[-A-Za-z0-9]+")
_NO_HEADER = (
    "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for "
    "validation is '[-A-Za-z0-9]+')"
)
_LINUX_SIGNALS = tuple(
    sorted(
        (
            *("SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT"),
            *("SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT", "SIGSEGV"),
            *("SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG"),
            *("SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ", "SIGRTMIN", "SIGRTMAX"),
            *(f"SIGRTMIN+{number}" for number in range(1, 16)),
            *(f"SIGRTMAX-{number}" for number in range(1, 15)),
        )
    )
)
_WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")


def validate_probe(kind: str, probe: _Part, path: str, grace: int | None) -> _Errors:
    """Check a probe; the kind is the name of its field.

    Args:
        grace: The terminationGracePeriodSeconds of the pod.
    """
    yield from _handlers(probe, _OF_PROBES, path, grace)
    yield from not_negative(probe, path, *_TIMES)
    seconds = probe.get("terminationGracePeriodSeconds")
    where = f"{path}.terminationGracePeriodSeconds"
    if seconds is not None and seconds <= 0:
        yield invalid_value(where, seconds, "must be greater than 0")
    if kind == "readinessProbe":
        if seconds is not None:
            yield invalid_value(where, seconds, "must not be set for readinessProbes")
    elif (threshold := probe.get("successThreshold", 0)) != 1:
        yield invalid_value(f"{path}.successThreshold", threshold, "must be 1")


def validate_lifecycle(lifecycle: _Part, path: str, grace: int | None, system: str | None) -> _Errors:
    """Check the lifecycle handlers of a container.

    Args:
        grace: The terminationGracePeriodSeconds of the pod.
        system: The operating system of the pod; None where it has none.
    """
    for key in ("postStart", "preStop"):
        if lifecycle.get(key) is not None:
            yield from _handlers(lifecycle[key], _OF_LIFECYCLES, f"{path}.{key}", grace)
    if (signal := lifecycle.get("stopSignal")) is None:
        return
    known = {"windows": _WINDOWS_SIGNALS, "linux": _LINUX_SIGNALS}.get(system or "", ())
    if system is None:
        yield field_forbidden(f"{path}.stopSignal", "may not be set for containers with empty `spec.os.name`")
    elif known and signal not in known:
        yield not_supported(f"{path}.stopSignal", signal, known)


def _handlers(handlers: _Part, kinds: Sequence[str], path: str, grace: int | None) -> _Errors:
    present = [key for key in kinds if handlers.get(key) is not None]
    if not present:
        yield required(path, "must specify a handler type")
    for key in present[:1]:
        yield from _handler(key, handlers[key], f"{path}.{key}", grace)
    for key in present[1:]:
        yield field_forbidden(f"{path}.{key}", "may not specify more than 1 handler type")


def _handler(kind: str, handler: _Part, path: str, grace: int | None) -> _Errors:
    if kind == "exec":
        yield from required_texts(handler, path, "command")
    elif kind == "sleep":
        seconds = handler.get("seconds") or 0
        if grace is not None and not 0 <= seconds <= grace:
            why = f"must be non-negative and less than terminationGracePeriodSeconds ({grace})"
            yield invalid_value(path, seconds, why)
    elif kind == "httpGet":
        yield from _http_get(handler, path)
    else:
        yield from port(handler.get("port", 0), f"{path}.port")


def _http_get(handler: _Part, path: str) -> _Errors:
    yield from required_texts(handler, path, "path")
    yield from port(handler.get("port", 0), f"{path}.port")
    if text_of(handler, "scheme") not in ("HTTP", "HTTPS"):
        yield not_supported(f"{path}.scheme", text_of(handler, "scheme"), ("HTTP", "HTTPS"))
    for header in handler.get("httpHeaders") or ():
        if not _HEADER.fullmatch(text_of(header, "name")):
            yield invalid_value(f"{path}.httpHeaders", text_of(header, "name"), _NO_HEADER)
