"""The flags of kube-apiserver 1.36, parsed and refused as kube-apiserver does (spf13/pflag)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl._go.durations import duration_problem
from pyctrl._go.text import quoted

__all__ = ["FLAGS", "FlagError", "Flags", "parse_flags"]

_NAMES = {
    "bool": """
        aggregator-reject-forwarding-redirect allow-privileged anonymous-auth audit-log-batch-throttle-enable
        audit-log-compress audit-log-truncate-enabled audit-webhook-batch-throttle-enable
        audit-webhook-truncate-enabled contention-profiling disable-http2-serving emulation-forward-compatible
        enable-aggregator-routing enable-bootstrap-token-auth enable-garbage-collector enable-logs-handler
        enable-priority-and-fairness encryption-provider-config-automatic-reload help log-json-split-stream
        log-text-split-stream permit-address-sharing permit-port-sharing profiling
        runtime-config-emulation-forward-compatible service-account-extend-token-expiration service-account-lookup
        shutdown-send-retry-after watch-cache""",
    "version": "version",
    "int": """
        apiserver-count audit-log-batch-buffer-size audit-log-batch-max-size audit-log-batch-throttle-burst
        audit-log-maxage audit-log-maxbackup audit-log-maxsize audit-log-truncate-max-batch-size
        audit-log-truncate-max-event-size audit-webhook-batch-buffer-size audit-webhook-batch-max-size
        audit-webhook-batch-throttle-burst audit-webhook-truncate-max-batch-size audit-webhook-truncate-max-event-size
        default-not-ready-toleration-seconds default-unreachable-toleration-seconds default-watch-cache-size
        delete-collection-workers http2-max-streams-per-connection kubelet-port kubelet-read-only-port
        kubernetes-service-node-port lease-reuse-duration-seconds max-connection-bytes-per-sec
        max-mutating-requests-inflight max-requests-inflight min-request-timeout secure-port""",
    "duration": """
        audit-log-batch-max-wait audit-webhook-batch-max-wait audit-webhook-initial-backoff
        authentication-token-webhook-cache-ttl authorization-webhook-cache-authorized-ttl
        authorization-webhook-cache-unauthorized-ttl coordinated-leadership-lease-duration
        coordinated-leadership-renew-deadline coordinated-leadership-retry-period etcd-compaction-interval
        etcd-count-metric-poll-period etcd-db-metric-poll-interval etcd-healthcheck-timeout etcd-readycheck-timeout
        event-ttl kubelet-timeout livez-grace-period log-flush-frequency request-timeout
        service-account-max-token-expiration shutdown-delay-duration shutdown-watch-termination-grace-period
        storage-initialization-timeout""",
    "strings": """
        admission-control api-audiences authorization-mode cors-allowed-origins disable-admission-plugins
        disabled-metrics emulated-version enable-admission-plugins etcd-servers etcd-servers-overrides feature-gates
        kubelet-preferred-address-types min-compatibility-version oidc-signing-algs requestheader-allowed-names
        requestheader-extra-headers-prefix requestheader-group-headers requestheader-uid-headers
        requestheader-username-headers strict-transport-security-directives tls-cipher-suites watch-cache-sizes""",
    "stringArray": "service-account-issuer service-account-key-file",
    "string": """
        admission-control-config-file advertise-address allow-metric-labels allow-metric-labels-manifest
        audit-log-batch-throttle-qps audit-log-format audit-log-mode audit-log-path audit-log-version audit-policy-file
        audit-webhook-batch-throttle-qps audit-webhook-config-file audit-webhook-mode audit-webhook-version
        authentication-config authentication-token-webhook-config-file authentication-token-webhook-version
        authorization-config authorization-policy-file authorization-webhook-config-file authorization-webhook-version
        bind-address cert-dir client-ca-file debug-socket-path egress-selector-config-file encryption-provider-config
        endpoint-reconciler-type etcd-cafile etcd-certfile etcd-keyfile etcd-prefix external-hostname
        goaway-chance kubelet-certificate-authority kubelet-client-certificate kubelet-client-key
        log-json-info-buffer-size log-text-info-buffer-size logging-format oidc-ca-file oidc-client-id oidc-groups-claim
        oidc-groups-prefix oidc-issuer-url oidc-required-claim oidc-username-claim oidc-username-prefix
        peer-advertise-ip peer-advertise-port peer-ca-file proxy-client-cert-file proxy-client-key-file
        requestheader-client-ca-file runtime-config service-account-jwks-uri service-account-signing-endpoint
        service-account-signing-key-file service-cluster-ip-range service-node-port-range
        show-hidden-metrics-for-version storage-backend storage-media-type tls-cert-file tls-curve-preferences
        tls-min-version tls-private-key-file tls-sni-cert-key token-auth-file tracing-config-file v vmodule""",
}

FLAGS = {name: kind for kind, names in _NAMES.items() for name in names.split()}
"""The type of each flag."""

_WITHOUT_VALUE = {"bool": "true", "version": "true"}  # the value of a flag that is given alone
_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


class FlagError(Exception):
    """Raised for a command line that kube-apiserver refuses; the message is its own."""


class Flags:
    """The flags of a command line."""

    def __init__(self) -> None:
        self._values: dict[str, list[str]] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def add(self, name: str, value: str) -> None:
        """Add a value; of a flag that takes one value, the last one counts."""
        self._values.setdefault(name, []).append(value)

    def text(self, name: str, default: str = "") -> str:
        """Return the value of a flag."""
        return self._values.get(name, [default])[-1]

    def number(self, name: str, default: int) -> int:
        """Return the value of a flag of type int."""
        return int(self.text(name, str(default)))

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Return the value of a flag of type bool."""
        return _BOOLS[self.text(name, str(default))]

    def items(self, name: str) -> tuple[str, ...]:
        """Return all values of a flag, separated by commas unless its type is stringArray."""
        values = self._values.get(name, [])
        if FLAGS[name] == "stringArray":
            return tuple(values)
        return tuple(item.strip() for value in values for item in value.split(",") if item.strip())


def parse_flags(arguments: Sequence[str]) -> Flags:
    """Parse a command line. An underscore in the name of a flag is a dash.

    Raises:
        FlagError: kube-apiserver refuses the command line.
    """
    flags, rest, others = Flags(), list(arguments), []
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            others += rest
            break
        if argument == "-" or not argument.startswith("-"):
            others.append(argument)
            continue
        name, equals, value = _name(argument)
        kind = FLAGS[name]
        if not equals:
            value = _following(kind, argument, rest)
        _check(name, kind, value)
        flags.add(name, value)
    if others:
        raise FlagError(f'"kube-apiserver" does not take any arguments, got [{" ".join(map(quoted, others))}]')
    return flags


def _name(argument: str) -> tuple[str, str, str]:
    """Return the name of a flag, "=" if its value follows, and the value."""
    if not argument.startswith("--"):
        letter, rest = argument[1], argument[2:]
        if letter not in "vh":
            raise FlagError(f"unknown shorthand flag: '{letter}' in {argument}")
        return {"v": "v", "h": "help"}[letter], "=" if rest else "", rest.removeprefix("=")
    name, equals, value = argument[2:].partition("=")
    if not name or name.startswith("-"):
        raise FlagError(f"bad flag syntax: {argument}")
    known = name.replace("_", "-")
    if known not in FLAGS:
        raise FlagError(f"unknown flag: --{name}")
    return known, equals, value


def _following(kind: str, argument: str, rest: list[str]) -> str:
    """Return the value of a flag without "=": of most types the next argument."""
    if kind in _WITHOUT_VALUE:
        return _WITHOUT_VALUE[kind]
    if not rest:
        shown = argument if argument.startswith("--") else f"'{argument[1]}' in {argument}"
        raise FlagError(f"flag needs an argument: {shown}")
    return rest.pop(0)


def _check(name: str, kind: str, value: str) -> None:
    problem = ""
    if kind == "bool" and value not in _BOOLS:
        problem = f"strconv.ParseBool: parsing {quoted(value)}: invalid syntax"
    elif kind == "int" and not _is_integer(value):
        problem = f"strconv.ParseInt: parsing {quoted(value)}: invalid syntax"
    elif kind == "duration":
        problem = duration_problem(value)
    if problem:
        shown = "-v, --v" if name == "v" else f"--{name}"
        raise FlagError(f"invalid argument {quoted(value)} for {quoted(shown)} flag: {problem}")


def _is_integer(text: str) -> bool:
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdecimal()
