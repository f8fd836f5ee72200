"""The cluster that a test runs against, and the start of one that outlives it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl.api import Key
from pyctrl.client import Client, Config
from pyctrl.errors import ConfigError
from pyctrl.testing._cluster.choice import ClusterChoice
from pyctrl.testing._cluster.service_account_token import AccountToken

if TYPE_CHECKING:
    from pyctrl.testing._cluster.install_kinds import InProcessWebhooks  # it needs this file

__all__ = ["ClusterUnderTest", "outside_cluster"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUnderTest:
    """The cluster of a test, whatever stands behind it.

    Attributes:
        config: how to reach it, with every right.
        choice: which one it is.
        has_rbac: roles decide who may do what. The embedded one has it in tests that are marked ``rbac`` or take the
            fixture ``under_role``, for it takes as long again to start.
        has_controllers: something makes default service accounts, collects garbage and expands Deployments.
        webhooks: those that the server of an embedded cluster asks in process.
    """

    config: Config
    choice: ClusterChoice
    has_rbac: bool = True
    has_controllers: bool = True
    webhooks: InProcessWebhooks | None = None

    @property
    def is_embedded(self) -> bool:
        """Whether it is the one in this process, which starts empty and runs pods on a pretend kubelet."""
        return self.choice is ClusterChoice.EMBEDDED

    def client(self) -> Client:
        """Return a client of it. The caller closes it."""
        return Client.connect(self.config)

    async def config_for_account(self, account: Key) -> Config:
        """Return how to reach it as a service account, which is there: with tokens of an hour, renewed in time.

        Raises:
            NotFound: there is no such account.
            ConfigError: everybody may do everything here, so that a test would prove nothing.
        """
        if not self.has_rbac:
            raise ConfigError("this cluster has no RBAC: mark the test with pytest.mark.rbac to test rights on it")
        token = AccountToken(self.config, account)
        await token.authorization()
        return replace(
            self.config,
            namespace=account.namespace,
            credentials=token,
            tls=replace(self.config.tls, certificate=None),
            impersonate=None,
            source=str(token),
        )


@contextmanager
def outside_cluster(choice: ClusterChoice) -> Iterator[ClusterUnderTest]:
    """Start or find the cluster that is not embedded; it lasts for the session."""
    if choice is ClusterChoice.EXISTING:
        yield ClusterUnderTest(config=Config.load(), choice=choice)
        return
    from pyctrl.testing._cluster.control_plane import control_plane  # here: needs cryptography, of extra `test`

    with control_plane(Path(os.environ["KUBEBUILDER_ASSETS"])) as plane:
        config = Config.from_kubeconfig(plane.kubeconfig)
        yield ClusterUnderTest(config=config, choice=choice, has_controllers=plane.has_controllers)
