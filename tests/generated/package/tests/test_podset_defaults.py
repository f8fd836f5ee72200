# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""What is filled in of PodSet: asked as a function, which needs no server."""

from pyctrl.testing import admission_request, sample_of

from shop.api.v1alpha1.podset import PodSet
from shop.webhooks.podset_defaults import PodSetDefaults


def test_a_new_one_tells_who_made_it() -> None:
    """Whoever asks for it stands in an annotation, and afterwards nobody else does."""
    podset = sample_of(PodSet)
    PodSetDefaults().default(podset, admission_request(podset, username="jane"))
    PodSetDefaults().default(podset, admission_request(podset, old=podset, username="joe"))
    assert podset.metadata.annotations == {"apps.generated.pyctrl.test/created-by": "jane"}
