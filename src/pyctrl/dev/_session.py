"""Development session: an in-process cluster, a program in it, and reloads when files are saved."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pyctrl._log import Lines
from pyctrl._tasks import unwrapped
from pyctrl.api import GroupVersionKind, Key, ObjectMeta
from pyctrl.apiserver import (
    ApiServer,
    HttpsCaller,
    ProxyRequest,
    Response,
    ServiceReference,
    ServiceUnreachable,
    User,
    WebhookRequest,
    WebhookResponse,
)
from pyctrl.cache import Cache
from pyctrl.client import Client, reporting_dropped_status
from pyctrl.cluster import Cluster, Kubelet, ScriptFunction
from pyctrl.controller import reporting_undeclared_reads
from pyctrl.dev._file_watcher import FileWatcher, python_files
from pyctrl.dev._journal import Journal
from pyctrl.dev._log_filter import cluster_logs
from pyctrl.dev._requirements import WEBHOOK_HOST, Requirements, controllers_of, find_requirements
from pyctrl.dev._state import Problem, SessionState, problem_of
from pyctrl.errors import CommandFailed, GracePeriodExceeded, NotFound, PyctrlError
from pyctrl.extension_apiserver import in_process_host
from pyctrl.kinds.core.v1 import Namespace, ServiceAccount
from pyctrl.manager import Preflight
from pyctrl.program import (
    APIServerOptions,
    ProgramManager,
    SetupFunction,
    Target,
    WebhookOptions,
    apply_files,
    find_samples,
    install_definitions,
    manifest_files,
    run_setup,
    sample_paths,
)

__all__ = ["DevOptions", "DevSession"]

log = logging.getLogger("pyctrl.dev")

OWNER = "pyctrl-dev"  # field owner of the objects that the session applies
ACCOUNTS = "system:serviceaccounts"
CODE, SAMPLES = "code", "samples"  # sources of problems


@dataclass(frozen=True, slots=True, kw_only=True)
class DevOptions:
    """Options of a development session.

    Attributes:
        enforce_rights: whether the program runs as a service account with only the permissions that its code declares.
        apply: files and directories of objects to apply; None: the samples of the project or, without any, a generated
            object of each of its kinds.
        config: the directory of manifests with the samples; None: ``config`` beside the program or above it in its
            project. Without a pyproject.toml, the project of a package is the directory above it, and a single file is
            alone.
        namespaces: the namespaces that the program watches, with permissions there only; they are created. Empty: all.
        drain: how long running reconciles may take to finish on a reload.
        poll: the interval between two polls of the files.
        controllers: whether to run the controllers of kube-controller-manager.
        kubelet: whether to run pods on simulated nodes.
        nodes: the number of nodes.
        pod_script: says what the containers of these pods do.
        bind: binds arguments to the program's setup function after each import.
    """

    enforce_rights: bool = True
    apply: Sequence[Path] | None = None
    config: Path | None = None
    namespaces: Sequence[str] = ()
    drain: timedelta = timedelta(seconds=5)
    poll: timedelta = timedelta(milliseconds=300)
    controllers: bool = True
    kubelet: bool = True
    nodes: int = 1
    pod_script: ScriptFunction | None = None
    bind: Callable[[SetupFunction], SetupFunction] = lambda setup: setup


class DevSession:
    """A program in an in-process cluster that is reloaded when its files are saved.

        async with DevSession(Target.parse("operator.py")) as session:
            async with session.cluster.serve() as config: ...
            await session.run()

    Entering starts the cluster, installs the program's CRDs, grants the permissions that its code declares, registers
    its webhooks and extension API servers, starts the program and applies the samples. `run` watches the files: on a
    save the program is imported again, running reconciles finish, and the new version starts with the existing objects
    and filled caches. If the import, the setup or the installation fails, the error is logged and the previous version
    keeps running.

    Works in virtual time. No port is opened before ``cluster.serve()``.
    """

    def __init__(self, target: Target, options: DevOptions = DevOptions(), *, random: Random | None = None) -> None:
        """Create a session. Nothing is imported or started yet."""
        self.target: Target = target
        self.options: DevOptions = options
        self.random: Random = random or Random()
        self.server: ApiServer = ApiServer(
            random=self.random,
            authorization="RBAC" if options.enforce_rights else "AlwaysAllow",
            webhooks=self._call_webhook,
        )
        self.cluster: Cluster = Cluster(
            server=self.server,
            random=self.random,
            controllers=options.controllers,
            kubelet=options.kubelet and Kubelet(script=options.pod_script),
            nodes=options.nodes,
        )
        self._login = self.cluster.config
        #: The reconciles and errors of its controllers.
        self.journal: Journal = Journal()
        self._problems: dict[str, str] = {}
        self._is_loading = False
        #: How often the program was reloaded.
        self.reloads: int = 0
        self.requirements: Requirements | None = None
        self._manager: ProgramManager | None = None
        self._task: asyncio.Task[None] | None = None
        self._applied: Mapping[tuple[GroupVersionKind, Key], None] = {}
        self._stack = AsyncExitStack()
        self._warned: set[str] = set()

    # --- start and stop ---

    async def __aenter__(self) -> Self:
        self._files = FileWatcher(self._watched, interval=self.options.poll)
        requirements = await self._import_program()  # before anything is started: it may fail
        async with AsyncExitStack() as stack:
            stack.enter_context(reporting_dropped_status(self._warn_once))
            stack.enter_context(reporting_undeclared_reads(self.journal.record_undeclared_read))
            with cluster_logs():
                await stack.enter_async_context(self.cluster)
            #: An administrator's client.
            self.admin: Client = await stack.enter_async_context(Client.connect(self.cluster.config, field_owner=OWNER))
            for name in self.options.namespaces:
                await self.admin.apply(Namespace(metadata=ObjectMeta(name=name)))
            await self.admin.apply(ServiceAccount(metadata=_meta(self.account)))
            if self.options.enforce_rights:
                self._login = self.cluster.config_for(_user(self.account))
            client = await stack.enter_async_context(Client.connect(self._login, field_owner=self.name))
            self.cache: Cache = Cache(client, random=self.random, namespaces=self._namespaces)
            self._group = await stack.enter_async_context(_running(self.cache))
            stack.push_async_callback(self._stop)
            await self._replace_program(requirements)
            await self._attempt(SAMPLES, self._apply(self.samples))
            if self.options.apply is None and not self.samples:
                await self._attempt(SAMPLES, self._apply_generated(requirements))
            self._stack = stack.pop_all()
        return self

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            log.warning("%s", text)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, traceback)

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.target.name

    @property
    def account(self) -> Key:
        """The service account of the program, unless permissions are not enforced."""
        return Key("default", self.name)

    @property
    def _namespaces(self) -> Sequence[str] | None:
        return self.options.namespaces or None

    @property
    def problem(self) -> str:
        """Why the files last saved do not run or were not applied; "" if there is no problem."""
        return "\n".join(self._problems.values())

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of `problem`, each with its place in the files."""
        return tuple(map(problem_of, self._problems.values()))

    @property
    def state(self) -> SessionState:
        """The state of the session."""
        if self._is_loading:
            return SessionState.RELOADING
        if self._manager is None:
            return SessionState.STOPPED if self._problems else SessionState.STARTING
        return SessionState.OUTDATED if CODE in self._problems else SessionState.RUNNING

    @property
    def manager(self) -> ProgramManager | None:
        """The manager that runs the program now; None while none does."""
        return self._manager

    @property
    def samples(self) -> Sequence[Path]:
        """The files and directories to apply."""
        if self.options.apply is not None:
            return self.options.apply
        if self.options.config is not None:
            return sample_paths(self.options.config)
        place = self.target.place
        if place.sources is None:  # a dotted name that is not imported yet
            return []
        return find_samples(place.sources, above=0 if place.file is not None else 1)

    # --- reloads ---

    async def run(self) -> None:
        """Watch the files until cancelled; reload the program and apply samples on a change."""
        while True:
            changed = await self._files.wait_for_change()
            python = {file for file in changed if file.suffix == ".py"}
            if python:
                await self.reload()
            if samples := sorted(file for file in changed - python if file.exists()):
                await self._attempt(SAMPLES, self._apply(samples))

    async def reload(self) -> bool:
        """Reload the program; return whether that succeeded.

        If not, `problem` has the reason, and the previous version keeps running.
        """
        if not await self._attempt(CODE, self._load()):
            return False
        self.reloads += 1
        log.info("Reloaded program", extra={"program": self.name})
        if SAMPLES in self._problems:  # the CRD may exist now
            await self._attempt(SAMPLES, self._apply(self.samples))
        return True

    async def _attempt(self, source: str, work: Awaitable[None]) -> bool:
        """Await work; return whether it succeeded, and report an error as a problem of its source."""
        self._problems.pop(source, None)
        try:
            await work
        except PyctrlError as error:
            self._report(source, str(error))
            return False
        return True

    def _report(self, source: str, problem: str, error: Exception | None = None) -> None:
        self._problems[source] = problem
        log.error("%s", Lines(problem), exc_info=error)

    def _watched(self) -> Iterable[Path]:
        yield from python_files(self.target.place, also_new=CODE in self._problems)
        for path in self.samples:
            try:
                yield from manifest_files(path)
            except CommandFailed:
                continue  # the directory is empty now

    async def _load(self) -> None:
        """Import the program again, and replace the running one.

        Raises:
            PyctrlError: the import, the setup or the installation failed. Only CRDs may have changed.
        """
        self._is_loading = True
        try:
            await self._replace_program(await self._import_program())
        finally:
            self._is_loading = False

    async def _import_program(self) -> Requirements:
        before = self._files.scan()
        try:
            with self.target.place.reimported(), cluster_logs():  # it logs again when it is set up to run
                setup = self.options.bind(self.target.find())
                return await find_requirements(setup, name=self.name, account=self.account, namespaces=self._namespaces)
        finally:
            self._files.accept(before)

    async def _replace_program(self, requirements: Requirements) -> None:
        await install_definitions(self.admin, requirements.definitions, allow_loss=True)  # a development cluster
        await self._stop()
        self._register_api_servers(requirements)
        await self._replace_objects([*requirements.rights, *requirements.registrations])
        for informer in self.cache.informers:
            if informer.gvk not in requirements.cached or informer.gvk in requirements.served:  # a server starts empty
                await self.cache.remove(informer.gvk)
        await self._start(requirements)

    async def _replace_objects(self, wanted: Sequence[dict[str, Any]]) -> None:
        """Apply the roles and webhook configurations, and delete those that only the previous version had."""
        applied: dict[tuple[GroupVersionKind, Key], None] = {}
        for obj in wanted:
            made = await self.admin.apply(obj, force=True)
            applied[GroupVersionKind.parse(obj["apiVersion"], obj["kind"]), made.key] = None
        for kind, key in self._applied.keys() - applied.keys():
            try:
                await self.admin.delete(kind, key)
            except NotFound:
                continue  # deleted already
        self._applied = applied

    async def _apply(self, paths: Sequence[Path]) -> None:
        count = await apply_files(self.admin, paths)
        if count:
            log.info("Applied samples", extra={"objects": count, "files": [str(path) for path in paths]})

    async def _apply_generated(self, requirements: Requirements) -> None:
        """Apply a generated object of each kind, so that there is something to reconcile. Called at the start only."""
        for made in requirements.samples():
            await self.admin.apply(made)
            log.info("Applied generated sample", extra={"kind": made["kind"], "object": made["metadata"]["name"]})

    # --- the program ---

    async def _start(self, requirements: Requirements) -> None:
        set_up = asyncio.Event()
        self._task = self._group.create_task(self._run_program(requirements, set_up), name=f"dev/{self.name}")
        await set_up.wait()

    async def _run_program(self, requirements: Requirements, set_up: asyncio.Event) -> None:
        manager = ProgramManager(
            self._login,
            cache=self.cache,
            namespaces=self._namespaces,
            random=self.random,
            grace_period=self.options.drain,
            preflight=Preflight.WARN if self.options.enforce_rights else Preflight.OFF,
        )
        try:
            async with manager:
                manager.webhook_options = WebhookOptions(enabled=False)
                manager.apiserver_options = APIServerOptions(enabled=False)
                run_setup(requirements.setup, manager, self.name)
                if manager.loop_watchdog is not None:
                    manager.loop_watchdog.on_blocked = self.journal.record_blockage
                for controller in controllers_of(manager):
                    controller.on_reconciled(self.journal.reconcile_recorder(controller.name))
                    controller.on_reconcile_loop(self.journal.loop_recorder(controller.name))
                self.journal.forget_version([each.name for each in controllers_of(manager)])
                self.requirements, self._manager = requirements, manager
                set_up.set()
                await manager.run(handle_signals=False)
        except GracePeriodExceeded as error:  # of this version
            log.warning("%s", Lines(error))
        except Exception as error:  # noqa: BLE001 - of the program; the session continues until it is fixed
            trace = None if isinstance(error, PyctrlError) else error
            self._report(CODE, f"{self.name} failed: {type(error).__name__}: {error}", trace)
        finally:
            self._manager = None
            set_up.set()

    async def _stop(self) -> None:
        """Stop the program; running reconciles have `DevOptions.drain` to finish."""
        if self._manager is not None:
            self._manager.ask_to_stop()
        if self._task is not None:
            await asyncio.wait([self._task])
            self._task = None

    # --- extension API servers ---

    def _register_api_servers(self, requirements: Requirements) -> None:
        for number, service in enumerate(requirements.services):
            self.server.service_transports[in_process_host(service)] = partial(self._call_api_server, number)

    async def _call_api_server(self, number: int, request: ProxyRequest, /) -> Response:
        """Call an extension API server of the program in process."""
        servers = () if self._manager is None else self._manager.api_servers
        if number >= len(servers):
            raise ServiceUnreachable("the program does not run")
        return await servers[number](request)

    # --- webhooks ---

    async def _call_webhook(self, request: WebhookRequest, /) -> WebhookResponse:
        """Call the program's webhooks in process, and others over HTTPS, as an API server does."""
        if not request.url.startswith(WEBHOOK_HOST):
            return await HttpsCaller(_no_service)(request)
        url = urlsplit(request.url)
        serving = [each for each in (self.requirements.webhooks if self.requirements else ()) if url.path in each.paths]
        if not serving:
            raise OSError(f"the program has no webhook at {url.path}")
        timeout = parse_qs(url.query).get("timeout", [""])[0]
        reply = await serving[0].answer(url.path, request.body, timeout=timeout)
        return WebhookResponse(status=reply.status, body=reply.body)


@asynccontextmanager
async def _running(cache: Cache) -> AsyncIterator[asyncio.TaskGroup]:
    """Run a cache in a task group, and return the group. Other tasks in it must end before the block does."""
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run(), name="dev/cache")
            try:
                yield group
            finally:
                task.cancel()


def _no_service(service: ServiceReference) -> tuple[str, int]:
    raise OSError(f"no container runs behind the service {service.namespace}/{service.name}")


def _user(account: Key) -> User:
    """Return the user of a service account. Its token is valid for the session."""
    groups = (ACCOUNTS, f"{ACCOUNTS}:{account.namespace}")
    return User(name=f"system:serviceaccount:{account.namespace}:{account.name}", groups=groups)


def _meta(key: Key) -> ObjectMeta:
    return ObjectMeta(namespace=key.namespace, name=key.name)
