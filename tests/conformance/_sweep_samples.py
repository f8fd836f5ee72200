"""Samples of sweeps: recorded answers that are kept, and the requests that they answer."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random

from pyctrl.apiserver import ApiServer, User
from tests.conformance._sweep import JSON, Case, Mutation, Request, Response, Send, Target, comparable, parts, targets

SAMPLES = Path(__file__).parent / "sweeps"
_MOST_KEPT = 10  # of one base object
_TOKEN, _USER = "admin-token", User(name="admin", uid="admin", groups=("system:masters", "system:authenticated"))
_LONGEST_KEPT = 700  # characters of a row


def embedded_sender() -> Send:
    """Return a function that sends requests to a new embedded server, as the user of the recordings."""
    server = ApiServer(random=Random(1), tokens={_TOKEN: _USER})

    async def send(request: Request) -> Response:
        headers = {"Accept": "application/json", "Authorization": f"Bearer {_TOKEN}"}
        data = b""
        if request.body is not None:
            headers["Content-Type"] = request.media_type
            data = json.dumps(request.body, separators=(",", ":")).encode()  # as Go clients do
        answer = await server.handle(request.method, request.path, list(request.query.items()), headers, data)
        assert isinstance(answer.body, bytes)
        warnings = sorted(value for name, value in answer.headers if name == "Warning")
        try:
            body = json.loads(answer.body)
        except ValueError:
            body = answer.body.decode()
        return Response(answer.status, warnings, body)

    return send


def cases_of(recorded: JSON, kinds: Sequence[str] = ()) -> tuple[list[Case], list[JSON]]:
    """Return the requests of a recording for some kinds, or for all, and their answers."""
    found = {each.name: each for each in targets(recorded["bases"]) if not kinds or each.body["kind"] in kinds}
    found |= {each.name: each for each in parts(recorded.get("parts", ()), found)}
    cases, answers = [], []
    for name, verb, mutation, answer in recorded["answers"]:
        if name in found:
            change = Mutation(tuple(mutation[0]), tuple(mutation[1])) if mutation else None
            cases.append(Case(found[name], verb, change))
            answers.append(answer)
    return cases, answers


def targets_of(cases: Sequence[Case]) -> list[Target]:
    """Return the base objects of requests, each once."""
    return list({each.target.name: each.target for each in cases}.values())


def bases_of(recorded: JSON, chosen: Sequence[Target]) -> list[Target]:
    """Return the targets, and before them the base objects whose subresources they are."""
    found = {each.name: each for each in targets(recorded["bases"])}
    above = [found[each.name.removesuffix(f"/{each.subresource}")] for each in chosen if each.subresource]
    return list({each.name: each for each in (*above, *chosen)}.values())


def choose_sample(recorded: JSON, is_equal: Sequence[bool]) -> JSON:
    """Return a recording with a few answers to each base object, of different forms.

    Args:
        is_equal: For each answer, whether the embedded server gives it.
    """
    forms: dict[str, dict[str, list[JSON]]] = defaultdict(dict)
    for row, equal in zip(recorded["answers"], is_equal, strict=True):
        name, verb, mutation, answer = row
        short = [name, verb, mutation, comparable(answer)]
        if not equal or (mutation and len(json.dumps(short)) > _LONGEST_KEPT):
            continue
        form = re.sub(r'\\?"[^"]*"', '"S"', re.sub(r"\d+", "#", json.dumps(answer)))
        forms[name].setdefault(f"{verb} {mutation is None} {form}", short)
    kept = []
    for rows in forms.values():
        unchanged = [each for each in rows.values() if each[2] is None]
        verbs = {"strict", *(each[1] for each in unchanged)}  # the other answers are differences to these
        others = [each for each in rows.values() if each[2] is not None and each[1] in verbs]
        step = max(1, len(others) // _MOST_KEPT)
        kept += [*unchanged, *others[::step][:_MOST_KEPT]]
    return {"bases": recorded["bases"], "parts": recorded.get("parts", []), "answers": kept}


def write_sample(sample: JSON) -> None:
    """Write a sample, a file for each kind with a line for each answer."""
    SAMPLES.mkdir(exist_ok=True)
    for old in SAMPLES.glob("*.json"):
        old.unlink()
    for kind in dict.fromkeys(each["kind"] for each in sample["bases"]):
        bases = [each for each in sample["bases"] if each["kind"] == kind]
        rows = [each for each in sample["answers"] if each[0].partition(".")[0] == kind]
        lines = ",\n".join(json.dumps(each, ensure_ascii=False, sort_keys=True) for each in rows)
        parts = [each for each in sample["parts"] if each["of"].partition(".")[0] == kind]
        heads = (
            f'"{key}": {json.dumps(value, ensure_ascii=False)},' for key, value in (("bases", bases), ("parts", parts))
        )
        text = '{{{}\n"answers": [\n{}\n]}}\n'.format("\n".join(heads), lines)
        (SAMPLES / f"{kind.lower()}.json").write_text(text, "utf-8")


def sampled_kinds() -> list[str]:
    """Return the kinds of the sample, in lower case."""
    return sorted(each.stem for each in SAMPLES.glob("*.json"))


def read_sample(kind: str) -> JSON:
    """Return the sample of a kind."""
    return json.loads((SAMPLES / f"{kind}.json").read_text("utf-8"))
