"""Which cluster tests run against, by the environment."""

from __future__ import annotations

import pytest

from pyctrl.errors import ConfigError
from pyctrl.testing._choice import Choice, chosen


@pytest.mark.parametrize(
    ("environment", "choice"),
    [
        ({}, Choice.EMBEDDED),
        ({"USE_EXISTING_CLUSTER": "false"}, Choice.EMBEDDED),
        ({"KUBEBUILDER_ASSETS": ""}, Choice.EMBEDDED),
        ({"KUBEBUILDER_ASSETS": "bin"}, Choice.ASSETS),
        ({"USE_EXISTING_CLUSTER": "true"}, Choice.EXISTING),
        ({"USE_EXISTING_CLUSTER": "True", "KUBEBUILDER_ASSETS": "bin"}, Choice.EXISTING),
    ],
)
def test_environment_chooses(environment: dict[str, str], choice: Choice) -> None:
    """The embedded cluster is the default; binaries and an existing cluster are chosen as for Go's envtest."""
    assert chosen(environment) is choice


def test_unclear_choice() -> None:
    """A value that is neither true nor false is an error, not a guess."""
    with pytest.raises(ConfigError, match="must be true or false"):
        chosen({"USE_EXISTING_CLUSTER": "1"})
