# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The Memcached API of the group cache.generated.pyctrl.test."""

from pyctrl import CustomResource, Int32, Int64, Model
from pydantic import Field


class MemcachedSpec(Model):
    """The desired state of a Memcached."""

    size: Int32 = Field(1, ge=0)
    """The desired number of pods."""


class MemcachedStatus(Model):
    """The observed state of a Memcached."""

    observed_generation: Int64 = 0

    ready: Int32 = 0
    """The number of ready pods."""


class Memcached(
    CustomResource[MemcachedSpec, MemcachedStatus],
    group="cache.generated.pyctrl.test",
    version="v1alpha1",
):
    """Memcached is the schema for the Memcached API."""
