"""Fuzz the API server from its own OpenAPI documents; fail on a 5xx that is the server's own mistake.

    python tools/fuzz.py                      # a minute, over the groups that most programs use
    python tools/fuzz.py apis/apps/v1         # one group and version
    python tools/fuzz.py --seconds 600 api/v1

Needs schemathesis from the `dev` group. Requests go to a separate server without controllers.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from pyctrl.cluster import Cluster, serving_cluster

GROUPS = ("api/v1", "apis/apps/v1", "apis/apiextensions.k8s.io/v1", "apis/rbac.authorization.k8s.io/v1")


def main() -> int:
    """Fuzz the groups that the command line names; return the exit code."""
    parser = argparse.ArgumentParser(description="Fuzz the API server against its own OpenAPI.")
    parser.add_argument("groups", nargs="*", default=GROUPS, help=f"of {', '.join(GROUPS)} and others")
    parser.add_argument("--seconds", type=int, default=60, help="for all of them together")
    arguments = parser.parse_args()
    with serving_cluster(lambda: Cluster(controllers=False, kubelet=False)) as config:
        share = max(1, arguments.seconds // len(arguments.groups))
        codes = [_fuzz(config.server, group, share) for group in arguments.groups]
    return max(codes)


def _fuzz(server: str, group: str, seconds: int) -> int:
    command = [
        str(Path(sys.executable).with_name("schemathesis")),
        *("run", f"{server}/openapi/v3/{group}", "--url", server, "--checks", "no_server_error_of_its_own"),
        *("--phases", "fuzzing", "--max-time", str(seconds), "--suppress-health-check", "all", "--continue-on-failure"),
        *("--request-timeout", "10", "--seed", "1"),
    ]
    environment = os.environ | {"SCHEMATHESIS_HOOKS": "_fuzz_checks", "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.run(command, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
