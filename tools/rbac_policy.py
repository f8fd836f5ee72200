"""Write the default roles and bindings of a cluster as data of the package.

    python tools/rbac_policy.py --server URL --token TOKEN

They depend on the Kubernetes version: read them from a kube-apiserver of that version with RBAC enabled. Fields that
all of them share are left out.
"""

from __future__ import annotations

import argparse
import json
import ssl
import urllib.request
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent.parent / "src" / "pyctrl" / "_schemas" / "rbac_policy.json"
RESOURCES = ("clusterroles", "clusterrolebindings", "roles", "rolebindings")
BOOTSTRAPPING = ("kubernetes.io/bootstrapping", "rbac-defaults")


def main() -> None:
    """Read a server and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True)
    parser.add_argument("--token", required=True)
    options = parser.parse_args()
    found = [obj for resource in RESOURCES for obj in _listed(options.server, options.token, resource)]
    lines = ",\n".join(json.dumps(obj, separators=(",", ":")) for obj in found)
    TARGET.write_text(f'{{"items":[\n{lines}\n]}}\n')
    print(f"{len(found)} objects in {TARGET}")


def _listed(server: str, token: str, resource: str) -> list[dict[str, Any]]:
    """Yield the objects of one resource that the server created itself."""
    request = urllib.request.Request(
        f"{server}/apis/rbac.authorization.k8s.io/v1/{resource}", headers={"Authorization": f"Bearer {token}"}
    )
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # a server that was started for this
    with urllib.request.urlopen(request, context=context) as response:
        document = json.load(response)
    kind = document["kind"].removesuffix("List")
    own = [obj for obj in document["items"] if BOOTSTRAPPING in (obj["metadata"].get("labels") or {}).items()]
    own.sort(key=lambda obj: obj["metadata"]["name"])
    return [_bare(obj, kind) for obj in own]


def _bare(obj: dict[str, Any], kind: str) -> dict[str, Any]:
    metadata = {key: obj["metadata"][key] for key in ("name", "namespace") if key in obj["metadata"]}
    labels = {key: value for key, value in obj["metadata"]["labels"].items() if key != BOOTSTRAPPING[0]}
    if labels:
        metadata["labels"] = labels
    parts = {key: obj[key] for key in ("aggregationRule", "rules", "subjects", "roleRef") if obj.get(key)}
    if "aggregationRule" in parts:
        parts.pop("rules", None)  # filled in by a controller
    return {"kind": kind, "metadata": metadata, **parts}


if __name__ == "__main__":
    main()
