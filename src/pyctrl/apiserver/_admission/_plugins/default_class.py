"""The default of several classes: the one that an annotation marks."""

from __future__ import annotations

from pyctrl.apiserver._storage.storage import Collection

__all__ = ["newest_default"]


def newest_default(classes: Collection, *annotations: str) -> str | None:
    """Return the name of the class with an annotation "true"; of several, the newest, then the first by name."""
    found: list[tuple[str, str]] = []
    for stored in classes.current(""):
        metadata = stored.decode()["metadata"]
        if any((metadata.get("annotations") or {}).get(each) == "true" for each in annotations):
            found.append((metadata.get("creationTimestamp") or "", stored.name))
    newest = max((created for created, _ in found), default="")
    return min((name for created, name in found if created == newest), default=None)
