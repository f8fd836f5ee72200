"""Run the EphemeralVolumeClaim operator against a cluster: ``python -m examples.evc [--kubeconfig FILE] …``.

The cluster is found as kubectl finds it, or is the one that this runs in. The definition has to be installed first:
``kubectl apply -f examples/evc/config/crd.yaml``.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from pyctrl import LogOptions, configure_logging
from pyctrl.client import Config
from pyctrl.errors import PyctrlError
from pyctrl.manager import LeaderElection, Manager, Preflight

from .evc import add_evc


async def run(args: argparse.Namespace) -> None:
    """Run the operator until it is told to stop."""
    manager = Manager(
        Config.load(kubeconfig=args.kubeconfig, context=args.context),
        namespaces=args.namespace,
        preflight=Preflight.STRICT if args.strict_rbac else Preflight.WARN,
        leader_election=LeaderElection(name="evc-operator") if args.leader_elect else None,
        metrics_bind_address=args.metrics_bind_address,
        health_bind_address=args.health_probe_bind_address,
    )
    async with manager:
        add_evc(manager, storage_class=args.storage_class, finalizer=args.finalizer)
        await manager.run()


def parser() -> argparse.ArgumentParser:
    """Return what the command line may say."""
    what = "Run the EphemeralVolumeClaim operator."
    parser = argparse.ArgumentParser(prog="python -m examples.evc", description=what)
    add = parser.add_argument
    add("--kubeconfig", metavar="FILE", help="kubeconfig file; default: KUBECONFIG, in-cluster, ~/.kube/config")
    add("--context", metavar="NAME", help="context of the kubeconfig; default: its current one")
    add("--namespace", metavar="NAME", action="append", help="look at this namespace only; may be said again")
    add("--storage-class", metavar="NAME", default="standard", help="class of the volumes; default: standard")
    add("--finalizer", action="store_true", help="delete claims ourselves, instead of the cluster's garbage collector")
    add("--strict-rbac", action="store_true", help="exit when rights are missing at start, instead of waiting for them")
    add("--leader-elect", action="store_true", help="let one of several replicas work, by a Lease evc-operator")
    add("--metrics-bind-address", metavar="ADDRESS", default=":8080", help="serves /metrics; 0: nowhere; %(default)s")
    probes = "serves /healthz and /readyz; 0: nowhere; %(default)s"
    add("--health-probe-bind-address", metavar="ADDRESS", default=":8081", help=probes)
    LogOptions.add_flags(parser)
    return parser


def main() -> int:
    """Read the command line and run; a failure is one sentence and exit code 1."""
    args = parser().parse_args()
    configure_logging(LogOptions.from_args(args))
    try:
        asyncio.run(run(args))
    except KeyboardInterrupt:
        return 130  # as the shell has it; while it started, for later it ends in order
    except PyctrlError as error:
        print(f"evc: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
