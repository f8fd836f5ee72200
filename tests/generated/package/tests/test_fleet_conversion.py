# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The versions of Fleet: what one says, the others say, and back."""

from pyctrl.testing import sample_of
from pyctrl.webhook import check_round_trip

from shop.api.v1 import fleet as v1
from shop.api.v2 import fleet as v2
from shop.webhooks.fleet_conversion import CONVERSION


def test_nothing_is_lost_on_the_way() -> None:
    """An object of each version, made one of each other and back, is what it was."""
    check_round_trip(CONVERSION, sample_of(v1.Fleet))
    check_round_trip(CONVERSION, sample_of(v2.Fleet))
