"""A session: the cluster, the program in it, and what happens when somebody saves a file."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pyctrl._log import Lines
from pyctrl._tasks import unwrapped
from pyctrl.api import GroupVersionKind, Key, ObjectMeta
from pyctrl.apiserver import ApiServer, HttpsCaller, ServiceReference, User, WebhookRequest, WebhookResponse
from pyctrl.cache import Cache
from pyctrl.client import Client, reporting_dropped_status
from pyctrl.cluster import Cluster
from pyctrl.dev._file_watcher import FileWatcher, python_files
from pyctrl.dev._journal import Journal
from pyctrl.dev._log_filter import cluster_logs
from pyctrl.dev._requirements import WEBHOOK_HOST, Requirements, controllers_of, find_requirements
from pyctrl.errors import CommandFailed, GracePeriodExceeded, NotFound, PyctrlError
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.manager import Preflight
from pyctrl.program import (
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

OWNER = "pyctrl-dev"  # of what the session applies
ACCOUNTS = "system:serviceaccounts"
CODE, SAMPLES = "code", "samples"  # what there may be a problem with


@dataclass(frozen=True, slots=True, kw_only=True)
class DevOptions:
    """How a session goes.

    Attributes:
        enforce_rights: the program logs in as an account that may do what its code declares, and nothing else.
        apply: files and directories with objects; None: the samples of the project or, if there are none, an
            object of each of its kinds that is made up.
        config: the directory of manifests whose samples are meant; None: ``config`` beside the program or above it.
        drain: what reconciles may take to end before the next version of the program takes over.
        poll: how often files are looked at.
        controllers: run what a controller manager does.
        kubelet: run pods on a pretend node.
        bind: gives the function that wires the program its arguments, each time that it was imported.
    """

    enforce_rights: bool = True
    apply: Sequence[Path] | None = None
    config: Path | None = None
    drain: timedelta = timedelta(seconds=5)
    poll: timedelta = timedelta(milliseconds=300)
    controllers: bool = True
    kubelet: bool = True
    bind: Callable[[SetupFunction], SetupFunction] = lambda wire: wire


class DevSession:
    """An operator in a cluster of its own, in this process, that follows what is saved.

        async with DevSession(Target.parse("operator.py")) as session:
            async with session.cluster.serve() as config: ...
            await session.run()

    Entering starts the cluster, installs the definitions that the program's types make, gives it the rights that its
    code declares, has the API server ask its webhooks, starts it and applies the samples. `run` follows the files: on
    a save the program is imported anew, its old version ends what it has begun, and the new one starts with the
    objects of the server and the caches as they are. What cannot be imported, wired or installed is said, and the
    old version goes on.

    Works in virtual time; nothing listens before ``cluster.serve()``.
    """

    def __init__(self, target: Target, options: DevOptions = DevOptions(), *, random: Random | None = None) -> None:
        """Say what is to be run; nothing is imported or started yet."""
        self.target: Target = target
        self.options: DevOptions = options
        self.random: Random = random or Random()
        self.server: ApiServer = ApiServer(
            random=self.random,
            authorization="RBAC" if options.enforce_rights else "AlwaysAllow",
            webhooks=self._ask,
        )
        self.cluster: Cluster = Cluster(
            server=self.server, random=self.random, controllers=options.controllers, kubelet=options.kubelet
        )
        self._login = self.cluster.config
        #: What its reconciles came to.
        self.journal: Journal = Journal()
        self._problems: dict[str, str] = {}
        #: How often it was loaded after the first time.
        self.reloads: int = 0
        self.plan: Requirements | None = None
        self._manager: ProgramManager | None = None
        self._life: asyncio.Task[None] | None = None
        self._applied: Mapping[tuple[GroupVersionKind, Key], None] = {}
        self._stack = AsyncExitStack()
        self._warned: set[str] = set()

    # --- beginning and end ---

    async def __aenter__(self) -> Self:
        self._files = FileWatcher(self._watched, every=self.options.poll)
        plan = await self._make_plan()  # before anything is started: it may not work
        async with AsyncExitStack() as stack:
            stack.enter_context(reporting_dropped_status(self._warn_once))
            with cluster_logs():
                await stack.enter_async_context(self.cluster)
            #: An administrator's client.
            self.admin: Client = await stack.enter_async_context(Client.connect(self.cluster.config, field_owner=OWNER))
            await self.admin.apply(ServiceAccount(metadata=_meta(self.account)))
            if self.options.enforce_rights:
                self._login = self.cluster.config_for(_user(self.account))
            client = await stack.enter_async_context(Client.connect(self._login, field_owner=self.name))
            self.cache: Cache = Cache(client, random=self.random)
            self._group = await stack.enter_async_context(_running(self.cache))
            stack.push_async_callback(self._stop)
            await self._take(plan)
            await self._told(SAMPLES, self._apply(self.samples))
            if self.options.apply is None and not self.samples:
                await self._told(SAMPLES, self._make_up(plan))
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
        """What the program is called."""
        return self.target.name

    @property
    def account(self) -> Key:
        """The service account that it is, unless rights are not enforced."""
        return Key("default", self.name)

    @property
    def problem(self) -> str:
        """Why what was saved last does not run, or is not applied; "" when all is well."""
        return "\n".join(self._problems.values())

    @property
    def manager(self) -> ProgramManager | None:
        """What runs the program now; None while nothing does."""
        return self._manager

    @property
    def samples(self) -> Sequence[Path]:
        """What is applied."""
        if self.options.apply is not None:
            return self.options.apply
        place = self.target.place
        return sample_paths(self.options.config) if self.options.config else find_samples(place.folder or place.root)

    # --- following what is saved ---

    async def run(self) -> None:
        """Follow the files until cancelled: load the program anew, apply samples anew."""
        while True:
            changed = await self._files.change()
            python = {file for file in changed if file.suffix == ".py"}
            if python:
                await self.reload()
            if samples := sorted(file for file in changed - python if file.exists()):
                await self._told(SAMPLES, self._apply(samples))

    async def reload(self) -> bool:
        """Load the program anew; tells whether that worked. If not, `problem` says why, and the old version goes on."""
        if not await self._told(CODE, self._load()):
            return False
        self.reloads += 1
        log.info("Loaded %s anew", self.name)
        if SAMPLES in self._problems:  # perhaps their definition has come
            await self._told(SAMPLES, self._apply(self.samples))
        return True

    async def _told(self, what: str, work: Awaitable[None]) -> bool:
        """Do something, and say if it fails."""
        self._problems.pop(what, None)
        try:
            await work
        except PyctrlError as error:
            self._complain(what, str(error))
            return False
        return True

    def _complain(self, what: str, problem: str, error: Exception | None = None) -> None:
        self._problems[what] = problem
        log.error("%s", Lines(problem), exc_info=error)

    def _watched(self) -> Iterable[Path]:
        yield from python_files(self.target.place, also_new=CODE in self._problems)
        for path in self.samples:
            try:
                yield from manifest_files(path)
            except CommandFailed:
                continue  # a directory that is empty now

    async def _load(self) -> None:
        """Import the program anew, and replace the old one by it.

        Raises:
            PyctrlError: it cannot be; nothing has changed then but, perhaps, definitions.
        """
        await self._take(await self._make_plan())

    async def _make_plan(self) -> Requirements:
        before = self._files.look()
        try:
            with self.target.place.anew(), cluster_logs():  # what it logs is heard when it is wired to run
                wire = self.options.bind(self.target.find())
                return await find_requirements(wire, name=self.name, account=self.account)
        finally:
            self._files.accept(before)

    async def _take(self, plan: Requirements) -> None:
        await install_definitions(self.admin, plan.definitions, allow_loss=True)  # a cluster that is made to be changed
        await self._stop()
        await self._replace_objects([*plan.rights, *plan.registrations])
        for informer in self.cache.informers:
            if informer.gvk not in plan.cached:
                await self.cache.remove(informer.gvk)
        await self._start(plan)

    async def _replace_objects(self, wanted: Sequence[dict[str, Any]]) -> None:
        """Apply the roles and registrations of the program, and delete those that only its last version had."""
        applied: dict[tuple[GroupVersionKind, Key], None] = {}
        for obj in wanted:
            made = await self.admin.apply(obj, force=True)
            applied[GroupVersionKind.parse(obj["apiVersion"], obj["kind"]), made.key] = None
        for kind, key in self._applied.keys() - applied.keys():
            try:
                await self.admin.delete(kind, key)
            except NotFound:
                continue  # somebody else was quicker
        self._applied = applied

    async def _apply(self, paths: Sequence[Path]) -> None:
        count = await apply_files(self.admin, paths)
        if count:
            log.info("Applied samples", extra={"objects": count, "files": [str(path) for path in paths]})

    async def _make_up(self, plan: Requirements) -> None:
        """Apply an object of each kind, so that there is something to see; after the first time nobody needs it."""
        for made in plan.samples():
            await self.admin.apply(made)
            log.info("Made up a sample", extra={"kind": made["kind"], "object": made["metadata"]["name"]})

    # --- the program ---

    async def _start(self, plan: Requirements) -> None:
        wired = asyncio.Event()
        self._life = self._group.create_task(self._live(plan, wired), name=f"dev/{self.name}")
        await wired.wait()

    async def _live(self, plan: Requirements, wired: asyncio.Event) -> None:
        manager = ProgramManager(
            self._login,
            cache=self.cache,
            random=self.random,
            grace_period=self.options.drain,
            preflight=Preflight.WARN if self.options.enforce_rights else Preflight.OFF,
        )
        try:
            async with manager:
                manager.webhook_options = WebhookOptions(enabled=False)
                run_setup(plan.wire, manager, self.name)
                if manager.loop_watchdog is not None:
                    manager.loop_watchdog.on_blocked = self.journal.note_blockage
                for controller in controllers_of(manager):
                    controller.on_reconciled(self.journal.of(controller.name))
                    controller.on_reconcile_loop(self.journal.loops_of(controller.name))
                self.plan, self._manager = plan, manager
                wired.set()
                await manager.run(handle_signals=False)
        except GracePeriodExceeded as error:  # its time was over, or a newer version's had come
            log.warning("%s", Lines(error))
        except Exception as error:  # noqa: BLE001 - the program's own; the session goes on, and somebody mends it
            trace = None if isinstance(error, PyctrlError) else error
            self._complain(CODE, f"{self.name} has ended: {type(error).__name__}: {error}", trace)
        finally:
            self._manager = None
            wired.set()

    async def _stop(self) -> None:
        """Let the program end what it has begun, for as long as `DevOptions.drain` says."""
        if self._manager is not None:
            self._manager.ask_to_stop()
        if self._life is not None:
            await asyncio.wait([self._life])
            self._life = None

    # --- webhooks ---

    async def _ask(self, request: WebhookRequest, /) -> WebhookResponse:
        """Ask the program's webhooks in process; any other over HTTPS, as an API server does."""
        if not request.url.startswith(WEBHOOK_HOST):
            return await HttpsCaller(_no_service)(request)
        url = urlsplit(request.url)
        asked = [each for each in (self.plan.webhooks if self.plan else ()) if url.path in each.paths]
        if not asked:
            raise OSError(f"the program has no webhook at {url.path}")
        timeout = parse_qs(url.query).get("timeout", [""])[0]
        reply = await asked[0].answer(url.path, request.body, timeout=timeout)
        return WebhookResponse(status=reply.status, body=reply.body)


@asynccontextmanager
async def _running(cache: Cache) -> AsyncIterator[asyncio.TaskGroup]:
    """Run a cache, and whatever else is added to the group that this gives, which has to end by itself."""
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            task = group.create_task(cache.run(), name="dev/cache")
            try:
                yield group
            finally:
                task.cancel()


def _no_service(service: ServiceReference) -> tuple[str, int]:
    raise OSError(f"no pod really runs behind the service {service.namespace}/{service.name}")


def _user(account: Key) -> User:
    """Return the user that an account is; its token is good as long as the session."""
    groups = (ACCOUNTS, f"{ACCOUNTS}:{account.namespace}")
    return User(name=f"system:serviceaccount:{account.namespace}:{account.name}", groups=groups)


def _meta(key: Key) -> ObjectMeta:
    return ObjectMeta(namespace=key.namespace, name=key.name)
