"""The cluster that a test uses, and the start of one for a session."""

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
    """The cluster of a test, of any `ClusterChoice`.

    Attributes:
        config: a login with every permission.
        choice: the kind of the cluster.
        has_rbac: whether requests are authorized by RBAC. The embedded cluster has it only in tests that are marked
            ``rbac`` or use the fixture ``under_role``, because it doubles the time to start.
        has_controllers: whether kube-controller-manager or its substitute runs: default service accounts, garbage
            collection, Deployments.
        webhooks: the webhooks that an embedded cluster calls in process.
    """

    config: Config
    choice: ClusterChoice
    has_rbac: bool = True
    has_controllers: bool = True
    webhooks: InProcessWebhooks | None = None

    @property
    def is_embedded(self) -> bool:
        """True for the embedded cluster, which starts empty and runs pods on a simulated kubelet."""
        return self.choice is ClusterChoice.EMBEDDED

    def client(self) -> Client:
        """Return a client of the cluster. The caller closes it."""
        return Client.connect(self.config)

    async def config_for_account(self, account: Key) -> Config:
        """Return the login of an existing service account, with tokens of one hour that are renewed in time.

        Raises:
            NotFound: the account does not exist.
            ConfigError: the cluster has no RBAC, so a test of permissions would prove nothing.
        """
        if not self.has_rbac:
            raise ConfigError("this cluster has no RBAC; mark the test with pytest.mark.rbac to test permissions on it")
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
    """Start or find the session's cluster, which is not embedded."""
    if choice is ClusterChoice.EXISTING:
        yield ClusterUnderTest(config=Config.load(), choice=choice)
        return
    from pyctrl.testing._cluster.control_plane import control_plane  # here: needs cryptography, of extra `test`

    with control_plane(Path(os.environ["KUBEBUILDER_ASSETS"])) as plane:
        config = Config.from_kubeconfig(plane.kubeconfig)
        yield ClusterUnderTest(config=config, choice=choice, has_controllers=plane.has_controllers)
