"""Admission webhooks: requests, responses, defaulters and validators."""
