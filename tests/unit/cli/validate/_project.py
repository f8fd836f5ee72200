"""A valid object."""

from __future__ import annotations

GOOD = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec: {size: 3}\n"
