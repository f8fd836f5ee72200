# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""Unit tests of the defaulting webhook of PodSet."""

from pyctrl.testing import admission_request, sample_of

from shop.api.v1alpha1.podset import PodSet
from shop.webhooks.podset_defaults import PodSetDefaults


def test_create_sets_the_creator() -> None:
    """The annotation has the user who created the object; updates do not change it."""
    podset = sample_of(PodSet)
    PodSetDefaults().default(podset, admission_request(podset, username="jane"))
    PodSetDefaults().default(podset, admission_request(podset, old=podset, username="joe"))
    assert podset.metadata.annotations == {"apps.generated.pyctrl.test/created-by": "jane"}
