"""The controller of the status of ValidatingAdmissionPolicies."""
