# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Fleet, generated.pyctrl.test."""

from pyctrl import CustomResource, Int64, Model


class FleetSpec(Model):
    """What the user wants."""


class FleetStatus(Model):
    """What there is."""

    observed_generation: Int64 = 0


class Fleet(
    CustomResource[FleetSpec, FleetStatus],
    group="generated.pyctrl.test",
    version="v2",
    plural="armada",
    scope="Cluster",
):
    """Fleet, as its users write it."""
