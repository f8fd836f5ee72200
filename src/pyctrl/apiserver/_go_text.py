"""Values as Go's `%v` prints them, which some of kube-apiserver's messages show."""

from __future__ import annotations

from pyctrl.apiserver._schema import JSON


def go_text(value: JSON) -> str:
    """Print a value as Go's `%v` does."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_text(each)}' for name, each in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(go_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "<nil>"
    return str(value)
