"""Send every verb to objects of each served kind, to a kube-apiserver and to `pyctrl apiserver`; print the differences.

    python tools/compare_verbs.py ASSETS [KIND ...]          # a directory with etcd and kube-apiserver
    python tools/compare_verbs.py --against REAL OURS [KIND ...]         # kubeconfigs of running servers
    python tools/compare_verbs.py ASSETS --scenario FILE ...       # scenarios of tests/conformance instead

A kind has a scenario with some 210 requests: creates, reads, lists, patches, applies, updates, watches and deletes,
valid and refused ones. Compared are the codes and the whole bodies, without what differs from run to run. The exit
status is 1 if an answer differs that `KNOWN` does not list.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import deepcopy
from itertools import chain, takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.conformance._recording import comparable, differences
from tests.conformance._sweep import Target
from tests.conformance.record import Run, Server, case_of
from tools._server_pair import PLAIN_TOKEN, Login, embedded_server, kube_apiserver, login_of
from tools._verb_steps import Subject, steps_of
from tools.compare_routes import DEFINITION
from tools.sweep import read_targets

JSON: TypeAlias = Any

CUSTOM = {"apiVersion": "routes.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}}
PARALLEL = 4  # scenarios; most of their time is that of watches
LONG, CONTEXT = 160, 60  # characters of a text that is cut, and of what is shown before a difference
DISCOVERY = Path(__file__).parents[1] / "src/pyctrl/_schemas/discovery.json"
#: What differs from run to run inside of messages and tables, and what replaces it.
VOLATILE = (
    (re.compile(r"(\d{4}|<rv:\d+>)-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "<time>"),  # a version may be the number of a year
    (re.compile(r"\b[0-9a-f]{8}(-([0-9a-f]{4}|<rv:\d+>)){3}-[0-9a-f]{12}\b"), "<uuid>"),  # as a name, or in a message
    (re.compile(r"(?<=rrent: )(\d+|<rv:\d+>)"), "<version>"),  # of "current"; `uid: u` is replaced in it, too
    (re.compile(r"(?<=too old resource version: 1 \()\d+"), "<version>"),
    (re.compile(r"\b10\.(0|99)\.0\.\d+|<ip>"), "<address>"),  # of a service, from any ServiceCIDR
    (re.compile(r"\b(253|<rv:\d+>)(?= characters)"), "<length>"),  # in a description, or a version's number
    (re.compile(r"\bmade-[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "made-<suffix>"),
    (re.compile(r"^(\d+m)?\d+s$|^\d+m$"), "<age>"),
    (re.compile(r"^(\d{3}|<rv:\d+>)(?=: (Not Acceptable|Unsupported Media Type))"), "<code>"),  # or a version's number
    (re.compile(r'\\?"managedFields\\?":\[[^\]]*\]'), "<managers>"),  # of an object in a message
)
#: Placeholders are numbered by first appearance: one answer with another version shifts the numbers of all later ones.
NUMBERED = re.compile(r"<(hash|name|rv|uid):\d+>")
#: Steps that write a new version or none: an apply without changes writes the time, in seconds, of its entry.
TIMED = re.compile(r"^apply-(fewer|same)$")
#: Patterns of a kind and a step, and why the answers differ.
KNOWN: tuple[tuple[str, str], ...] = (
    (
        r"^CustomResourceDefinition\.\S+ (finalizer|delete)-",
        "kube-apiserver removes the instances some time later",
    ),
    (r"^CustomResourceDefinition\.\S+ apply-", "kube-apiserver accepts the names some time later"),
    (r"^Namespace\.v1 watch-from$", "other scenarios create namespaces meanwhile"),
    (r"^(Namespace|Thing)\.\S+ watch-old$", "the watch cache of kube-apiserver starts some time later"),
)


def scenarios(kinds: Sequence[str]) -> Iterator[JSON]:
    """Yield a scenario for each kind, or for some."""
    first = {(each.body["apiVersion"], each.body["kind"]): each for each in reversed(read_targets(()))}
    targets = [*sorted(first.values()), custom_target()]
    parts = subresources()
    for each in targets:
        version, kind = each.body["apiVersion"], each.body["kind"]
        if kinds and kind not in kinds:
            continue
        name = f"{kind}-{version.replace('/', '-').replace('.', '-')}".lower()[:63]
        found = parts.get((version, kind), frozenset(("status",)))
        yield {
            "name": f"{kind}.{version}",
            "namespace": name,
            "managed": True,
            "controllers": False,
            "cleanup": [],
            "steps": list(steps_of(subject_of(each, name), found)),
        }


def grouped(chosen: Iterable[JSON]) -> list[list[JSON]]:
    """Return scenarios in groups: those of one kind run one after another, because its versions share objects."""
    groups: dict[str, list[JSON]] = {}
    for each in chosen:
        groups.setdefault(each["name"].partition(".")[0], []).append(each)
    return list(groups.values())


def custom_target() -> Target:
    """Return the object of a custom resource."""
    return Target("Thing", CUSTOM, "/apis/routes.example.com/v1/namespaces/x/things", "x")


def subject_of(target: Target, namespace: str) -> Subject:
    """Return a kind with three objects for its scenario, in a namespace."""
    collection = target.collection
    everywhere = collection
    if target.namespace:
        everywhere = collection.replace(f"/namespaces/{target.namespace}/", "/")
        collection = collection.replace(f"/namespaces/{target.namespace}/", f"/namespaces/{namespace}/")
    return Subject(
        collection, everywhere, namespace, tuple(body_of(target.body, number, namespace) for number in range(3))
    )


def body_of(base: JSON, number: int, namespace: str) -> JSON:
    """Return a body for the object with this number, in a namespace."""
    body = json.loads(json.dumps(base).replace('"namespace": "sweep"', f'"namespace": "{namespace}"'))
    metadata = body["metadata"]
    metadata.pop("namespace", None)
    metadata["labels"] = {**metadata.get("labels", {}), "verbs": "yes"}
    if body["kind"] == "CustomResourceDefinition":
        names = body["spec"]["names"]
        names.update(
            plural=f"verbs{number}s", singular=f"verbs{number}", kind=f"Verbs{number}", listKind=f"Verbs{number}List"
        )
        names.pop("shortNames", None)
        metadata["name"] = f"verbs{number}s.{body['spec']['group']}"
    elif body["kind"] == "APIService":
        body["spec"]["version"] = f"v{number + 1}"
        metadata["name"] = f"v{number + 1}.{body['spec']['group']}"
    elif body["kind"] == "IPAddress":
        metadata["name"] = f"10.9.8.{number + 1}"
    else:
        metadata["name"] = f"verbs-{number}"
    return body


def subresources() -> dict[tuple[str, str], frozenset[str]]:
    """Return the subresources of the built-in kinds."""
    found = {}
    for groups in json.loads(DISCOVERY.read_text()).values():
        for group in groups:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                api_version = f"{name}/{version['version']}" if name else version["version"]
                for each in version["resources"]:
                    parts = frozenset(part["subresource"] for part in each.get("subresources", ()))
                    found[api_version, each["responseKind"]["kind"]] = parts
    return found


def answers(login: Login, scenario: JSON) -> list[JSON]:
    """Run a scenario on a server; return its answers in a comparable form."""
    run = Run(Server(login.url, {"admin": login.token, "plain": PLAIN_TOKEN}), deepcopy(scenario))
    run.run()
    found = steady(comparable(case_of(scenario), run.steps, [without_versions(each) for each in run.observed]))
    return [(step["id"], each) for step, each in zip(run.steps, found, strict=True)]


def without_versions(answer: JSON) -> JSON:
    """Return an answer with each bookmark once and without its version: other scenarios write meanwhile."""
    if not isinstance(events := answer.get("events"), list):
        return answer
    kept: list[JSON] = []
    for event in events:
        if isinstance(event, dict) and event.get("type") == "BOOKMARK":
            metadata = {**event["object"]["metadata"], "resourceVersion": ""}
            event = {**event, "object": {**event["object"], "metadata": metadata}}
        if event not in kept[-1:]:
            kept.append(event)
    return {**answer, "events": kept}


def steady(value: JSON) -> JSON:
    """Return an answer without what differs from run to run inside of its texts."""
    if isinstance(value, dict):
        found = {key: steady(each) for key, each in value.items()}
        if isinstance(causes := found.get("causes"), list):  # conflicts come in random order
            found["causes"] = sorted(causes, key=_conflict)
        if entries := found.get("managedFields"):  # their order depends on the second of each write
            found["managedFields"] = sorted(entries, key=lambda each: json.dumps(each, sort_keys=True))
        return found
    if isinstance(value, list):
        return [steady(each) for each in value]
    if isinstance(value, str):
        for pattern, replacement in VOLATILE:
            value = pattern.sub(replacement, value)
    return value


def _conflict(cause: JSON) -> str:
    """Return the message of a cause that is the conflict of an apply; other causes keep their order."""
    return str(cause.get("message", "")) if cause.get("reason") == "FieldManagerConflict" else ""


def shortened(left: JSON, right: JSON) -> tuple[JSON, JSON]:
    """Return two answers with long texts cut to the place where they differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        both = {key: shortened(left[key], right[key]) for key in left.keys() & right.keys()}
        first, second = ({key: pair[side] for key, pair in both.items()} for side in range(2))
        return {**left, **first}, {**right, **second}
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        pairs = [shortened(*each) for each in zip(left, right, strict=True)]
        return [each for each, _ in pairs], [each for _, each in pairs]
    if not (isinstance(left, str) and isinstance(right, str)) or left == right or len(left) < LONG:
        return left, right
    equal = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
    start = max(0, equal - CONTEXT)
    return f"..{left[start:]}", f"..{right[start:]}"


def is_shifted(left: JSON, right: JSON) -> bool:
    """Return whether two answers differ in the numbers of placeholders only."""
    texts = (NUMBERED.sub(r"<\1>", json.dumps(each, sort_keys=True)) for each in (left, right))
    return len({*texts}) == 1


def compare(scenario: JSON, real: Login, own: Login, pattern: str, width: int) -> tuple[Counter[str], list[str]]:
    """Return counts and the differences between the answers of two servers."""
    with ThreadPoolExecutor(2) as pool:
        wanted, got = pool.map(lambda each: answers(each, scenario), (real, own))
    lines: list[str] = []
    counts: Counter[str] = Counter()
    has_shifted = False  # later differences of numbers alone follow from an earlier one
    for (name, left), (_, right) in zip(wanted, got, strict=True):
        request = f"{scenario['name']} {name}"
        counts["answers"] += 1
        if left == right or not re.search(pattern, request):
            continue
        is_follower = (has_shifted or TIMED.search(name) is not None) and is_shifted(left, right)
        has_shifted = True
        if is_follower:
            counts["numbered otherwise"] += 1
            continue
        known = any(re.search(each, request) for each, _ in KNOWN)
        counts["known differences" if known else "others"] += 1
        if not known:
            lines.append(request)
            lines += [f"    {each}"[:width] for each in list(differences(*shortened(left, right)))[:12]]
    return counts, lines


def prepare(login: Login) -> None:
    """Create the definition of the custom resource, and wait until it is served."""
    server = Server(login.url, {"admin": login.token})
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    server.call({"method": "POST", "path": path, "body": DEFINITION})
    while server.call({"path": "/apis/routes.example.com/v1/things"})["code"] != 200:
        pass  # the server serves it soon, and sends no event then


def main() -> int:
    """Compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", nargs="?", type=Path)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    parser.add_argument("--against", type=Path, nargs=2, metavar=("REAL", "OURS"))
    parser.add_argument("--scenario", type=Path, nargs="+", default=[], metavar="FILE")
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="print only the steps that match, such as `apply-`"
    )
    parser.add_argument("--width", type=int, default=400, help="characters of a difference to print")
    options = parser.parse_intermixed_args()
    kinds = [*options.kinds]
    if options.against and options.assets:
        kinds.insert(0, str(options.assets))
    counts: Counter[str] = Counter()
    with ExitStack() as stack:
        if options.against:
            real, own = map(login_of, options.against)
        else:
            real = stack.enter_context(kube_apiserver(options.assets))
            home = Path(stack.enter_context(TemporaryDirectory()))
            own = login_of(stack.enter_context(embedded_server(home, "--no-controllers", "--no-kubelet")))
        for each in (real, own):
            prepare(each)
        chosen = [json.loads(file.read_text()) for file in options.scenario] or scenarios(kinds)
        with ThreadPoolExecutor(PARALLEL) as pool:
            found = pool.map(
                lambda group: [compare(each, real, own, options.only, options.width) for each in group], grouped(chosen)
            )
            for more, lines in chain.from_iterable(found):
                counts += more
                print(*lines, sep="\n", end="\n" if lines else "", flush=True)
    print(*(f"{count} {name}" for name, count in counts.items()), sep=", ")
    return int(bool(counts["others"]))


if __name__ == "__main__":
    sys.exit(main())
