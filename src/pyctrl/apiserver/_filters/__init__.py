"""Filters that every request passes before its handler: authentication, impersonation, authorization, audit."""
