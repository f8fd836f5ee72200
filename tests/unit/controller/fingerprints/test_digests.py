"""Digests of objects: which differences they show."""

from __future__ import annotations

from pyctrl.api import GroupVersionKind
from pyctrl.cache import Record
from pyctrl.controller._fingerprints.digests import DIGEST_BYTES, record_digest, to_digest

CUSTOM = GroupVersionKind("example.com", "v1", "App")
SECRET = GroupVersionKind("", "v1", "Secret")


def record(uid: str = "u", version: int = 1, data: bytes = b"{}") -> Record:
    return Record(data, "web", "default", uid, version)


def test_uid_and_version_count() -> None:
    """Another object of the same name, and another version, have other digests."""
    for gvk in (CUSTOM, SECRET):
        first = record_digest(gvk, record())
        assert len(first) == DIGEST_BYTES
        assert record_digest(gvk, record()) == first
        assert len({first, record_digest(gvk, record(uid="v")), record_digest(gvk, record(version=2))}) == 3


def test_the_content_of_custom_resources_counts() -> None:
    """A default that a changed definition adds to the same version changes the digest; a Secret's content does not."""
    changed = record(data=b'{"spec":{"size":1}}')
    assert record_digest(CUSTOM, record()) != record_digest(CUSTOM, changed)
    assert record_digest(SECRET, record()) == record_digest(SECRET, changed)


def test_content_counts_where_versions_do_not_compare() -> None:
    """Of versions that are no numbers the content decides."""
    assert record_digest(SECRET, record(version=0)) != record_digest(SECRET, record(version=0, data=b"[]"))


def test_the_digest_of_a_set_does_not_depend_on_its_order() -> None:
    """The sum of digests is the same in any order, and is never too large."""
    digests = [int.from_bytes(record_digest(SECRET, record(uid=str(number))), "big") for number in range(100)]
    assert to_digest(sum(digests)) == to_digest(sum(reversed(digests)))
    assert to_digest(sum(digests)) != to_digest(sum(digests[1:]))
