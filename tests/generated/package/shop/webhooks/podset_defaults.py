# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""The defaulting webhook of PodSet."""

from pyctrl.webhook import AdmissionRequest, Defaulter, Operation

from shop.api.v1alpha1.podset import PodSet


class PodSetDefaults(Defaulter[PodSet]):
    """Sets defaults of a PodSet that field defaults in its schema cannot express."""

    def default(self, obj: PodSet, request: AdmissionRequest) -> None:
        """Set an annotation with the name of the creator."""
        if request.operation is Operation.CREATE:
            obj.metadata.annotations["apps.generated.pyctrl.test/created-by"] = request.user.username
