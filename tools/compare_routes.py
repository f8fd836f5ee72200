"""Send every method to every form of path, to a kube-apiserver and to the embedded server, and print the differences.

    python tools/compare_routes.py ASSETS                            # a directory with etcd and kube-apiserver
    python tools/compare_routes.py --against KUBECONFIG --only PATTERN    # a running server, some requests

Compared are the status code, the content type, the header Allow, and the reason and message of a Status. All requests
are dry runs without a body. The exit status is 1 if an answer differs that `KNOWN` does not list.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import ssl
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

sys.path.insert(0, str(Path(__file__).parents[1]))

from pyctrl.apiserver import ApiServer, User, serve
from tools._server_pair import Login, kube_apiserver, login_of

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "NOPE")
CORE, APPS, GROUP = "/api/v1", "/apis/apps/v1", "/apis/routes.example.com"
DEFAULT = f"{CORE}/namespaces/default"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.routes.example.com"},
    "spec": {
        "group": "routes.example.com",
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                "subresources": {"status": {}},
            }
        ],
    },
}
PATHS = (
    *("/", "/api", "/api/", "/api/v1", "/api/v1/", "/api/v2", "/apis", "/apis/", "/apis/apps", "/apis/apps/"),
    *(
        "/apis/apps/v1",
        "/apis/apps/v1/",
        "/apis/apps/v9",
        "/apis/nope",
        "/apis/nope/v1",
        "/nope",
        "/version",
        "/version/",
    ),
    *("/healthz", "/healthz/ping", "/healthz/nope", "/livez", "/readyz", "/metrics", "/statusz", "/openapi/v2"),
    *("/openapi/v3", "/openapi/v3/api/v1", "/openapi/v3/nope", "/openid/v1/jwks", "/.well-known/openid-configuration"),
    *(f"{CORE}/namespaces", f"{CORE}/namespaces/", DEFAULT, f"{DEFAULT}/", f"{DEFAULT}/status", f"{DEFAULT}/finalize"),
    *(f"{DEFAULT}/nope", f"{CORE}/nodes", f"{CORE}/nodes/n", f"{CORE}/nodes/n/status", f"{CORE}/nodes/n/nope"),
    *(
        f"{CORE}/pods",
        f"{CORE}/pods/p",
        f"{DEFAULT}/pods",
        f"{DEFAULT}/pods/",
        f"{DEFAULT}/pods/p",
        f"{DEFAULT}/pods/p/",
    ),
    *(f"{DEFAULT}/pods/p/{each}" for each in ("status", "log", "eviction", "binding", "exec", "ephemeralcontainers")),
    *(f"{DEFAULT}/pods/p/{each}" for each in ("resize", "attach", "portforward", "nope", "status/x", "log/x")),
    *(f"{DEFAULT}/services/s", f"{DEFAULT}/services/s/status", f"{DEFAULT}/serviceaccounts/default/token"),
    *(f"{DEFAULT}/nodes", f"{DEFAULT}/nodes/n", f"{CORE}/bindings", f"{DEFAULT}/bindings", f"{CORE}/componentstatuses"),
    *(f"{CORE}/nope", f"{DEFAULT}/configmaps/c/status", f"{DEFAULT}/events", f"{CORE}/watch/pods", f"{CORE}/watch"),
    *(f"{APPS}/deployments", f"{APPS}/namespaces/default/deployments", f"{APPS}/namespaces/default/deployments/d"),
    *(f"{APPS}/namespaces/default/deployments/d/{each}" for each in ("scale", "status", "rollback")),
    *(f"{APPS}/namespaces", f"{APPS}/namespaces/default", f"{APPS}/nope", f"{APPS}/namespaces/default/nope"),
    *("/apis/authentication.k8s.io/v1/tokenreviews", "/apis/authentication.k8s.io/v1/tokenreviews/t"),
    *("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/apis/rbac.authorization.k8s.io/v1/clusterroles/x"),
    *("/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews",),
    *(GROUP, f"{GROUP}/v1", f"{GROUP}/v2", f"{GROUP}/v1/things", f"{GROUP}/v1/things/t", f"{GROUP}/v1/nope"),
    *(
        f"{GROUP}/v1/namespaces/default/things",
        f"{GROUP}/v1/namespaces/default/things/t",
        f"{GROUP}/v1/namespaces/default",
    ),
    *(f"{GROUP}/v1/namespaces/default/things/t/{each}" for each in ("status", "scale", "nope", "status/x")),
    *("/debug/pprof", "/flagz", "/logs", "/debug/flags/v", "/apis/apps/v1/watch/deployments", "//api/v1", "/api//v1"),
)
#: Patterns of a request, and why its answers differ.
KNOWN = (
    (r"/(debug/\S*|flagz)$", "profiles and flags of a program in Go"),
    (r"^(TRACE|NOPE) ", "HTTP/1.1 of another library"),
    (r" /metrics$", "other metrics"),
    (r" /openapi/v3$", "the type of the list of documents is JSON instead of text"),
    (r" /api/v1/watch$", "a watch of nothing gets 404 instead of 500"),
    (r"things/t/status/x$", "kube-apiserver ignores what follows a subresource of a custom resource"),
    (r"^POST .*/things/t$", "the method is refused before the body is read"),
)


class Answer(NamedTuple):
    """What is compared of a response."""

    code: int
    kind: str  # the content type
    allow: str
    reason: str
    message: str


async def ask(
    session: aiohttp.ClientSession, url: str, context: ssl.SSLContext | None, method: str, path: str
) -> Answer:
    """Return the answer of a server."""
    headers = {"Content-Type": "application/merge-patch+json"} if method == "PATCH" else {}
    target = url + path + "?dryRun=All&timeoutSeconds=1"
    async with session.request(
        method, target, headers=headers, ssl=context or False, allow_redirects=False
    ) as response:
        raw = await response.read()
        found: Any = {}
        if response.content_type == "application/json" and response.status >= 300:
            found = json.loads(raw or b"{}")
        status = found if isinstance(found, dict) and found.get("kind") == "Status" else {}
        text = raw.decode(errors="replace") if response.content_type == "text/plain" and response.status >= 300 else ""
        message = re.sub(r"https?://[^/ ]+", "URL", status.get("message", text))
        return Answer(
            response.status, response.headers.get("Content-Type", ""), response.headers.get("Allow", ""),
            status.get("reason", ""), message,
        )  # fmt: skip


async def answers(url: str, token: str, context: ssl.SSLContext | None, pattern: str) -> dict[str, Answer]:
    """Return the answers of a server by request."""
    found: dict[str, Answer] = {}
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(headers=headers, timeout=aiohttp.ClientTimeout(20)) as session:
        definitions = f"{url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        await session.post(definitions, json=DEFINITION, ssl=context or False)
        while (await ask(session, url, context, "GET", f"{GROUP}/v1/things")).code != 200:  # noqa: ASYNC110 (the server serves it soon, and sends no event then)
            await asyncio.sleep(0)
        for path in PATHS:
            for method in METHODS:
                if re.search(pattern, f"{method} {path}"):
                    found[f"{method} {path}"] = await ask(session, url, context, method, path)
    return found


async def compare(real: Login, pattern: str) -> int:
    """Print the differences; return how many are not known."""
    wanted = await answers(real.url, real.token, real.context, pattern)
    server = ApiServer(tokens={"t": User(name="admin", groups=("system:masters",))})
    async with serve(server) as own:
        got = await answers(own, "t", None, pattern)
    different = [each for each in wanted if wanted[each] != got[each]]
    others = [each for each in different if not any(re.search(known, each) for known, _ in KNOWN)]
    for each in others:
        print(f"{each}\n    want {tuple(wanted[each])}\n    got  {tuple(got[each])}")
    print(len(wanted), "requests,", len(different) - len(others), "known differences,", len(others), "others")
    return len(others)


def main() -> int:
    """Compare; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path, nargs="?", help="the directory of etcd and kube-apiserver")
    parser.add_argument("--against", type=Path, metavar="KUBECONFIG")
    parser.add_argument(
        "--only", default="", metavar="PATTERN", help="only the requests that match, such as `GET /api`"
    )
    options = parser.parse_args()
    running = nullcontext(login_of(options.against)) if options.against else kube_apiserver(options.assets)
    with running as real:
        return int(bool(asyncio.run(compare(real, options.only))))


if __name__ == "__main__":
    sys.exit(main())
