"""Run the PodSet operator against a cluster: ``python -m examples.podset [--kubeconfig FILE] [--context NAME]``.

The cluster is found as kubectl finds it, or is the one that this runs in. The definition has to be installed first:
``kubectl apply -f examples/podset/config/crd.yaml``.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

from pyctrl import configure_logging
from pyctrl.client import Config
from pyctrl.errors import PyctrlError
from pyctrl.manager import LeaderElection, Manager, Preflight

from .podset import add_podset


async def run(config: Config, preflight: Preflight, leader_election: LeaderElection | None) -> None:
    """Run the operator until it is told to stop."""
    async with Manager(config, preflight=preflight, leader_election=leader_election) as manager:
        add_podset(manager)
        await manager.run()


def main() -> int:
    """Read the command line and run; a failure is one sentence and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m examples.podset", description="Run the PodSet operator.")
    parser.add_argument(
        "--kubeconfig", metavar="FILE", help="kubeconfig file; default: KUBECONFIG, in-cluster, ~/.kube/config"
    )
    parser.add_argument("--context", metavar="NAME", help="context of the kubeconfig; default: its current one")
    parser.add_argument(
        "--strict-rbac", action="store_true", help="exit when rights are missing at start, instead of waiting for them"
    )
    parser.add_argument(
        "--leader-elect", action="store_true", help="let one of several replicas work, by a Lease podset-operator"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="log each reconcile")
    args = parser.parse_args()
    configure_logging(logging.DEBUG if args.verbose else logging.INFO)
    preflight = Preflight.STRICT if args.strict_rbac else Preflight.WARN
    election = LeaderElection(name="podset-operator") if args.leader_elect else None
    try:
        asyncio.run(run(Config.load(kubeconfig=args.kubeconfig, context=args.context), preflight, election))
    except PyctrlError as error:
        print(f"podset: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
