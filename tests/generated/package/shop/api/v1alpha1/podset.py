# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""PodSet, apps.generated.pyctrl.test."""

from pyctrl import CustomResource, Int64, Model


class PodSetSpec(Model):
    """What the user wants."""


class PodSetStatus(Model):
    """What there is."""

    observed_generation: Int64 = 0


class PodSet(
    CustomResource[PodSetSpec, PodSetStatus],
    group="apps.generated.pyctrl.test",
    version="v1alpha1",
):
    """PodSet, as its users write it."""
