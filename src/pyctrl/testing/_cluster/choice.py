"""Choice of the cluster that tests use, by environment variables; the embedded one by default.

| variable | cluster of the tests |
|---|---|
| none | a `pyctrl.cluster.Cluster` of its own for each test |
| ``KUBEBUILDER_ASSETS=DIRECTORY`` | a control plane started from the binaries in that directory, one for the session |
| ``USE_EXISTING_CLUSTER=true`` | the cluster of ``KUBECONFIG``, as for kubectl |

The variables are those of Go's envtest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum, auto

from pyctrl.errors import ConfigError

__all__ = ["ClusterChoice", "cluster_choice"]


class ClusterChoice(Enum):
    """Kind of the cluster that tests use."""

    EMBEDDED = auto()  # one per test, in its own process and event loop
    ASSETS = auto()  # started from binaries, one per session
    EXISTING = auto()  # not started by the tests, shared with other users


def cluster_choice(environment: Mapping[str, str] = os.environ) -> ClusterChoice:
    """Return the choice of the environment; an existing cluster wins over binaries, as in envtest.

    Raises:
        ConfigError: USE_EXISTING_CLUSTER is neither true nor false.
    """
    existing = environment.get("USE_EXISTING_CLUSTER", "").lower()
    if existing not in ("", "true", "false"):
        raise ConfigError(f"USE_EXISTING_CLUSTER is {existing!r}; it must be true or false")
    if existing == "true":
        return ClusterChoice.EXISTING
    return ClusterChoice.ASSETS if environment.get("KUBEBUILDER_ASSETS") else ClusterChoice.EMBEDDED
