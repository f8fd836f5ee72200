"""Simulation of an operator: every fault is tried against it, in virtual time, and a failure is told as a story."""

from __future__ import annotations

__all__: list[str] = []
