# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The PodSet API of the group apps.generated.pyctrl.test."""

from pyctrl import CustomResource, Int64, Model


class PodSetSpec(Model):
    """The desired state of a PodSet."""


class PodSetStatus(Model):
    """The observed state of a PodSet."""

    observed_generation: Int64 = 0


class PodSet(
    CustomResource[PodSetSpec, PodSetStatus],
    group="apps.generated.pyctrl.test",
    version="v1alpha1",
):
    """PodSet is the schema for the PodSet API."""
