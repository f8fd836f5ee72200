"""Authentication and authorization webhooks, called by an API server with their flags."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

import pytest
import pytest_asyncio

from pyctrl.api import Access, ObjectMeta
from pyctrl.apiserver import ApiServer, AuthenticationWebhook, AuthorizationWebhook, User
from pyctrl.client import BearerToken, Client, Config
from pyctrl.errors import Forbidden, Unauthorized
from pyctrl.kinds.authentication.v1 import SelfSubjectReview, TokenReview, TokenReviewSpec
from pyctrl.kinds.authorization.v1 import ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec
from pyctrl.kinds.core.v1 import ConfigMap, Secret, Service
from pyctrl.kinds.rbac.v1 import ClusterRoleBinding, RoleRef, Subject
from pyctrl.testing import control_plane
from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice
from pyctrl.testing._cluster.control_plane import write_serving_certificate
from pyctrl.webhook import AuthorizationDecision, Decision, UserInfo, Webhooks, WebhookServer

pytestmark = pytest.mark.slow("a real API server of its own takes ten seconds to start")

ADMIN = User(name="kubernetes-admin", groups=("system:masters",))
PATIENCE = 20.0


async def authenticate(token: str, audiences: Sequence[str]) -> UserInfo | None:
    """Authenticate the tokens that end with `-badge`."""
    if token == "torn-badge":
        raise OSError("the directory does not answer")
    name = token.removesuffix("-badge")
    return UserInfo(username=name, groups=("house",), extra={"floor": ["3"]}) if name != token else None


async def authorize(user: UserInfo, access: Access) -> Decision:
    """Allow the group to read ConfigMaps, deny Secrets, and have no opinion on the rest."""
    if "house" not in user.groups:
        return Decision(AuthorizationDecision.NONE)
    if access.resource == "services":
        raise OSError("the directory does not answer")
    if access.resource == "secrets":
        return Decision(AuthorizationDecision.DENY, "access to secrets is denied")
    if access.resource == "configmaps" and access.verb in ("get", "list"):
        return Decision(AuthorizationDecision.ALLOW, "everybody in the house may")
    return Decision(AuthorizationDecision.NONE, "the house does not mind")


@dataclass(frozen=True, slots=True)
class Served:
    """Running webhooks, and the data that an API server needs to call them."""

    url: str
    directory: Path

    @property
    def authority(self) -> bytes:
        return (self.directory / "ca.crt").read_bytes()

    def kubeconfig(self, path: str) -> Path:
        """Write the config file of kube-apiserver: a kubeconfig with the webhook as its cluster."""
        cluster = {"server": f"{self.url}{path}", "certificate-authority": "ca.crt"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "webhook", "cluster": cluster}],
            "contexts": [{"name": "webhook", "context": {"cluster": "webhook", "user": ""}}],
            "current-context": "webhook",
        }
        file = self.directory / f"{path.strip('/')}.kubeconfig"
        file.write_text(json.dumps(config))
        return file


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The webhooks in their own thread, because API servers call them during and between tests."""
    directory = tmp_path_factory.mktemp("webhooks")
    write_serving_certificate(directory)
    shutil.copy(directory / "serving.crt", directory / "tls.crt")
    shutil.copy(directory / "serving.key", directory / "tls.key")
    webhooks = Webhooks()
    webhooks.add_authentication("/authenticate", authenticate)
    webhooks.add_authorization("/authorize", authorize)
    listens = Event()

    async def serve(server: WebhookServer) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(server.run())
            await server.wait_until_ready()
            listens.set()

    with ThreadPoolExecutor(1) as thread, asyncio.Runner() as runner:
        server = WebhookServer(webhooks, certificates=directory, host="127.0.0.1", port=0)
        running = thread.submit(runner.run, serve(server))
        assert listens.wait(PATIENCE), running.exception(0)
        yield Served(f"https://127.0.0.1:{server.port}", directory)
        runner.get_loop().call_soon_threadsafe(server.ask_to_stop)
        running.result(PATIENCE)


@pytest.fixture(scope="module")
def real(served: Served) -> Iterator[Config | None]:
    """A real API server with the flags, if binaries exist; TokenReviews are v1beta1 unless a flag says v1."""
    if cluster_choice() is ClusterChoice.EMBEDDED:
        yield None
        return
    flags = {
        "authentication-token-webhook-config-file": served.kubeconfig("/authenticate"),
        "authorization-mode": "Webhook,RBAC",
        "authorization-webhook-config-file": served.kubeconfig("/authorize"),
        "authorization-webhook-version": "v1",
    }
    assets = Path(os.environ["KUBEBUILDER_ASSETS"])
    with control_plane(assets, apiserver_flags=[f"--{name}={value}" for name, value in flags.items()]) as plane:
        yield Config.from_kubeconfig(plane.kubeconfig)


@pytest_asyncio.fixture
async def admin(served: Served, real: Config | None) -> Config:
    """The administrator's config for an API server that calls the webhooks, real or embedded."""
    if real is not None:
        return real
    ca = served.authority
    server = ApiServer(
        authentication_webhook=AuthenticationWebhook(url=f"{served.url}/authenticate", ca=ca, version="v1beta1"),
        authorization_webhook=AuthorizationWebhook(url=f"{served.url}/authorize", ca=ca),
    )
    return Config.in_process(server, token=server.issue_token(ADMIN))


@pytest_asyncio.fixture
async def jane(admin: Config) -> AsyncIterator[Client]:
    """A client of a user that only the webhook knows."""
    async with Client.connect(replace(admin, credentials=BearerToken("jane-badge"))) as client:
        yield client


async def test_the_webhook_says_whose_a_token_is(admin: Config, jane: Client) -> None:
    """The API server takes name, groups and extra from the webhook, and returns them in a TokenReview."""
    found = await jane.create(SelfSubjectReview())
    user = found.status.user_info
    assert (user.username, user.groups, user.extra) == ("jane", ["house", "system:authenticated"], {"floor": ["3"]})

    async with Client.connect(admin) as client:
        reviewed = await client.create(TokenReview(spec=TokenReviewSpec(token="joe-badge")))
        unknown = await client.create(TokenReview(spec=TokenReviewSpec(token="joe-pass")))
    assert (reviewed.status.authenticated, reviewed.status.user.username) == (True, "joe")
    assert (bool(unknown.status.authenticated), unknown.status.error) == (False, "invalid bearer token")


@pytest.mark.parametrize("token", ["somebody", "torn-badge"])
async def test_who_is_not_known_is_let_in_by_nobody(admin: Config, token: str) -> None:
    """A token that the webhook rejects or fails to check is 401; other users still log in."""
    async with Client.connect(replace(admin, credentials=BearerToken(token))) as client:
        with pytest.raises(Unauthorized):
            await client.create(SelfSubjectReview())
    async with Client.connect(admin) as client:
        assert "system:masters" in (await client.create(SelfSubjectReview())).status.user_info.groups


async def test_the_webhook_allows_denies_and_leaves_it_to_roles(admin: Config, jane: Client) -> None:
    """A webhook's denial overrides roles, and its reason is shown; roles decide the rest."""
    metadata = ObjectMeta(generate_name="house-")
    role = RoleRef(api_group="rbac.authorization.k8s.io", kind="ClusterRole", name="cluster-admin")
    subject = Subject(api_group="rbac.authorization.k8s.io", kind="User", name="jane")
    assert await jane.list(ConfigMap, namespace="default") is not None
    with pytest.raises(Forbidden, match="the house does not mind"):
        await jane.delete(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
    async with Client.connect(admin) as client:
        binding = await client.create(ClusterRoleBinding(metadata=metadata, role_ref=role, subjects=[subject]))
        try:
            await _until_bound(jane)
            with pytest.raises(Forbidden, match="access to secrets is denied"):
                await jane.list(Secret, namespace="default")
        finally:
            await client.delete(binding)


async def _until_bound(client: Client) -> None:
    """Wait until roles allow what the webhook left undecided: a real server sees bindings after a while."""
    for _ in range(100):
        try:
            await client.list(Service, namespace="default")
        except Forbidden:
            await asyncio.sleep(0.1)
        else:
            return
    raise AssertionError("the binding does not count")


async def test_questions_about_oneself_are_answered_as_the_webhook_does(jane: Client) -> None:
    """`kubectl auth can-i` gets the webhook's denial and its reason."""
    wanted = ResourceAttributes(verb="list", resource="secrets", namespace="default")
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=wanted))
    status = (await jane.create(review)).status
    assert (status.allowed, status.denied, status.reason) == (False, True, "access to secrets is denied")
