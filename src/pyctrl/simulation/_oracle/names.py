"""Canonical names of what the server or a run makes up: generated names, uids and IP addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyctrl.simulation._history import ObjectId

__all__ = ["TIME", "CanonicalNames", "Family", "generated_prefix", "is_named_by_time", "is_volatile"]

Json = dict[str, Any]

TIME = re.compile(r"[12]\d{3}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:[Zz]|[+-]\d\d:?\d\d)?")

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"  # apimachinery pkg/util/rand: no vowels, no 0, 1, 3
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_ADDRESS = r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"
_VOLATILE = re.compile(rf"[{_LETTERS}]{{5}}(?![A-Za-z0-9])|\d{{8}}|{_UUID}|{_ADDRESS}")
_UUIDS = re.compile(_UUID)
_ENDS_WITH_UUID = re.compile(rf"{_UUID}$")
_ADDRESSES = re.compile(_ADDRESS)
_WORD = re.compile(r"[a-z0-9]+(?:[-.][a-z0-9]+)*-?")
_SEPARATOR = re.compile(r"([-.])")
# The server's suffix has five letters; a hash of a pod template, of 32 bits, has up to ten.
_SUFFIX = rf"[{_LETTERS}]{{5,10}}(?![A-Za-z0-9])"
# Minutes since 1970, which a CronJob appends, have eight digits; seconds have ten.
_NAMED_BY_TIME = re.compile(r"(.*\D)\d{8,}")
_TIME_IN_NAME = re.compile(r"(?<!\d)\d{8,10}(?!\d)")
_LONGEST_BASE = 58  # of a generated name; the server cuts a longer prefix (apiserver names.SimpleNameGenerator)
_VOLUME = "kube-api-access-"  # of the volume that the admission plugin ServiceAccount adds to pods


@dataclass(frozen=True, slots=True, order=True)
class Family:
    """Objects whose names differ from run to run although the server did not generate them.

    Attributes:
        resource: Their resource.
        prefix: What their names begin with.
        length: How long the rest is.
    """

    resource: str
    prefix: str
    length: int

    def has(self, object_id: ObjectId) -> bool:
        """Return whether an object belongs to the family."""
        name = object_id.name
        rest = name[len(self.prefix) :]
        is_word = len(rest) == self.length and rest.isalnum()
        return self.resource == object_id.resource and name.startswith(self.prefix) and is_word


@lru_cache(maxsize=50_000)
def is_volatile(text: str, families: frozenset[Family] = frozenset()) -> bool:
    """Return whether a text may contain a generated name, a uid, an IP address, or a name of one of the families."""
    return _VOLATILE.search(text) is not None or any(family.prefix in text for family in families)


def is_named_by_time(name: str) -> bool:
    """Return whether a name has a number in it that is as long as a time: minutes since 1970, or seconds."""
    return _TIME_IN_NAME.search(name) is not None


def generated_prefix(object_id: ObjectId, obj: Json) -> str:
    """Return the part of a name before the part that is generated, or made of a hash or a time; "" if there is none."""
    name, metadata = object_id.name, obj.get("metadata") or {}
    prefix: str = (metadata.get("generateName") or "")[:_LONGEST_BASE]
    if prefix and name.startswith(prefix) and len(name) > len(prefix):
        return prefix
    labels = metadata.get("labels") or {}
    for label in ("pod-template-hash", "controller.kubernetes.io/hash", "controller-revision-hash"):
        value = labels.get(label)
        if value and name.endswith(f"-{value}"):
            return name.removesuffix(value)
    if _ENDS_WITH_UUID.search(name):
        return ""  # such as the name of a volume: its last digits are no time
    by_time = _NAMED_BY_TIME.fullmatch(name)
    return by_time[1] if by_time else ""


class CanonicalNames:
    """What the objects of one state are called in every run.

    An object with a generated name is ``PREFIX*``. So is its name in the texts of other objects; a name of that form
    that no object has is ``PREFIX* (gone)``.

    Args:
        objects: The objects of the state.
        families: Objects with names that were learned to differ.
        prefixes: Prefixes of generated names, besides those of the objects.
    """

    def __init__(
        self, objects: Mapping[ObjectId, Json], families: frozenset[Family] = frozenset(), prefixes: Iterable[str] = ()
    ) -> None:
        self._families = families
        self._generated = dict(self._find_generated(objects))
        self._taken = {object_id.name for object_id in objects}
        self._texts: dict[str, str] = {}
        self.prefixes: frozenset[str] = frozenset(filter(None, (_VOLUME, *prefixes, *self._generated.values())))
        self._gone = self._pattern_of_gone()
        self._uids = {(obj.get("metadata") or {}).get("uid", ""): object_id for object_id, obj in objects.items()}
        self._addresses = frozenset(address for obj in objects.values() for address in _addresses_of(obj))

    def _find_generated(self, objects: Mapping[ObjectId, Json]) -> Iterator[tuple[str, str]]:
        for object_id, obj in objects.items():
            prefix = generated_prefix(object_id, obj)
            if not prefix:
                prefix = next((family.prefix for family in self._families if family.has(object_id)), "")
            if prefix:
                yield object_id.name, prefix

    def _pattern_of_gone(self) -> re.Pattern[str] | None:
        prefixes = sorted(self.prefixes, key=len, reverse=True)
        if not prefixes:
            return None
        return re.compile(rf"(?<![a-z0-9-])({'|'.join(map(re.escape, prefixes))})(?:{_SUFFIX}|\d{{8,}})")

    def canonical(self, object_id: ObjectId) -> ObjectId:
        """Return an object's name as it is in every run."""
        if object_id.name not in self._generated and not is_volatile(object_id.name, self._families):
            return object_id
        return ObjectId(object_id.resource, object_id.namespace, self.text(object_id.name))

    def text(self, text: str) -> str:
        """Return a text with canonical names, uids and addresses."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self._replace(text)
        return known

    def _replace(self, text: str) -> str:
        if text in self._generated:
            return self._name(text)
        if "." in text:
            text = _ADDRESSES.sub(lambda match: "<IP>" if match[0] in self._addresses else match[0], text)
        if "-" in text:
            text = _UUIDS.sub(lambda match: self._uid(match[0]), text)
        if self._generated:
            text = _WORD.sub(lambda match: self._word(match[0]), text)
        if self._gone is not None:
            text = self._gone.sub(self._gone_name, text)
        return text

    def _name(self, name: str) -> str:
        return self._word(self._generated[name]) + "*"

    def _gone_name(self, match: re.Match[str]) -> str:
        return match[0] if match[0] in self._taken else f"{self._word(match[1])}* (gone)"

    def _uid(self, uid: str) -> str:
        owner = self._uids.get(uid)
        return "<uid>" if owner is None else f"<uid of {self.canonical(owner)}>"

    def _word(self, word: str) -> str:
        """Replace the generated names that a word consists of, such as in ``data-web-x7k2p``; the longest first."""
        if word in self._generated:
            return self._name(word)
        parts = _SEPARATOR.split(word)
        for length in range(len(parts) - 2, 0, -2):
            for begin in range(0, len(parts) - length + 1, 2):
                if (found := "".join(parts[begin : begin + length])) in self._generated:
                    before, after = "".join(parts[:begin]), "".join(parts[begin + length :])
                    return self._word(before) + self._name(found) + self._word(after)
        return word


def _addresses_of(obj: Json) -> Iterator[str]:
    """Yield the addresses that the cluster gave to an object."""
    status, spec = obj.get("status"), obj.get("spec")
    for part in (status, spec):
        if isinstance(part, dict):
            for field in ("podIP", "hostIP", "clusterIP"):
                if isinstance(value := part.get(field), str) and value != "None":
                    yield value
    if isinstance(status, dict) and isinstance(balancer := status.get("loadBalancer"), dict):
        for ingress in balancer.get("ingress") or ():
            if isinstance(value := ingress.get("ip"), str):
                yield value
