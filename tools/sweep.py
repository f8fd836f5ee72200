"""Compare defaults and validation with a kube-apiserver: thousands of objects, each with one field changed.

    python tools/sweep.py record ANSWERS.json --assets DIR [KIND ...]
    python tools/sweep.py compare ANSWERS.json [--full] [KIND ...]
    python tools/sweep.py keep ANSWERS.json --out DIR

`record` starts etcd and kube-apiserver from DIR and writes its answers. `compare` asks the embedded server the same and
prints the differences, grouped. All requests are dry runs. The objects are in `tools/sweep_objects`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import re
import ssl
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random

import aiohttp
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from pyctrl.apiserver import ApiServer
from pyctrl.testing._cluster.control_plane import control_plane
from tests.conformance import _sweep
from tests.conformance._sweep import JSON, Mutation, Request, Response, Sweep, Target
from tools._sweep_mutations import mutations

logging.disable()
OBJECTS = Path(__file__).parent / "sweep_objects"
PARALLEL = 8


def bases(kinds: Sequence[str]) -> list[Target]:
    bodies = [each for file in sorted(OBJECTS.glob("*.yaml")) for each in yaml.safe_load_all(file.read_text())]
    found = list(_sweep.targets(bodies))
    return [each for each in found if not kinds or each.body["kind"] in kinds or each.name in kinds]


def cases(target: Target, server: ApiServer, random: Random, limit: int) -> list[tuple[str, Mutation | None]]:
    group, _, version = target.body["apiVersion"].rpartition("/")
    kind = server.registry.by_kind(group, version, target.body["kind"])
    found: dict[str, Mutation] = {}
    for each in mutations(kind.schema, target.body):
        found.setdefault(json.dumps(each), each)
    chosen = list(found.values())
    if len(chosen) > limit:
        chosen = sorted(random.sample(chosen, limit), key=lambda each: list(map(str, each.path)))
    plan: list[tuple[str, Mutation | None]] = [("create", None), ("update", None), ("apply", None)]
    for each in chosen:
        if each.path[-1] == "bogus":
            plan.append(("strict", each))
        plan.append(("create", each))
        if each.path[:2] != ("metadata", "name") and random.random() < 0.5:
            plan.append(("update", each))
        if random.random() < 0.04:
            plan.append(("apply", each))
    return plan


async def run(sweep: Sweep, plan: Sequence[tuple[Target, str, Mutation | None]]) -> list[JSON]:
    answers: list[JSON] = [None] * len(plan)
    pending = iter(enumerate(plan))

    async def work(first_only: bool) -> None:
        for index, (target, verb, mutation) in pending:
            try:
                answers[index] = await sweep.answer(target, verb, mutation)
            except (KeyError, IndexError, TypeError, aiohttp.ClientError) as error:
                answers[index] = {"unfit": repr(error)}

    order = sorted(range(len(plan)), key=lambda index: plan[index][2] is not None)
    for index in order:
        if plan[index][2] is None:
            target, verb, mutation = plan[index]
            answers[index] = await sweep.answer(target, verb, mutation)
    pending = iter([(index, plan[index]) for index in order if plan[index][2] is not None])
    async with asyncio.TaskGroup() as group:
        for _ in range(PARALLEL):
            group.create_task(work(False))
    return answers


def http_sender(session: aiohttp.ClientSession, url: str, context: ssl.SSLContext):
    async def send(request: Request) -> Response:
        headers = {"Accept": "application/json"}
        data = None
        if request.body is not None:
            headers["Content-Type"] = request.media_type
            data = json.dumps(request.body).encode()
        async with session.request(
            request.method, url + request.path, params=request.query, data=data, headers=headers, ssl=context
        ) as answer:
            raw = await answer.read()
            warnings = sorted(answer.headers.getall("Warning", []))
            try:
                body = json.loads(raw)
            except ValueError:
                body = raw.decode()
            return Response(answer.status, warnings, body)

    return send


def sender(server: ApiServer):
    async def send(request: Request) -> Response:
        headers = {"Accept": "application/json"}
        data = b""
        if request.body is not None:
            headers["Content-Type"] = request.media_type
            data = json.dumps(request.body).encode()
        answer = await server.handle(request.method, request.path, list(request.query.items()), headers, data)
        warnings = sorted(value for name, value in answer.headers if name == "Warning")
        try:
            body = json.loads(answer.body)
        except ValueError:
            body = answer.body.decode()
        return Response(answer.status, warnings, body)

    return send


async def record(arguments: argparse.Namespace) -> None:
    server = ApiServer(random=Random(1))
    random = Random(arguments.seed)
    found = bases(arguments.kinds)
    plan = [(each, *case) for each in found for case in cases(each, server, random, arguments.limit)]
    context = ssl.create_default_context(cafile=arguments.ca)
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {arguments.token}"}) as session:
        sweep = Sweep(http_sender(session, arguments.url, context))
        set_up = await sweep.set_up(found)
        for name, answer in set_up.items():
            if answer.code not in (200, 201):
                print("SETUP", name, answer.code, answer.body.get("message", ""))
        answers = await run(sweep, plan)
    written = {
        "bases": [each.body for each in found],
        "answers": [
            [target.name, verb, mutation and list(mutation), answer]
            for (target, verb, mutation), answer in zip(plan, answers, strict=True)
            if "unfit" not in answer
        ],
    }
    arguments.answers.write_text(json.dumps(written))
    print(len(answers), "answers")


async def compare(arguments: argparse.Namespace) -> int:
    recorded = json.loads(arguments.answers.read_text())
    server = ApiServer(random=Random(1))
    found = {each.name: each for each in _sweep.targets(recorded["bases"])}
    if arguments.kinds:
        found = {k: v for k, v in found.items() if v.body["kind"] in arguments.kinds or k in arguments.kinds}
    rows = [each for each in recorded["answers"] if each[0] in found]
    plan = [
        (found[name], verb, Mutation(tuple(mutation[0]), tuple(mutation[1])) if mutation else None)
        for name, verb, mutation, _ in rows
    ]
    sweep = Sweep(sender(server))
    set_up = await sweep.set_up(list(found.values()))
    for name, answer in set_up.items():
        if answer.code not in (200, 201):
            print("SETUP", name, answer.code, answer.body.get("message", ""))
    answers = await run(sweep, plan)
    groups: dict[str, list[str]] = defaultdict(list)
    count: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for (name, verb, mutation, wanted), got in zip(rows, answers, strict=True):
        wanted = _sweep.comparable(wanted)
        got = json.loads(json.dumps(got))
        total[name.split("/")[0]] += 1
        if got == wanted:
            continue
        count[name.split("/")[0]] += 1
        want_text, got_text = shown(wanted, got)
        shape = re.sub(r"\d+", "#", f"{want_text} || {got_text}")
        shape = re.sub(r'"[^"]*"', '"S"', shape)
        if arguments.without and re.search(arguments.without, f"{want_text} {got_text}"):
            continue
        if arguments.grep and not re.search(arguments.grep, f"{name} {verb} {want_text} {got_text}"):
            continue
        where = (
            ".".join(map(str, mutation[0])) + "=" + (json.dumps(mutation[1][0])[:30] if mutation[1] else "-")
            if mutation
            else "BASE"
        )
        groups[shape].append(
            f"{name} {verb} {where}\n      want {want_text[: arguments.width]}\n      got  {got_text[: arguments.width]}"
        )
    for shape, each in sorted(groups.items(), key=lambda item: -len(item[1]))[: arguments.top]:
        print(f"{len(each):5} {each[0]}")
        for more in each[1 : arguments.more]:
            print("        also", more.split("\n")[0])
    print("differences", sum(count.values()), "of", sum(total.values()), "groups", len(groups))
    if not arguments.kinds:
        print(*(f"{name} {number}/{total[name]};" for name, number in count.most_common()))
    return sum(count.values())


def shown(wanted: JSON, got: JSON) -> tuple[str, str]:
    """Print the parts that differ."""
    if "object" in wanted and "object" in got:
        left = list(_sweep._changes(got["object"], wanted["object"], ()))
        right = list(_sweep._changes(wanted["object"], got["object"], ()))
        return json.dumps(left)[:900], json.dumps(right)[:900]
    if "causes" in wanted and "causes" in got:
        only = [each for each in wanted["causes"] if each not in got["causes"]]
        mine = [each for each in got["causes"] if each not in wanted["causes"]]
        if only or mine:
            return json.dumps(only)[:700], json.dumps(mine)[:700]
    if "changes" in wanted and "changes" in got:
        only = [each for each in wanted["changes"] if each not in got["changes"]]
        mine = [each for each in got["changes"] if each not in wanted["changes"]]
        if only or mine:
            return json.dumps(only)[:700], json.dumps(mine)[:700]
        keys = ("warnings", "code")
        return json.dumps([wanted.get(k) for k in keys]), json.dumps([got.get(k) for k in keys])
    return json.dumps(wanted)[:700], json.dumps(got)[:700]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("record", "compare"))
    parser.add_argument("answers", type=Path)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--assets", type=Path)
    parser.add_argument("--limit", type=int, default=1500, help="mutations of one object")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--grep")
    parser.add_argument("--without")
    parser.add_argument("--width", type=int, default=330)
    parser.add_argument("--top", type=int, default=60)
    parser.add_argument("--more", type=int, default=3)
    parser.add_argument("--url")
    parser.add_argument("--token")
    parser.add_argument("--ca")
    arguments = parser.parse_args()
    if arguments.command == "compare":
        return int(asyncio.run(compare(arguments)) > 0)
    if arguments.url:
        asyncio.run(record(arguments))
        return 0
    with tempfile.TemporaryDirectory() as directory:
        for name in ("etcd", "kube-apiserver"):
            os.symlink(arguments.assets / name, Path(directory) / name)
        with control_plane(Path(directory)) as plane:
            arguments.url, arguments.token, arguments.ca = plane.url, plane.token, plane.ca_file
            asyncio.run(record(arguments))
    return 0


if __name__ == "__main__":
    sys.exit(main())
