"""Which cluster tests run against: the embedded one, unless the environment says otherwise.

| variable | what tests use |
|---|---|
| none | a `pyctrl.cluster.Cluster` of its own for each test |
| ``KUBEBUILDER_ASSETS=DIRECTORY`` | a control plane started from the binaries in there, one for the session |
| ``USE_EXISTING_CLUSTER=true`` | the cluster that ``KUBECONFIG`` names, as kubectl finds it |

The variables are those of Go's envtest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum, auto

from pyctrl.errors import ConfigError

__all__ = ["ClusterChoice", "cluster_choice"]


class ClusterChoice(Enum):
    """Which cluster the environment chooses."""

    EMBEDDED = auto()  # made by each test, in its own process and event loop
    ASSETS = auto()  # started from binaries, shared by the session
    EXISTING = auto()  # somebody else's, shared with whoever uses it


def cluster_choice(environment: Mapping[str, str] = os.environ) -> ClusterChoice:
    """Read the choice; an existing cluster wins over binaries, as in envtest.

    Raises:
        ConfigError: USE_EXISTING_CLUSTER is neither true nor false.
    """
    existing = environment.get("USE_EXISTING_CLUSTER", "").lower()
    if existing not in ("", "true", "false"):
        raise ConfigError(f"USE_EXISTING_CLUSTER is {existing!r}; it must be true or false")
    if existing == "true":
        return ClusterChoice.EXISTING
    return ClusterChoice.ASSETS if environment.get("KUBEBUILDER_ASSETS") else ClusterChoice.EMBEDDED
