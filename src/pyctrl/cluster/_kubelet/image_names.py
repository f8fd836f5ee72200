"""Names and ids of images and containers, as a container runtime reports them."""

from __future__ import annotations

import hashlib

__all__ = ["digest", "full_image_name", "image_id"]


def digest(*parts: str) -> str:
    return hashlib.sha256("/".join(parts).encode()).hexdigest()


def full_image_name(image: str) -> str:
    """Return the full image name as containerd reports it: with registry, and with a tag unless it has a digest."""
    first, slash, _ = image.partition("/")
    if not slash:
        image = f"docker.io/library/{image}"
    elif "." not in first and ":" not in first and first != "localhost":
        image = f"docker.io/{image}"
    return image if "@" in image or ":" in image.rpartition("/")[2] else f"{image}:latest"


def image_id(image: str) -> str:
    full = full_image_name(image)
    if "@" in full:
        return full
    return f"{full.rpartition(':')[0]}@sha256:{digest(full)}"
