# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""What is refused of PodSet, before it is stored."""

from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, FieldError, Validator

from shop.api.v1alpha1.podset import PodSet


class PodSetValidation(Validator[PodSet]):
    """Refuses what the types of PodSet cannot rule out; validate_update and validate_delete would be asked, too."""

    def validate_create(self, obj: PodSet, request: AdmissionRequest) -> None:
        """Leave room in its name, with which the names of what is made for it begin."""
        if len(obj.metadata.name) > 52:  # labels hold 63
            raise Rejected(FieldError.too_long("metadata.name", 52))
