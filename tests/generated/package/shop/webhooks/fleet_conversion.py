# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Conversion of Fleet between its versions, with the storage version v2 as the hub."""

from pyctrl.webhook import Conversion, Spoke, same_fields

from shop.api.v1 import fleet as v1
from shop.api.v2 import fleet as v2


def v1_to_v2(obj: v1.Fleet) -> v2.Fleet:
    """Convert v1 to v2. Fields with the same name are copied; convert the others here."""
    return same_fields(obj, v2.Fleet)


def v2_to_v1(obj: v2.Fleet) -> v1.Fleet:
    """Convert v2 to v1. Fields with the same name are copied; convert the others here."""
    return same_fields(obj, v1.Fleet)


CONVERSION = Conversion(
    v2.Fleet,
    Spoke(v1.Fleet, to_hub=v1_to_v2, from_hub=v2_to_v1),
)
