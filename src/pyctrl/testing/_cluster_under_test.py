"""The cluster that a test runs against, and the start of one that outlives it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pyctrl.client import Client, Config
from pyctrl.testing._choice import Choice

__all__ = ["ClusterUnderTest", "outside_cluster"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterUnderTest:
    """The cluster of a test, whatever stands behind it.

    Attributes:
        config: how to reach it, with every right.
        choice: which one it is.
        has_controllers: something makes default service accounts, collects garbage and expands Deployments.
    """

    config: Config
    choice: Choice
    has_controllers: bool = True

    @property
    def is_embedded(self) -> bool:
        """Whether it is the one in this process, which starts empty and runs pods on a pretend kubelet."""
        return self.choice is Choice.EMBEDDED

    def client(self) -> Client:
        """Return a client of it. The caller closes it."""
        return Client.connect(self.config)


@contextmanager
def outside_cluster(choice: Choice) -> Iterator[ClusterUnderTest]:
    """Start or find the cluster that is not embedded; it lasts for the session."""
    if choice is Choice.EXISTING:
        yield ClusterUnderTest(config=Config.load(), choice=choice)
        return
    from pyctrl.testing._control_plane import control_plane  # here: needs cryptography, of extra `test`

    with control_plane(Path(os.environ["KUBEBUILDER_ASSETS"])) as plane:
        config = Config.from_kubeconfig(plane.kubeconfig)
        yield ClusterUnderTest(config=config, choice=choice, has_controllers=plane.has_controllers)
