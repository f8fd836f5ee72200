"""Runner of `pyctrl run`: imports a program, logs in, and runs its manager until a signal."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import logging
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl._log import LogOptions, configure_logging
from pyctrl.client import Client, Config
from pyctrl.errors import CommandFailed, PyctrlError, TransportError, Unauthorized
from pyctrl.manager import signals_handled
from pyctrl.program._config import load_config
from pyctrl.program._program_manager import ProgramManager, program_manager
from pyctrl.program._target import SetupFunction, Target, run_setup

if TYPE_CHECKING:
    from pyctrl.program._run_options import LoginOptions, RunOptions

__all__ = ["ProgramRunner"]

log = logging.getLogger("pyctrl.run")

#: Binds the flags of a program to its function, given that and the program's name; None: only help was requested.
Bind = Callable[[SetupFunction, str], SetupFunction | None]
#: Makes the error for users of one that is due to the login.
ExplainLogin = Callable[[TransportError | Unauthorized, Config], Awaitable[CommandFailed]]

METRICS = ":8080"  # as in controller-runtime
OWNER = "pyctrl-run"  # of definitions that are installed
TRACEBACK = " (--traceback shows where)"

FIRST_REPORT = 2.0  # seconds of waiting before it is logged
REPORT_INTERVAL = 30.0  # seconds

# Of the garbage collector, once everything is imported. Models are built at their first use and leave 5 MB of cycles,
# which must be freed soon to be reused. Full collections stay rare, as they visit all that a reconcile has read.
GARBAGE_THRESHOLDS = (2_000, 10, 50)


class ProgramRunner:
    """Runs a program in a manager, with options from a command line.

    Args:
        options: how the program runs.
        login: where the cluster is.
        logs: how to log.
        explain: makes the error for users when the cluster cannot be reached or rejects the login.
    """

    def __init__(self, *, options: RunOptions, login: LoginOptions, logs: LogOptions, explain: ExplainLogin) -> None:
        self._options = options
        self._login = login
        self._logs = logs
        self._explain = explain

    def run(self, program: str, *, bind: Bind | None = None) -> int:
        """Import a program and run it until a signal; return the exit code, as `run_setup` does.

        Args:
            program: ``FILE.py``, ``DIRECTORY`` or ``MODULE``, each with or without ``:FUNCTION``.
            bind: binds the program's own flags; None: none were given.

        Raises:
            PyctrlError: the program cannot be imported or run, or its manager has failed.
        """
        target = Target.parse(program)
        setup = target.find()
        if bind is not None:
            bound = bind(setup, target.name)
            if bound is None:
                return 0
            setup = bound
        return self.run_setup(setup, target.name)

    def run_setup(self, setup: SetupFunction, name: str) -> int:
        """Run a program until a signal; return 0, or 130 after a Ctrl-C before the manager ran.

        Args:
            setup: the function that adds the program's controllers to a manager.
            name: the name of the program.

        Raises:
            PyctrlError: the program cannot run, or its manager has failed.
        """
        configure_logging(self._logs)
        config = load_config(self._login)
        with metrics_certificate(self._options) as certificates:
            return asyncio.run(self._run_or_stop(setup, name, config, certificates))

    async def _run_or_stop(self, setup: SetupFunction, name: str, config: Config, certificates: Path | None) -> int:
        """Run the manager. A signal before it runs cancels the start instead."""
        task, received, is_running = asyncio.current_task(), list[signal.Signals](), asyncio.Event()
        assert task is not None

        def stop(number: signal.Signals) -> None:
            if not is_running.is_set():
                received.append(number)
                task.cancel()

        with signals_handled(stop):
            try:
                metrics = metrics_address(self._options)
                async with program_manager(
                    self._options, config, name=name, metrics=metrics, certificates=certificates
                ) as manager:
                    run_setup(setup, manager, name)
                    await self._run(manager, name, config, is_running)
            except asyncio.CancelledError:
                if not received:
                    raise
                log.info("Signal received before the manager ran, stopping", extra={"signal": received[0].name})
        return 128 + received[0] if received[:1] == [signal.SIGINT] else 0

    async def _run(self, manager: ProgramManager, name: str, config: Config, is_running: asyncio.Event) -> None:
        if self._options.install_crds:
            await self._install(manager, config)
        log.info("starting manager", extra={"program": name})
        gc.freeze()  # imported modules stay: no collection visits them again
        gc.set_threshold(*GARBAGE_THRESHOLDS)
        is_running.set()
        try:
            await manager.run()
        except PyctrlError:
            raise
        except Exception as error:
            kind = type(error).__name__
            raise CommandFailed(f"{name} has failed: {kind}: {error}{TRACEBACK}") from error
        finally:
            is_running.clear()

    async def _install(self, manager: ProgramManager, config: Config) -> None:
        from pyctrl.program._crd_installation import install_definitions  # here and below: only --install-crds
        from pyctrl.program._definitions import custom_kinds, definitions_of

        kinds = custom_kinds(manager, manager.webhooks)
        definitions = definitions_of(kinds, manager.webhooks, target=manager.webhook_target)
        if not definitions:
            raise CommandFailed("--install-crds: the program reconciles no kind of its own; leave it out")
        async with Client.connect(config, field_owner=OWNER) as client:
            try:
                with _logged_wait("Waiting for definitions to be established"):
                    await install_definitions(client, definitions, allow_loss=self._options.allow_crd_loss)
            except (TransportError, Unauthorized) as error:
                raise await self._explain(error, config) from error
        names = [definition["metadata"]["name"] for definition in definitions]
        log.info("Installed definitions", extra={"definitions": names})


@contextmanager
def _logged_wait(message: str) -> Iterator[None]:
    """Log a message every half minute, first after two seconds, until the block is left."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    timer: asyncio.TimerHandle

    def report() -> None:
        nonlocal timer
        log.info(message, extra={"seconds": round(loop.time() - started)})
        timer = loop.call_later(REPORT_INTERVAL, report)

    timer = loop.call_later(FIRST_REPORT, report)
    try:
        yield
    finally:
        timer.cancel()


def metrics_address(options: RunOptions) -> str | None:
    """Return where to serve metrics: nowhere by default if prometheus_client is not installed."""
    if options.metrics_bind_address is not None:
        return options.metrics_bind_address
    if importlib.util.find_spec("prometheus_client") is not None:
        return METRICS
    log.info("Metrics are not served: that needs pip install 'pyctrl-runtime[metrics]'")
    return None


@contextmanager
def metrics_certificate(options: RunOptions) -> Iterator[Path | None]:
    """Return the directory of the metrics' certificate, self-signed if none is named; None: metrics use HTTP.

    Raises:
        CommandFailed: the options contradict each other, or cryptography is not installed.
    """
    directory = options.metrics_cert_dir
    if directory is not None and options.metrics_secure is False:
        raise CommandFailed("--no-metrics-secure and --metrics-cert-dir contradict each other; leave one out")
    if directory is not None or not options.metrics_secure:
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="pyctrl-metrics-") as made:
        _sign(Path(made))
        yield Path(made)


def _sign(directory: Path) -> None:
    try:
        from pyctrl._certificates import issue_server, new_authority  # here: needed without a certificate only
    except ImportError as error:
        raise CommandFailed(
            "--metrics-secure without --metrics-cert-dir makes a certificate, which needs: "
            "pip install 'pyctrl-runtime[webhook]'"
        ) from error
    certificate, key = issue_server(new_authority("pyctrl-metrics"), ["localhost", "127.0.0.1"], common_name="metrics")
    (directory / "tls.crt").write_bytes(certificate)
    (directory / "tls.key").write_bytes(key)
