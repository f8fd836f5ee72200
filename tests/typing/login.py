"""Credentials, as type checkers see them. Checked, never run."""

from __future__ import annotations

from typing import assert_type

from kubernetes_asyncio.client import Configuration

from pyctrl.client import Config


async def logins_with_kubernetes_asyncio(configuration: Configuration) -> None:
    """The library's own class is accepted, and both functions return a Config."""
    assert_type(Config.from_kubernetes_asyncio(configuration, namespace="shop"), Config)
    assert_type(await Config.load_with_kubernetes_asyncio(kubeconfig="config", context="dev"), Config)
