# SPDX-FileCopyrightText: Jane Doe
# SPDX-License-Identifier: Apache-2.0

"""What users of PodSet leave out, filled in before it is stored."""

from pyctrl.webhook import AdmissionRequest, Defaulter, Operation

from shop.api.v1alpha1.podset import PodSet


class PodSetDefaults(Defaulter[PodSet]):
    """Fills in what users of PodSet leave out, where the defaults of its fields cannot say it."""

    def default(self, obj: PodSet, request: AdmissionRequest) -> None:
        """Have each new one tell who made it."""
        if request.operation is Operation.CREATE:
            obj.metadata.annotations["apps.generated.pyctrl.test/created-by"] = request.user.username
