# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Unit tests of the conversion of Fleet."""

from pyctrl.testing import sample_of
from pyctrl.webhook import check_round_trip

from shop.api.v1 import fleet as v1
from shop.api.v2 import fleet as v2
from shop.webhooks.fleet_conversion import CONVERSION


def test_round_trips_lose_nothing() -> None:
    """Converting an object to another version and back does not change it."""
    check_round_trip(CONVERSION, sample_of(v1.Fleet))
    check_round_trip(CONVERSION, sample_of(v2.Fleet))
