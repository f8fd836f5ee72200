"""Configurations of the plugins that call webhooks: their kubeconfigs, and the times of ImagePolicyWebhook."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final, TypeAlias

from pyctrl.apiserver._admission.image_policy_webhook import ImagePolicyConfiguration
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value
from pyctrl.apiserver._webhooks import WebhookUsers, read_webhook_target, read_webhook_users

__all__ = ["InvalidConfiguration", "image_policy_of", "webhook_users_of"]


_JSON: TypeAlias = Mapping[str, Any]
_ReadFile: TypeAlias = Callable[[str], bytes]
_MANIFESTS: Final = "staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"
_SECOND, _MILLISECOND = timedelta(seconds=1), timedelta(milliseconds=1)
_MINUTES: Final = timedelta(minutes=1)


class InvalidConfiguration(ValueError):
    """Raised for the configuration of a plugin; the text is kube-apiserver's."""


def webhook_users_of(value: _JSON, read_file: _ReadFile) -> WebhookUsers:
    """Return the users of a WebhookAdmissionConfiguration, with which the server authenticates to webhooks.

    Raises:
        InvalidConfiguration: A field is invalid.
        ValueError: The kubeconfig is invalid.
        OSError: A file cannot be read.
    """
    path = value.get("kubeConfigFile") or ""
    if path and not posixpath.isabs(path):
        raise _invalid(invalid_value("kubeConfigFile", path, "must be an absolute file path"))
    if value.get("staticManifestsDir"):
        raise _invalid(field_forbidden("staticManifestsDir", _MANIFESTS))
    return read_webhook_users(path, read_file) if path else WebhookUsers({})


def image_policy_of(value: _JSON, read_file: _ReadFile) -> ImagePolicyConfiguration:
    """Return the configuration of ImagePolicyWebhook.

    Raises:
        InvalidConfiguration: A time is out of its range.
        ValueError: The kubeconfig is invalid.
        OSError: A file cannot be read.
    """
    policy = value.get("imagePolicy") or {}
    retry = _time(policy.get("retryBackoff"), _MILLISECOND, timedelta(0), 5 * _MINUTES, 500 * _MILLISECOND)
    allow = _time(policy.get("allowTTL"), _SECOND, _SECOND, 30 * _MINUTES, 5 * _MINUTES)
    deny = _time(policy.get("denyTTL"), _SECOND, _SECOND, 30 * _MINUTES, 30 * _SECOND)
    return ImagePolicyConfiguration(
        target=read_webhook_target(policy.get("kubeConfigFile") or "", read_file),
        allow_ttl=allow,
        deny_ttl=deny,
        retry_backoff=retry,
        default_allow=bool(policy.get("defaultAllow")),
    )


def _time(value: int | None, unit: timedelta, least: timedelta, most: timedelta, default: timedelta) -> timedelta:
    """Return a time: -1 disables it, 0 is the default."""
    if value == -1:
        return timedelta(0)
    if not value:
        return default
    try:
        found = value * unit
    except OverflowError:
        found = timedelta.max
    if not least <= found <= most:
        shortest = "1ns" if not least else _shown(least)
        raise InvalidConfiguration(f"valid value is between {shortest} and {_shown(most)}, got {_shown(found)}")
    return found


def _shown(time: timedelta) -> str:
    """Return a time as Go prints it; the times of this configuration are whole milliseconds."""
    sign, left = ("-", -time) if time < timedelta(0) else ("", time)
    milliseconds = left // _MILLISECOND
    if milliseconds < 1000:
        return f"{sign}{milliseconds}ms"
    seconds, rest = divmod(milliseconds, 1000)
    shown = f"{seconds % 60}.{rest:03d}".rstrip("0").rstrip(".") + "s"
    minutes, hours = seconds // 60 % 60, seconds // 3600
    return sign + (f"{hours}h{minutes}m{shown}" if hours else f"{minutes}m{shown}" if minutes else shown)


def _invalid(error: FieldError) -> InvalidConfiguration:
    return InvalidConfiguration(f"{error.field}: {error.message}")
