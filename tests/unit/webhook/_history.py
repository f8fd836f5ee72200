"""Record of the certificates that replicas show and API servers trust over time, and checks for refused requests."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cryptography import x509
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from pyctrl.testing._loop.virtual_time import EPOCH

NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME: OpenSSL's clock is not virtual, `Verdict` has the times
NEVER = (float("inf"), float("-inf"))


class Refused(Exception):
    """Raised if an API server would refuse a webhook server."""


def handshake(server: ssl.SSLContext, bundle: bytes, host: str) -> bytes:
    """Run a TLS handshake in memory, with a client that trusts a bundle, and return the server's certificate (DER).

    Raises:
        Refused: the client does not trust the certificate at any time, or the certificate has another name.
    """
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = _trust(bundle).wrap_bio(to_client, to_server, server_hostname=host)
    ends = [client, server.wrap_bio(to_server, to_client, server_side=True)]
    while ends:
        for end in tuple(ends):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLError as error:
                raise Refused(str(error)) from error
            ends.remove(end)
    shown = client.getpeercert(binary_form=True)
    assert shown is not None
    return shown


@lru_cache(maxsize=8)
def _trust(bundle: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_flags |= NO_CHECK_TIME
    if bundle:
        context.load_verify_locations(cadata=bundle.decode())
    return context


@lru_cache(maxsize=256)
def good_between(shown: bytes, bundle: bytes, host: str, moment: int) -> tuple[float, float]:
    """Return the validity period of the chain if a client accepts the certificate at a moment, else `NEVER`.

    All times are seconds since virtual time began.
    """
    if not shown or not bundle:
        return NEVER
    leaf, trusted = x509.load_pem_x509_certificate(shown), Store(x509.load_pem_x509_certificates(bundle))
    policy = PolicyBuilder().store(trusted).time((EPOCH + timedelta(seconds=moment)).replace(tzinfo=None))
    try:
        chain = policy.build_server_verifier(x509.DNSName(host)).verify(leaf, [])
    except VerificationError:
        return NEVER
    begin, end = (
        max(each.not_valid_before_utc for each in chain),
        min(each.not_valid_after_utc for each in chain),
    )
    return (begin - EPOCH).total_seconds(), (end - EPOCH).total_seconds()


class Span(NamedTuple):
    """A period without changes."""

    begin: float
    end: float
    shown: dict[str, bytes]
    trusted: dict[str, bytes]


class History:
    """All changes of shown certificates and trusted bundles, with their times."""

    def __init__(self, host: str) -> None:
        self.host = host
        self.changes: list[tuple[float, str, str, bytes | None]] = []

    def note(self, at: float, what: str, who: str, value: bytes | None) -> None:
        """Record a change of a replica's certificate (``shown``) or of a target's bundle (``trusted``)."""
        self.changes.append((at, what, who, value))

    def spans(self, until: float) -> list[Span]:
        """Return the periods between changes, in order."""
        state: dict[str, dict[str, bytes]] = {"shown": {}, "trusted": {}}
        found = []
        ends = [*(change[0] for change in self.changes[1:]), until]
        for (at, what, who, value), end in zip(self.changes, ends, strict=True):
            if value is None:
                state[what].pop(who, None)
            else:
                state[what][who] = value
            if end > at:
                found.append(Span(at, end, dict(state["shown"]), dict(state["trusted"])))
        assert all(one.end == other.begin for one, other in pairwise(found))
        return found

    def gaps(self, since: float, until: float, *, skew: float = 0.0) -> Iterator[str]:
        """Yield each period in which an API server would refuse a replica, with clocks up to ``skew`` apart."""
        for span in self.spans(until):
            if span.end <= since:
                continue
            begin, end = max(span.begin, since) - skew, span.end + skew
            for replica, shown in span.shown.items():
                for target, bundle in span.trusted.items():
                    good = good_between(shown, bundle, self.host, int(max(span.begin, since)))
                    if not good[0] <= begin <= end <= good[1]:
                        yield f"{replica} for {target} between {begin} and {end}: good from {good[0]} to {good[1]}"

    def questions(self, since: float, count: int, *, every: float, skew: float) -> Iterator[tuple[float, bool]]:
        """Simulate requests at regular times, for all replicas and targets in turn, with server clocks ahead or behind.

        Yields the time of each request, by the server's clock, and whether the request was answered.
        """
        number, spans = 0, self.spans(since + count * every)
        for span in spans:
            pairs = [
                good_between(shown, bundle, self.host, int(span.begin))
                for shown in span.shown.values()
                for bundle in span.trusted.values()
            ]
            while number < count and (moment := since + number * every) < span.end:
                begin, end = pairs[number % len(pairs)]
                asked = moment + (number % 3 - 1) * skew
                yield asked, begin <= asked <= end
                number += 1
