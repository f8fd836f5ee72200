# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The validating webhook of PodSet."""

from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, FieldError, Validator

from shop.api.v1alpha1.podset import PodSet


class PodSetValidation(Validator[PodSet]):
    """Validates a PodSet beyond its schema. Add validate_update and validate_delete as needed."""

    def validate_create(self, obj: PodSet, request: AdmissionRequest) -> None:
        """Limit the length of the name, which is the prefix of the names of owned objects."""
        if len(obj.metadata.name) > 52:  # label values have at most 63 characters
            raise Rejected(FieldError.too_long("metadata.name", 52))
