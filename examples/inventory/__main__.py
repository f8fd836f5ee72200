"""Serve the inventory: ``python -m examples.inventory [--master URL] [--kubeconfig FILE] [--address A] [--port N]``.

The login is that of client-go's ``BuildConfigFromFlags``: with neither flag it is the service account of this pod, else
kubectl's kubeconfig.
"""

from __future__ import annotations

import argparse
import logging
import socket
import sys
from collections.abc import AsyncIterator

from aiohttp import web
from aiohttp.abc import AbstractAccessLogger

from pyctrl import LogOptions, configure_logging
from pyctrl.client import Client, Config
from pyctrl.errors import PyctrlError

from .inventory import Inventory

log = logging.getLogger("inventory")

SHUTDOWN_SECONDS = 20.0  # for pending requests; less than a pod's default grace period of 30 seconds


class RequestLog(AbstractAccessLogger):
    """Access log with one line per request. Kubelet's health checks are logged at debug level."""

    def log(self, request: web.BaseRequest, response: web.StreamResponse, time: float) -> None:
        """Log a completed request."""
        facts = {
            "method": request.method,
            "path": request.path_qs,
            "status": response.status,
            "seconds": round(time, 3),
        }
        log.log(logging.DEBUG if request.path == "/healthz" else logging.INFO, "answered", extra=facts)


def serve(config: Config, namespace: str, listening: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C, then complete pending requests."""
    client = Client.connect(config, field_owner="inventory")
    app = Inventory(client, namespace).application()

    async def connection(_app: web.Application) -> AsyncIterator[None]:
        async with client:
            yield

    app.cleanup_ctx.append(connection)
    web.run_app(app, sock=listening, print=None, shutdown_timeout=SHUTDOWN_SECONDS, access_log_class=RequestLog)
    log.info("stopped")


def listen(address: str, port: int) -> socket.socket:
    """Return a listening socket."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        return socket.create_server((address, port), family=family)
    except (OSError, OverflowError) as error:
        raise PyctrlError(f"cannot listen at --address {address} --port {port}: {error}") from error


def main() -> int:
    """Serve with the flags of the command line. An error is printed, with exit code 1."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.inventory", description="Serve the inventory of a cluster."
    )
    parser.add_argument("--master", metavar="URL", help="address of the API server, instead of the kubeconfig's")
    parser.add_argument("--kubeconfig", metavar="FILE", help="kubeconfig file; default: in-cluster, then kubectl's")
    parser.add_argument("--address", default="127.0.0.1", help="where to listen; default: %(default)s")
    parser.add_argument("--port", type=int, default=8080, help="0 takes a free one; default: %(default)s")
    parser.add_argument(
        "--namespace", metavar="NAME", default="testing", help="where to create and delete; default: %(default)s"
    )
    LogOptions.add_flags(parser)
    args = parser.parse_args()
    configure_logging(LogOptions.from_args(args))
    try:
        config = Config.from_flags(args.master, args.kubeconfig)
        with listen(args.address, args.port) as listening:
            host, port, *_ = listening.getsockname()
            log.info("serving", extra={"address": host, "port": port, "cluster": config.server})
            serve(config, args.namespace, listening)
    except KeyboardInterrupt:
        return 130  # as shells do; after the start, Ctrl-C ends `serve` with exit code 0
    except PyctrlError as error:
        print(f"inventory: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
