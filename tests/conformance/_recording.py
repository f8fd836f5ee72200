"""Recordings of a real kube-apiserver, and what makes an observed answer the same as a recorded one.

Volatile values (uids, versions, times, generated names, addresses) become placeholders numbered by first appearance, on
both sides: what is compared is the relation between values, never their text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"

JSON = Any  # a decoded JSON value

_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
_ADDRESS = re.compile(r"^10\.0\.0\.\d+$")
_STEP = re.compile(r"\$\{([\w-]+):([^}]*)\}")
_TOKEN_LENGTH = 80  # a longer `token` is one that the server made


@dataclass(frozen=True)
class Case:
    """One scenario: steps in a namespace of its own, each with the answer that was recorded."""

    name: str
    namespace: str
    managed: bool  # whether managed fields are compared
    ignore: frozenset[str]
    steps: Sequence[JSON]
    has_controllers: bool = True  # whether a cluster's controllers run beside the server


def cases() -> list[Case]:
    """Read every recording."""
    return [_read(path) for path in sorted(CASES.glob("*.json"))]


def _read(path: Path) -> Case:
    case = json.loads(path.read_text())
    return Case(
        name=case["name"],
        namespace=case["namespace"],
        managed=case.get("managed", False),
        ignore=frozenset(case.get("ignore", ())),
        steps=case["steps"],
        has_controllers=case.get("controllers", True),
    )


# -- requests --------------------------------------------------------------------------------------------------------


def pointer(document: JSON, path: str) -> JSON:
    """Follow a JSON pointer."""
    for part in (part.replace("~1", "/").replace("~0", "~") for part in path.split("/") if part):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def fill(value: JSON, answers: Mapping[str, JSON]) -> JSON:
    """Replace `${step:/json/pointer}` in a request by what that step answered."""
    if isinstance(value, str):
        whole = _STEP.fullmatch(value)
        if whole:
            return pointer(answers[whole[1]]["body"], whole[2])
        return _STEP.sub(lambda match: str(pointer(answers[match[1]]["body"], match[2])), value)
    if isinstance(value, dict):
        return {fill(key, answers): fill(item, answers) for key, item in value.items()}
    return [fill(item, answers) for item in value] if isinstance(value, list) else value


def holds(observed: JSON, until: Mapping[str, JSON]) -> bool:
    """Whether an answer is what a step waits for."""
    if "code" in until and observed["code"] != until["code"]:
        return False
    if "pointer" not in until:
        return True
    absent: bool = until.get("absent", False)
    try:
        found = pointer(observed.get("body"), until["pointer"])
    except (KeyError, IndexError, TypeError):
        return absent
    return not absent and ("equals" not in until or found == until["equals"])


# -- set-up -----------------------------------------------------------------------------------------------------------


def setup_failures(steps: Sequence[JSON], answers: Sequence[JSON]) -> Iterator[str]:
    """Name the steps that later ones rely on and that failed: what follows them compares nothing.

    These are a create that was refused although a later step uses its object, a condition that never held, and a
    request that could not be filled in. A create that is meant to be refused has the mark `refused`.
    """
    refused: dict[str, str] = {}
    for step, answer in zip(steps, answers, strict=True):
        request, code = _request_of(step), answer["code"]
        if not code:
            yield f"{step['id']} was not sent: {answer.get('text')}"
        elif "eventually" in step and not holds(answer, step["eventually"]["until"]):
            yield f"{step['id']} waited for a condition that never held"
        for path, create in refused.items():
            if code == 404 and f"{request['path']}/".startswith(f"{path}/"):
                yield f"{step['id']} uses {path}, whose create {create} was refused"
        made = _created(request)
        if made and code >= 400 and code != 409 and not step.get("refused"):
            refused.setdefault(made, step["id"])
        elif code < 300:
            refused.pop(made or request["path"], None)


def _request_of(step: JSON) -> JSON:
    return next(step[form] for form in ("request", "eventually", "watch") if form in step)


def _created(request: JSON) -> str | None:
    """Give the path of the object that a request creates."""
    body = request.get("body")
    if request.get("method") != "POST" or body is None:
        return None
    try:
        name = (json.loads(body) if isinstance(body, str) else body)["metadata"]["name"]
    except (ValueError, KeyError, TypeError):
        return None
    return f"{request['path']}/{name}"


# -- answers ---------------------------------------------------------------------------------------------------------


def gist(answer: JSON) -> dict[str, JSON]:
    """Give the code and the reason of an answer."""
    body = answer.get("body")
    reason = body.get("reason") if isinstance(body, dict) and body.get("kind") == "Status" else None
    return {"code": answer["code"], "reason": reason}


def comparable(case: Case, steps: Sequence[JSON], answers: Sequence[JSON]) -> list[JSON]:
    """Give answers with placeholders for everything that differs from run to run."""
    placeholders, compared = _Placeholders(case), []
    for step, answer in zip(steps, answers, strict=True):
        if "eventually" in step:  # when it became true is chance: only that it did is compared
            compared.append({"code": answer["code"], "held": holds(answer, step["eventually"]["until"])})
            continue
        placeholders.number(answer)
        clean = placeholders.put_into(answer)
        compared.append(gist(answer) if step.get("loose") else clean)
    return compared


class _Placeholders:
    def __init__(self, case: Case) -> None:
        self._case = case
        self._names: dict[tuple[str, str], str] = {}

    def _placeholder(self, kind: str, value: str) -> str:
        count = sum(known == kind for known, _ in self._names)
        return self._names.setdefault((kind, value), f"<{kind}:{count + 1}>")

    def number(self, value: JSON) -> None:
        """Number volatile values in the order in which they appear."""
        if isinstance(value, list):
            for item in value:
                self.number(item)
        elif isinstance(value, dict):
            if _has_moving_version(value):
                metadata = {key: item for key, item in value["metadata"].items() if key != "resourceVersion"}
                value = {**value, "metadata": metadata}
            self._number_generated_name(value)
            for key in sorted(value):
                self._number_member(key, value[key])

    def _number_generated_name(self, value: Mapping[str, JSON]) -> None:
        prefix, name = value.get("generateName"), value.get("name")
        if isinstance(prefix, str) and isinstance(name, str) and name.startswith(prefix):
            self._placeholder("name", name)

    def _number_member(self, key: str, value: JSON) -> None:
        if not isinstance(value, str) or not value:
            if key != "managedFields" or self._case.managed:
                self.number(value)
        elif key in ("uid", "resourceVersion", "pod-template-hash"):
            self._placeholder({"resourceVersion": "rv", "pod-template-hash": "hash"}.get(key, key), value)
        elif key == "token" and len(value) > _TOKEN_LENGTH:
            self._placeholder("token", value)

    def put_into(self, value: JSON, key: str = "") -> JSON:
        """Replace volatile values, and leave out what is not compared."""
        if isinstance(value, list):
            return [self.put_into(item) for item in value]
        if isinstance(value, dict):
            if _has_moving_version(value):
                value = {**value, "metadata": {**value["metadata"], "resourceVersion": ""}}
            return {self._text(name): self.put_into(item, name) for name, item in value.items() if self._counts(name)}
        if isinstance(value, str):
            return self._scalar(value, key)
        return "<port>" if key == "nodePort" and value else value

    def _counts(self, key: str) -> bool:
        return key not in self._case.ignore and (key != "managedFields" or self._case.managed)

    def _scalar(self, value: str, key: str) -> str:
        if key == "resourceVersion" and value:
            return self._placeholder("rv", value)
        if key == "continue" and value:
            return "<continue>"
        if _TIME.match(value):
            return "<time>"
        if _ADDRESS.match(value):
            return "<ip>"
        return "<certificate>" if value.startswith("-----BEGIN CERTIFICATE-----") else self._text(value)

    def _text(self, value: str) -> str:
        for (kind, known), placeholder in sorted(self._names.items(), key=lambda entry: -len(entry[0][1])):
            if kind != "rv":
                value = value.replace(known, placeholder)
            elif len(known) > 2:  # a short version is any number
                value = re.sub(rf"(?<![\w.]){known}(?![\w.])", placeholder, value)
        return value


def _has_moving_version(value: Mapping[str, JSON]) -> bool:
    """Whether this is a list, a table or a bookmark: its version moves with whatever else the cluster does."""
    metadata = value.get("metadata")
    if not (isinstance(metadata, dict) and metadata.get("resourceVersion")):
        return False
    kind = str(value.get("kind", ""))
    is_end = "k8s.io/initial-events-end" in (metadata.get("annotations") or {})
    return kind.endswith("List") or kind == "Table" or is_end


def differences(want: JSON, got: JSON, path: str = "") -> Iterator[str]:
    """Tell each place where two answers differ."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted(want.keys() | got.keys()):
            if key not in got:
                yield f"{path}/{key}: missing, want {json.dumps(want[key])[:160]}"
            elif key not in want:
                yield f"{path}/{key}: not wanted, got {json.dumps(got[key])[:160]}"
            else:
                yield from differences(want[key], got[key], f"{path}/{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for index, (left, right) in enumerate(zip(want, got, strict=True)):
            yield from differences(left, right, f"{path}/{index}")
    elif want != got:
        yield f"{path}: want {json.dumps(want)[:300]} got {json.dumps(got)[:300]}"
