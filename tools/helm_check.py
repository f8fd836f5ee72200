"""Compare charts with the manifests they are generated from, using the real helm. Tests do not need helm.

    python -m tools.helm_check                      # the helm of PATH
    python -m tools.helm_check --helm ~/bin/helm    # another one

For the examples and a program with webhooks and a conversion: `helm lint --strict` finds nothing. For every combination
of values, `helm template` returns the objects of `install` with the same settings, and the objects that tests render
without helm. An unknown value is rejected.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from pyctrl.packaging import ChartDirectory, Settings, install, read_chart, read_project
from tests.unit.packaging._helm import LOADER, Release, plain
from tests.unit.packaging._programs import CONVERSION, EXAMPLES, WEBHOOK, WIDGETS

_MORE: dict[str, Any] = {
    "fullnameOverride": "a-name-that-is-longer-than-names-may-be",
    "image": {"digest": "sha256:" + "0" * 64, "pullPolicy": "Always"},
    "imagePullSecrets": [{"name": "registry"}],
    "args": ["--zap-devel"],
    "env": [{"name": "A", "value": "{{ 1 }}"}],
    "podAnnotations": {"note": "yes"},
    "podLabels": {"team": "1"},
    "podSecurityContext": None,
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "priorityClassName": "high",
    "serviceAccount": {"create": False, "name": "1"},
    "rbac": {"helpers": False},
    "crds": {"keep": False},
    "volumes": [{"name": "more", "emptyDir": {}}],
    "volumeMounts": [{"name": "more", "mountPath": "/more"}],
}


def main() -> int:
    """Compare all charts; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--helm", default="helm")
    helm: str = parser.parse_args().helm
    print(_ran([helm, "version", "--short"]).strip())
    with TemporaryDirectory() as folder:
        program = Path(folder, "widgets.py")
        program.write_text(WIDGETS + WEBHOOK + CONVERSION)
        for settings in (
            Settings(program=str(EXAMPLES / "podset"), name="podset", image="podset:0.1.0"),
            Settings(program=str(EXAMPLES / "evc"), name="evc", image="registry:5000/evc:1"),
            Settings(program=str(program), name="widgets", image="widgets:v1.2.3"),
        ):
            _check(helm, Path(folder), settings)
    return 0


def _check(helm: str, folder: Path, settings: Settings) -> None:
    """Check the chart of one program; exit the process on a difference."""
    chart, directory = asyncio.run(read_chart(settings)), folder / "chart" / settings.name
    for each in ChartDirectory(directory).differences(chart):
        each.write()
    _ran([helm, "lint", "--strict", str(directory)])
    has_webhooks = any(each.name == "webhook" for each in chart.values)
    count = 0
    for choice, values in _choices(settings, has_webhooks=has_webhooks):
        count += 1
        found = _template(helm, directory, values)
        wanted = plain(install(asyncio.run(read_project(choice))))
        _equal(plain(found), wanted, f"{settings.name}: install with {values}")
    for values in ({}, {"replicas": None}, _MORE, {**_MORE, "rbac": {"create": False}, "crds": {"enabled": False}}):
        release = Release(chart.texts(), values, name=settings.name, namespace="there")
        found = _template(helm, directory, values, "there")
        _equal(_sorted(found), _sorted(release.objects()), f"{settings.name}: as tests render {values}")
    refused = subprocess.run(
        [helm, "template", str(directory), "--set", "replica=2"], capture_output=True, text=True, check=False
    )
    if not refused.returncode or "replica" not in refused.stderr:
        sys.exit(f"{settings.name}: a value that there is not was taken: {refused.stderr}")
    print(f"{settings.name}: {count} ways to install it are as they should be")


def _choices(settings: Settings, *, has_webhooks: bool) -> Iterator[tuple[Settings, dict[str, Any]]]:
    """Yield settings, and the equivalent values."""
    certificates = ("managed", "cert-manager") if has_webhooks else ("managed",)
    modes = ("https", "http", "off")
    for metrics, prometheus, policy, certificate, watched, shards in itertools.product(
        modes, (True, False), (True, False), certificates, ((), ("shop", "web")), ("auto", "off")
    ):
        values: dict[str, Any] = {
            "metrics": {"enabled": metrics != "off", "secure": metrics == "https"},
            "prometheus": {"enabled": prometheus},
            "networkPolicy": {"enabled": policy},
            "watchNamespaces": list(watched),
            "sharding": {"enabled": shards == "auto"},
        }
        if has_webhooks:
            values["webhook"] = {"certificates": certificate}
        said: dict[str, Any] = {"metrics": metrics, "webhook_certificates": certificate, "watch_namespaces": watched}
        said["shards"] = shards
        yield replace(settings, prometheus=prometheus, network_policy=policy, **said), values


def _template(helm: str, directory: Path, values: dict[str, Any], namespace: str = "") -> list[dict[str, Any]]:
    """Return the objects that helm renders from a chart."""
    name = directory.name
    command = [helm, "template", name, str(directory), "--namespace", namespace or f"{name}-system", "--values", "-"]
    return [each for each in yaml.load_all(_ran(command, json.dumps(values)), LOADER) if each is not None]


def _sorted(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(objects, key=lambda obj: (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]))


def _equal(found: list[dict[str, Any]], wanted: list[dict[str, Any]], told: str) -> None:
    if found == wanted:
        return
    before, after = (yaml.safe_dump_all(each).splitlines() for each in (wanted, found))
    print(*difflib.unified_diff(before, after, "wanted", "helm", lineterm=""), sep="\n", file=sys.stderr)
    sys.exit(f"differs from {told}")


def _ran(command: list[str], stdin: str = "") -> str:
    """Return the output of a command; exit the process if the command fails."""
    ran = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{' '.join(command)}: {ran.stdout}{ran.stderr}")
    return ran.stdout


if __name__ == "__main__":
    sys.exit(main())
