"""Logins and their JSON Web Tokens."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from pyctrl.api import Key

JENKINS = Key("default", "jenkins")


def jwt(claims: Mapping[str, Any]) -> str:
    payload = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"e30.{payload}.c2lnbmF0dXJl"
