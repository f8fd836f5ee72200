"""Subscriptions: what each reconcile has read, and the requests to run again when it changes."""
