# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Fleet in each of its versions, by way of v2, which is stored."""

from pyctrl.webhook import Conversion, Spoke, same_fields

from shop.api.v1 import fleet as v1
from shop.api.v2 import fleet as v2


def v1_to_v2(obj: v1.Fleet) -> v2.Fleet:
    """Say in v2 what is said in v1; fields of other names are to be carried over here."""
    return same_fields(obj, v2.Fleet)


def v2_to_v1(obj: v2.Fleet) -> v1.Fleet:
    """Say in v1 what is said in v2; fields of other names are to be carried over here."""
    return same_fields(obj, v1.Fleet)


CONVERSION = Conversion(
    v2.Fleet,
    Spoke(v1.Fleet, to_hub=v1_to_v2, from_hub=v2_to_v1),
)
