"""Compare defaults and validation with a kube-apiserver: thousands of objects, each with one field changed.

    python tools/sweep.py record ANSWERS.json --assets DIR [KIND ...]
    python tools/sweep.py compare ANSWERS.json [KIND ...]
    python tools/sweep.py keep ANSWERS.json

`record` starts etcd and kube-apiserver from DIR and writes its answers. `compare` sends the same requests to the
embedded server and prints the differences, grouped; it fails unless each of them is in
`tools/sweep_objects/known_differences.yaml`. `keep` writes a sample, which `tests/conformance/test_sweeps.py` checks.
All requests are dry runs, and the objects are in `tools/sweep_objects`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import ssl
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

import aiohttp
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._registry.resource_registry import builtin_components
from tests.conformance._sweep import JSON, MERGES, Case, Request, Response, Send, Sweep, Target, parts, targets
from tests.conformance._sweep_samples import (
    bases_of,
    cases_of,
    choose_sample,
    embedded_sender,
    targets_of,
    write_sample,
)
from tools._server_pair import Login, kube_apiserver
from tools._sweep_mutations import NEVER_CHANGED, mutations
from tools._sweep_report import Report

OBJECTS = Path(__file__).parent / "sweep_objects"
KNOWN = "known_differences.yaml"
PARTS = "subresources.yaml"
PANICKED = 0  # the code of a request that kube-apiserver ended without an answer; such answers are not recorded
SHARE_UPDATED, SHARE_APPLIED = 0.5, 0.04  # of the mutations that are created, too
SHARE_PATCHED = 0.1  # of the mutations of a subresource that is updated
POSTED = ("binding", "eviction", "token")  # subresources that are created


def read_targets(kinds: Sequence[str]) -> list[Target]:
    """Return the base objects of the kinds, or of all kinds."""
    files = sorted(each for each in OBJECTS.glob("*.yaml") if each.name not in (KNOWN, PARTS))
    found = targets([each for file in files for each in yaml.safe_load_all(file.read_text())])
    return [each for each in found if not kinds or each.body["kind"] in kinds]


def read_parts(found: Sequence[Target]) -> list[JSON]:
    """Return the bodies for subresources of the base objects."""
    chosen = {each.name for each in found}
    return [each for each in yaml.safe_load((OBJECTS / PARTS).read_text()) if each["of"] in chosen]


def plan_part(target: Target, random: Random, limit: int) -> list[Case]:
    """Return the requests for a subresource, those of the unchanged body first."""
    group, _, version = target.body["apiVersion"].rpartition("/")
    components = builtin_components()
    _, api, *above = target.collection.split("/")
    document = f"core_{above[0]}" if api == "api" else "_".join(above[:2])  # also has the bodies of other groups
    schema = components.kind(document, group, version, target.body["kind"])
    assert schema is not None, f"{target.name} has no schema"
    found = mutations(schema, target.body, skipped=(("metadata",),) if target.is_part else NEVER_CHANGED)
    chosen = list(
        {json.dumps(each): each for each in found if not target.is_part or each.path[0] in target.body}.values()
    )
    if len(chosen) > limit:
        chosen = sorted(random.sample(chosen, limit), key=lambda each: list(map(str, each.path)))
    verbs = ("create",) if target.subresource in POSTED else ("update", "apply", *MERGES)
    plan = [Case(target, verb, None) for verb in verbs]
    for each in chosen:
        plan.append(Case(target, verbs[0], each))
        plan += [Case(target, verb, each) for verb in verbs[1:] if random.random() < SHARE_PATCHED]
    return plan


def plan_cases(target: Target, server: ApiServer, random: Random, limit: int) -> list[Case]:
    """Return the requests for one base object, those of the unchanged object first."""
    group, _, version = target.body["apiVersion"].rpartition("/")
    kind = server.registry.by_kind(group, version, target.body["kind"])
    assert kind is not None, f"{target.name} is not served"
    chosen = list({json.dumps(each): each for each in mutations(kind.schema, target.body)}.values())
    if len(chosen) > limit:
        chosen = sorted(random.sample(chosen, limit), key=lambda each: list(map(str, each.path)))
    plan = [Case(target, verb, None) for verb in ("create", "update", "apply")]
    for each in chosen:
        if each.path[-1] == "bogus":
            plan.append(Case(target, "strict", each))
        plan.append(Case(target, "create", each))
        if each.path[:2] != ("metadata", "name") and random.random() < SHARE_UPDATED:
            plan.append(Case(target, "update", each))
        if random.random() < SHARE_APPLIED:
            plan.append(Case(target, "apply", each))
    return plan


def http_sender(session: aiohttp.ClientSession, url: str, context: ssl.SSLContext) -> Send:
    """Return a function that sends requests to a server."""

    async def send(request: Request) -> Response:
        headers = {"Accept": "application/json"}
        data = None
        if request.body is not None:
            headers["Content-Type"] = request.media_type
            data = json.dumps(request.body, separators=(",", ":")).encode()  # as Go clients do
        try:
            async with session.request(
                request.method, url + request.path, params=dict(request.query), data=data, headers=headers, ssl=context
            ) as answer:
                raw = await answer.read()
        except aiohttp.ServerDisconnectedError:
            return Response(PANICKED, [], "")
        warnings = sorted(answer.headers.getall("Warning", []))
        try:
            body = json.loads(raw)
        except ValueError:
            body = raw.decode()
        return Response(answer.status, warnings, body)

    return send


async def set_up(sweep: Sweep, found: Sequence[Target]) -> None:
    """Create the base objects, and print those that a server refuses."""
    for name, answer in (await sweep.set_up(found)).items():
        if answer.code not in (200, 201):
            print("not created:", name, answer.code, answer.body.get("message", ""))


async def record(arguments: argparse.Namespace, real: Login) -> None:
    """Write the answers of a server."""
    server, random = ApiServer(random=Random(1)), Random(arguments.seed)
    found = read_targets(arguments.kinds)
    plan = [case for each in found for case in plan_cases(each, server, random, arguments.limit)]
    bodies = read_parts(found)
    subresources = list(parts(bodies, {each.name: each for each in found}))
    plan += [case for each in subresources for case in plan_part(each, random, arguments.limit)]
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {real.token}"}) as session:
        sweep = Sweep(http_sender(session, real.url, real.context))
        await set_up(sweep, [*found, *subresources])
        answers = await sweep.answers(plan)
    rows = [
        [case.target.name, case.verb, case.mutation and list(case.mutation), answer]
        for case, answer in zip(plan, answers, strict=True)
        if answer is not None and answer.get("code") != PANICKED
    ]
    arguments.answers.write_text(json.dumps({"bases": [each.body for each in found], "parts": bodies, "answers": rows}))
    print(len(rows), "answers")


async def compare(recorded: JSON, arguments: argparse.Namespace) -> Report:
    """Send the recorded requests to the embedded server and compare the answers."""
    cases, wanted = cases_of(recorded, arguments.kinds)
    sweep = Sweep(embedded_sender())
    await set_up(sweep, bases_of(recorded, targets_of(cases)))
    report = Report(yaml.safe_load((OBJECTS / KNOWN).read_text()))
    for case, expected, got in zip(cases, wanted, await sweep.answers(cases), strict=True):
        report.add(case, expected, got)
    return report


def main() -> int:
    """Run a command; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("record", "compare", "keep"))
    parser.add_argument("answers", type=Path)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--assets", type=Path, help="the directory of etcd and kube-apiserver")
    parser.add_argument("--limit", type=int, default=250, help="mutations of one object")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grep", default="", help="print only the differences that match")
    parser.add_argument("--width", type=int, default=330, help="characters of an answer to print")
    parser.add_argument("--top", type=int, default=60, help="groups to print")
    arguments = parser.parse_args()
    logging.disable()
    if arguments.command == "record":
        with kube_apiserver(arguments.assets) as real:
            asyncio.run(record(arguments, real))
        return 0
    recorded = json.loads(arguments.answers.read_text())
    report = asyncio.run(compare(recorded, arguments))
    if arguments.command == "keep":
        write_sample(choose_sample(recorded, report.equal))
        return 0
    report.print(top=arguments.top, width=arguments.width, grep=arguments.grep)
    return int(bool(report.groups))


if __name__ == "__main__":
    sys.exit(main())
