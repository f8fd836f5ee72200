"""Write the objects that a new kube-apiserver has as data of the package.

    python tools/bootstrap_objects.py ASSETS

They depend on the Kubernetes version: ASSETS is a directory with its etcd and kube-apiserver, as for
`KUBEBUILDER_ASSETS`. Values that differ from server to server, such as times and addresses, become placeholders, which
`pyctrl.apiserver._bootstrap.system_objects` replaces. The default roles and bindings have their own tool,
rbac_policy.py.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from pyctrl import _schemas
from pyctrl.api import Key
from pyctrl.client import Client, Config, HttpRequest, wait_for
from pyctrl.kinds.core.v1 import Endpoints
from pyctrl.kinds.discovery.v1 import EndpointSlice
from pyctrl.testing import control_plane

TARGET = Path(_schemas.__file__).parent / "bootstrap_objects.json"
ADDRESS = "198.51.100.1"  # of the advertised server: kube-apiserver publishes no loopback address
FLAGS = ("--endpoint-reconciler-type=lease", f"--advertise-address={ADDRESS}")
FLOWS = "/apis/flowcontrol.apiserver.k8s.io/v1"
#: The lists, in the order in which a server creates their objects.
PATHS = (
    "/api/v1/namespaces",
    f"{FLOWS}/prioritylevelconfigurations",
    f"{FLOWS}/flowschemas",
    "/apis/coordination.k8s.io/v1/leases",
    "/api/v1/configmaps",
    "/apis/networking.k8s.io/v1/servicecidrs",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
    "/apis/networking.k8s.io/v1/ipaddresses",
    "/api/v1/services",
    "/api/v1/endpoints",
    "/apis/discovery.k8s.io/v1/endpointslices",
)
#: What becomes a placeholder, in this order.
VARIABLES = (
    (r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z"', '"${microtime}"'),
    (r'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"', '"${time}"'),
    (r'"\d{4}-\d\d-\d\d"', '"${date}"'),
    (r"apiserver-[a-z2-7]{26}_[-0-9a-f]{36}", "${identity}_${holder}"),
    (r"apiserver-[a-z2-7]{26}", "${identity}"),
    (r'("kubernetes.io/hostname": )"[^"]*"', r'\1"${hostname}"'),
    (re.escape(ADDRESS) + r":\d+", "${address}:6443"),
    (re.escape(ADDRESS), "${address}"),
    (r'("(?:targetPort|port)": )(?!443\b)\d+', r"\g<1>6443"),
    (r"10\.0\.0\.0/24", "${service_cidr}"),
    (r"10\.0\.0\.1", "${service_ip}"),
)


def main() -> None:
    """Start a kube-apiserver, read the objects and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("assets", type=Path)
    with control_plane(parser.parse_args().assets, apiserver_flags=FLAGS) as plane:
        found = asyncio.run(_read(Config.from_kubeconfig(plane.kubeconfig)))
    text = ",\n".join(_template(each) for each in found)
    TARGET.write_text(f'{{"items": [\n{text}\n]}}\n')
    print(f"{len(found)} objects in {TARGET}")


async def _read(config: Config) -> list[dict[str, Any]]:
    """Return the objects of all lists, once those of the service `kubernetes` exist, which come last."""
    async with Client.connect(config) as client:
        await wait_for(client, Endpoints, Key("default", "kubernetes"))
        await wait_for(client, EndpointSlice, Key("default", "kubernetes"))
        return [each for path in PATHS async for each in _listed(client, path)]


async def _listed(client: Client, path: str) -> AsyncIterator[dict[str, Any]]:
    response = await client.transport.request(HttpRequest(method="GET", path=path))
    document = json.loads(response.body)
    resource = path.rpartition("/")[2]
    for each in document["items"]:
        kind = {"kind": document["kind"].removesuffix("List"), "apiVersion": document["apiVersion"]}
        yield {"resource": resource, "object": {**kind, **each}}


def _template(entry: dict[str, Any]) -> str:
    """Return the entry in JSON without the fields that a storage sets, and with placeholders."""
    metadata = entry["object"]["metadata"]
    for name in ("uid", "resourceVersion"):
        del metadata[name]
    text = json.dumps(entry)
    for pattern, placeholder in VARIABLES:
        text = re.sub(pattern, placeholder, text)
    return text


if __name__ == "__main__":
    main()
