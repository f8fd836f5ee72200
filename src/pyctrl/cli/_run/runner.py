"""What `pyctrl run` does: find the program, make its manager, run it until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import logging
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyctrl._log import configure_logging
from pyctrl.cli._client_flags import ConfigFlags
from pyctrl.cli._log_flags import LogFlags
from pyctrl.cli._output import Progress
from pyctrl.cli._run.flags import METRICS, RunFlags
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, PyctrlError, TransportError, Unauthorized
from pyctrl.manager import signals_handled
from pyctrl.program import ProgramManager, SetupFunction, run_setup

log = logging.getLogger("pyctrl.run")

OWNER = "pyctrl-run"  # of definitions that are installed
TRACEBACK = " (--traceback shows where)"

# Of the collector, once all is imported. Models are built at their first use and leave 5 MB of cycles, which have to go
# soon to be of use again. Full collections stay rare, as they look at all that a reconcile has read.
GARBAGE_THRESHOLDS = (2_000, 10, 50)


@dataclass(frozen=True, kw_only=True)
class ProgramRunner:
    """A program, with the flags that say how it runs."""

    name: str
    wire: SetupFunction
    account: ConfigFlags
    flags: RunFlags
    logs: LogFlags

    def main(self) -> int:
        """Run until a signal comes; give the exit code: 0, or 130 after a Ctrl-C that came before it ran.

        Raises:
            PyctrlError: it cannot run like this, or has ended by itself.
        """
        configure_logging(self.logs.options())
        config = self.account.config()
        with self._metrics_certificate() as certificates:
            return asyncio.run(self._run_or_stop(config, certificates))

    async def _run_or_stop(self, config: Config, certificates: Path | None) -> int:
        """Run; a signal that comes while the manager does not run yet cancels what is done instead."""
        task, received, is_running = asyncio.current_task(), list[signal.Signals](), asyncio.Event()
        assert task is not None

        def stop(number: signal.Signals) -> None:
            if not is_running.is_set():
                received.append(number)
                task.cancel()

        with signals_handled(stop):
            try:
                await self._run(config, certificates, is_running)
            except asyncio.CancelledError:
                if not received:
                    raise
                log.info("Signal received before the manager ran, stopping", extra={"signal": received[0].name})
        return 128 + received[0] if received[:1] == [signal.SIGINT] else 0

    async def _run(self, config: Config, certificates: Path | None, is_running: asyncio.Event) -> None:
        manager = self.flags.manager(config, name=self.name, metrics=self._metrics(), certificates=certificates)
        async with manager:
            run_setup(self.wire, manager, self.name)
            if self.flags.install_crds:
                await self._install(manager, config)
            log.info("starting manager", extra={"program": self.name})
            gc.freeze()  # what is imported stays: no collection looks at it again
            gc.set_threshold(*GARBAGE_THRESHOLDS)
            is_running.set()
            try:
                await manager.run()
            except PyctrlError:
                raise
            except Exception as error:
                kind = type(error).__name__
                raise CommandFailed(f"{self.name} has failed: {kind}: {error}{TRACEBACK}") from error
            finally:
                is_running.clear()

    async def _install(self, manager: ProgramManager, config: Config) -> None:
        from pyctrl.program import custom_kinds, definitions_of, install_definitions  # here: needed only now

        kinds = custom_kinds(manager, manager.webhooks)
        definitions = definitions_of(kinds, manager.webhooks, target=manager.webhook_target)
        if not definitions:
            raise CommandFailed("--install-crds: the program reconciles no kind of its own; leave it out")
        async with Client.connect(config, field_owner=OWNER) as client:
            try:
                with Progress("the cluster to serve the definitions", tell=log.info):
                    await install_definitions(client, definitions, allow_loss=self.flags.allow_crd_loss)
            except (TransportError, Unauthorized) as error:
                from pyctrl.cli._login_errors import explain_login_error  # here: as above

                raise await explain_login_error(error, config) from error
        names = [definition["metadata"]["name"] for definition in definitions]
        log.info("Installed definitions", extra={"definitions": names})

    def _metrics(self) -> str | None:
        """Say where metrics are served: by default nowhere, if what they need is not installed."""
        if self.flags.metrics_bind_address is not None:
            return self.flags.metrics_bind_address
        if importlib.util.find_spec("prometheus_client") is not None:
            return METRICS
        log.info("Metrics are not served: that needs pip install 'pyctrl-runtime[metrics]'")
        return None

    @contextmanager
    def _metrics_certificate(self) -> Iterator[Path | None]:
        """Give the directory of the metrics' certificate, which is made if none is named; None: they need none."""
        directory = self.flags.metrics_cert_dir
        if directory is not None and self.flags.metrics_secure is False:
            raise CommandFailed("--no-metrics-secure and --metrics-cert-dir contradict each other; leave one out")
        if directory is not None or not self.flags.metrics_secure:
            yield directory
            return
        with tempfile.TemporaryDirectory(prefix="pyctrl-metrics-") as made:
            _sign(Path(made))
            yield Path(made)


def _sign(directory: Path) -> None:
    try:
        from pyctrl._certificates import issue_server, new_authority  # here: only who has no certificate needs them
    except ImportError as error:
        raise CommandFailed(
            "--metrics-secure without --metrics-cert-dir makes a certificate, which needs: "
            "pip install 'pyctrl-runtime[webhook]'"
        ) from error
    certificate, key = issue_server(new_authority("pyctrl-metrics"), ["localhost", "127.0.0.1"], common_name="metrics")
    (directory / "tls.crt").write_bytes(certificate)
    (directory / "tls.key").write_bytes(key)
