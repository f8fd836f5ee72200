"""The cluster for tests, chosen by the environment."""

from __future__ import annotations

import pytest

from pyctrl.errors import ConfigError
from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice


@pytest.mark.parametrize(
    ("environment", "choice"),
    [
        ({}, ClusterChoice.EMBEDDED),
        ({"USE_EXISTING_CLUSTER": "false"}, ClusterChoice.EMBEDDED),
        ({"KUBEBUILDER_ASSETS": ""}, ClusterChoice.EMBEDDED),
        ({"KUBEBUILDER_ASSETS": "bin"}, ClusterChoice.ASSETS),
        ({"USE_EXISTING_CLUSTER": "true"}, ClusterChoice.EXISTING),
        ({"USE_EXISTING_CLUSTER": "True", "KUBEBUILDER_ASSETS": "bin"}, ClusterChoice.EXISTING),
    ],
)
def test_environment_chooses(environment: dict[str, str], choice: ClusterChoice) -> None:
    """The embedded cluster is the default; binaries and an existing cluster are chosen as for Go's envtest."""
    assert cluster_choice(environment) is choice


def test_unclear_choice() -> None:
    """A value that is neither true nor false is an error."""
    with pytest.raises(ConfigError, match="must be true or false"):
        cluster_choice({"USE_EXISTING_CLUSTER": "1"})
