# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Unit tests of the validating webhook of PodSet."""

import pytest
from pyctrl.errors import Rejected
from pyctrl.testing import admission_request, sample_of

from shop.api.v1alpha1.podset import PodSet
from shop.webhooks.podset_validation import PodSetValidation


def test_a_sample_is_valid() -> None:
    """The sample can be created."""
    podset = sample_of(PodSet)
    PodSetValidation().validate_create(podset, admission_request(podset))


def test_a_long_name_is_rejected() -> None:
    """The error names the field."""
    podset = sample_of(PodSet)
    podset.metadata.name = "x" * 53
    with pytest.raises(Rejected) as refused:
        PodSetValidation().validate_create(podset, admission_request(podset))
    assert [cause.field for cause in refused.value.causes] == ["metadata.name"]
