# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The Fleet API of the group generated.pyctrl.test."""

from pyctrl import CustomResource, Int64, Model


class FleetSpec(Model):
    """The desired state of a Fleet."""


class FleetStatus(Model):
    """The observed state of a Fleet."""

    observed_generation: Int64 = 0


class Fleet(
    CustomResource[FleetSpec, FleetStatus],
    group="generated.pyctrl.test",
    version="v1",
    plural="armada",
    scope="Cluster",
):
    """Fleet is the schema for the Fleet API."""
