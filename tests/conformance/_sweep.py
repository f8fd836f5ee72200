"""Sweeps: answers to many small changes of a few objects, as a change of a base object and a change of its answer."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

JSON: TypeAlias = Any
Path_: TypeAlias = Sequence[str | int]
#: Sends a request (method, path, query, media type, body) and returns the code, the warnings and the body.
Send: TypeAlias = Callable[["Request"], Awaitable["Response"]]

FIELD_MANAGER = "sweep"
MERGES = ("merge-patch", "strategic-merge-patch")  # verbs that send the part that they write only
_PARALLEL = 8
_DISCOVERY = Path(__file__).parents[2] / "src/pyctrl/_schemas/discovery.json"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_VERSION = re.compile(r"(ResourceVersion in (?:record \(|object meta: ))\d+")
_PATCHED = re.compile(r'Invalid value: "\{.*\}": ', re.DOTALL)  # a whole object, with its versions and times
_KEY = re.compile(r"Key: /[^,]+")
_VOLATILE = frozenset(("resourceVersion", "managedFields", "selfLink", "token"))
_TIMES = frozenset(
    (
        "creationTimestamp",
        "deletionTimestamp",
        "lastTransitionTime",
        "lastUpdateTime",
        "lastPhaseTransitionTime",
        "expirationTimestamp",
    )
)
_NAMED_BY_SPEC = ("CustomResourceDefinition", "APIService", "IPAddress")
_ALLOCATED = {"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"}


class Request(NamedTuple):
    """A request of a sweep."""

    method: str
    path: str
    query: Mapping[str, str]
    media_type: str
    body: JSON


class Response(NamedTuple):
    """A response to such a request."""

    code: int
    warnings: Sequence[str]
    body: JSON


class Mutation(NamedTuple):
    """A change of one field: a new value, or none to remove it."""

    path: tuple[str | int, ...]
    value: tuple[JSON, ...]  # () removes the field

    def apply(self, base: JSON) -> JSON:
        """Return a changed copy of an object."""
        changed = deepcopy(base)
        *above, last = self.path
        parent = changed
        for key in above:
            parent = parent[key]
        if not self.value:
            del parent[last]
        elif isinstance(parent, list) and last == len(parent):
            parent.append(deepcopy(self.value[0]))
        else:
            parent[last] = deepcopy(self.value[0])
        return changed


class Target(NamedTuple):
    """A base object, or a body for one of its subresources, and where it is."""

    name: str
    body: JSON
    collection: str
    namespace: str
    subresource: str = ""

    @property
    def path(self) -> str:
        """The path of the object or subresource."""
        part = f"/{self.subresource}" if self.subresource else ""
        return f"{self.collection}/{self.body['metadata']['name']}{part}"

    @property
    def is_part(self) -> bool:
        """Return whether the body is a part of the object, and not an object of another kind."""
        return bool(self.subresource) and self.name.startswith(f"{self.body['kind']}.")


class Case(NamedTuple):
    """A request: a verb, on a base object with one change or without one."""

    target: Target
    verb: str
    mutation: Mutation | None


def targets(bodies: Sequence[JSON]) -> Iterator[Target]:
    """Yield the targets of base objects."""
    resources = _resources()
    for body in bodies:
        root, plural, is_namespaced = resources[body["apiVersion"], body["kind"]]
        namespace = body["metadata"].get("namespace", "sweep") if is_namespaced else ""
        scope = f"/namespaces/{namespace}" if is_namespaced else ""
        name = f"{body['kind']}.{body['apiVersion']}/{body['metadata']['name']}"
        yield Target(name, body, f"{root}{scope}/{plural}", namespace)


def parts(bodies: Sequence[JSON], found: Mapping[str, Target]) -> Iterator[Target]:
    """Yield the targets of bodies for subresources, each with the name of its base object."""
    for each in bodies:
        if (base := found.get(each["of"])) is not None:
            metadata = {key: value for key, value in base.body["metadata"].items() if key in ("name", "namespace")}
            type_meta = {key: base.body[key] for key in ("apiVersion", "kind")}
            body = {**type_meta, "metadata": metadata, **each["body"]}
            yield base._replace(name=f"{base.name}/{each['subresource']}", body=body, subresource=each["subresource"])


def _resources() -> dict[tuple[str, str], tuple[str, str, bool]]:
    found = {}
    for root, groups in json.loads(_DISCOVERY.read_text()).items():
        for group in groups:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                api_version = f"{name}/{version['version']}" if name else version["version"]
                for each in version["resources"]:
                    kind = (api_version, each["responseKind"]["kind"])
                    found[kind] = (f"{root}/{api_version}", each["resource"], each["scope"] == "Namespaced")
    return found


class Sweep:
    """A sweep of one server: its namespaces and base objects exist, then answers are read."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._stored: dict[str, JSON] = {}
        self._base_answers: dict[tuple[str, str], JSON] = {}

    async def set_up(self, targets: Sequence[Target]) -> dict[str, Response]:
        """Create the namespaces and the base objects, and return the answers by target."""
        for namespace in dict.fromkeys(each.namespace for each in targets if each.namespace):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            await self._send(Request("POST", "/api/v1/namespaces", {}, "application/json", body))
        found = {}
        for target in targets:
            if target.subresource:
                continue
            answer = await self._send(Request("POST", target.collection, {}, "application/json", target.body))
            if answer.code != 201:
                again = await self._send(Request("GET", target.path, {}, "", None))
                answer = again if again.code == 200 else answer
            found[target.name] = answer
        for target in targets:  # read last, as some objects get a status after they are created
            path = target.path.removesuffix(f"/{target.subresource}")
            self._stored[target.name] = (await self._send(Request("GET", path, {}, "", None))).body
        return found

    async def answers(self, cases: Sequence[Case]) -> list[JSON]:
        """Return the answers to requests; None where a mutation does not fit the stored object."""
        found: list[JSON] = [None] * len(cases)
        for index, case in enumerate(cases):
            if case.mutation is None:  # first, as the others are differences to these
                found[index] = await self.answer(*case)
        pending = iter([each for each in enumerate(cases) if each[1].mutation is not None])

        async def work() -> None:
            for index, case in pending:
                with suppress(KeyError, IndexError, TypeError):
                    found[index] = await self.answer(*case)

        async with asyncio.TaskGroup() as group:
            for _ in range(_PARALLEL):
                group.create_task(work())
        return found

    async def answer(self, target: Target, verb: str, mutation: Mutation | None) -> JSON:
        """Return the answer to a changed object: an error, or how the result differs from that of the base object."""
        base = self._base(target, verb)
        body = mutation.apply(base) if mutation else base
        if isinstance(body.get("metadata"), dict) and verb != "update" and not target.subresource:
            body = {**body, "metadata": {**body["metadata"]}}
            is_base_name = body["metadata"].get("name") == target.body["metadata"]["name"]
            if is_base_name and verb != "apply" and target.body["kind"] not in _NAMED_BY_SPEC:
                body["metadata"]["name"] += "-x"
        if verb in MERGES:
            body = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
        response = await self._send(_request(target, verb, body))
        if not 200 <= response.code < 300:
            return _with_warnings(error_of(response), response)
        if mutation is None:
            result = comparable(response.body)
            self._base_answers[target.name, verb] = result
            return _with_warnings({"object": result}, response)
        found = list(changes(self._base_answers.get((target.name, verb)), comparable(response.body), ()))
        return _with_warnings({"code": response.code, "changes": found}, response)

    def _base(self, target: Target, verb: str) -> JSON:
        """Return the body that a mutation changes: for an update, the stored object."""
        if verb != "update" or (target.subresource and not target.is_part):
            return target.body
        base = {key: value for key, value in self._stored[target.name].items() if key != "status"}
        base["metadata"] = {key: value for key, value in base["metadata"].items() if key != "managedFields"}
        if target.is_part:
            base |= {key: value for key, value in target.body.items() if key != "metadata"}
        return base


def _request(target: Target, verb: str, body: JSON) -> Request:
    query = {"dryRun": "All"}
    if verb == "create":
        return Request(
            "POST", target.path if target.subresource else target.collection, query, "application/json", body
        )
    if verb == "strict":
        return Request("POST", target.collection, {**query, "fieldValidation": "Strict"}, "application/json", body)
    if verb == "update":
        return Request("PUT", target.path, query, "application/json", body)
    if verb in MERGES:
        return Request("PATCH", target.path, query, f"application/{verb}+json", body)
    manager = {"fieldManager": FIELD_MANAGER, "force": "true"}
    return Request("PATCH", target.path, {**query, **manager}, "application/apply-patch+yaml", body)


def error_of(response: Response) -> JSON:
    """Return a Status without what every failure has and what its causes repeat."""
    body = response.body
    if not isinstance(body, dict):
        return {"code": response.code, "text": body}
    details = body.get("details") or {}
    found: dict[str, JSON] = {"code": response.code, "reason": body.get("reason"), "message": body.get("message", "")}
    causes = [
        [each.get("reason"), each.get("field"), _PATCHED.sub("Invalid value: OBJECT: ", each.get("message") or "")]
        for each in details.get("causes") or ()
    ]
    found["message"] = _PATCHED.sub("Invalid value: OBJECT: ", found["message"])
    if causes:
        found["causes"] = causes
        told = list(dict.fromkeys(f"{field}: {message}" for _, field, message in causes))
        whole = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
        if found["message"].endswith(f" is invalid: {whole}"):
            found["message"] = found["message"].removesuffix(whole)
    rest = {key: value for key, value in details.items() if key != "causes"}
    if rest:
        found["details"] = rest
    return _masked(found)


def _with_warnings(answer: JSON, response: Response) -> JSON:
    if response.warnings:
        answer["warnings"] = list(response.warnings)
    return answer


def comparable(value: JSON, key: str = "") -> JSON:
    """Return a result without values that differ from server to server."""
    if isinstance(value, dict):
        return {name: comparable(each, name) for name, each in value.items() if name not in _VOLATILE}
    if isinstance(value, list) and key not in _ALLOCATED:
        return [comparable(each) for each in value]
    if key in _ALLOCATED and value not in ("None", ""):
        return "ALLOCATED"
    if key in _TIMES and value is not None:
        return "TIME"
    return _masked(value)


def _masked(value: JSON) -> JSON:
    if isinstance(value, str):
        value = _KEY.sub("Key: KEY", value)  # a dry run has another prefix
        value = _VERSION.sub(r"\1VERSION", value)
        return _UUID.sub(lambda found: found[0] if len(set(found[0])) == 2 else "UID", value)
    if isinstance(value, list):
        return [_masked(each) for each in value]
    if isinstance(value, dict):
        return {key: _masked(each) for key, each in value.items()}
    return value


def changes(before: JSON, after: JSON, path: tuple[str | int, ...]) -> Iterator[JSON]:
    """Yield the paths of the values that differ, each with the new value if there is one."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key not in after:
                yield ["/".join(map(str, (*path, key)))]
            elif key not in before:
                yield ["/".join(map(str, (*path, key))), after[key]]
            else:
                yield from changes(before[key], after[key], (*path, key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from changes(old, new, (*path, index))
    elif before != after or type(before) is not type(after):
        yield ["/".join(map(str, path)), after]
