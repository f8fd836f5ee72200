# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Memcached, cache.generated.pyctrl.test."""

from pyctrl import CustomResource, Int32, Int64, Model
from pydantic import Field


class MemcachedSpec(Model):
    """What the user wants."""

    size: Int32 = Field(1, ge=0)
    """How many pods run."""


class MemcachedStatus(Model):
    """What there is."""

    observed_generation: Int64 = 0

    ready: Int32 = 0
    """How many of the pods are ready."""


class Memcached(
    CustomResource[MemcachedSpec, MemcachedStatus],
    group="cache.generated.pyctrl.test",
    version="v1alpha1",
):
    """Memcached, as its users write it."""
