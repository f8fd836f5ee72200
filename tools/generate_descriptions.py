"""Write the descriptions of Kubernetes' types and fields as data of the package.

    python tools/generate_descriptions.py            download the sources of Kubernetes with the go command
    python tools/generate_descriptions.py SWAGGER    read `api/openapi-spec/swagger.json` of a checkout

They depend on the Kubernetes version: it is that of the other documents in `pyctrl/_schemas`. Afterwards run
tools/generate_kinds.py, which makes them the docstrings of `pyctrl.kinds`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

from pyctrl import _schemas

VERSION = "v1.36.2"
TARGET = Path(_schemas.__file__).parent / "descriptions.json.gz"
SOURCE = f"Kubernetes {VERSION}, api/openapi-spec/swagger.json"
LICENSE = "Copyright The Kubernetes Authors. Licensed under the Apache License, Version 2.0."


def main() -> None:
    """Read the document and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("swagger", nargs="?", type=Path)
    swagger = parser.parse_args().swagger or _downloaded()
    published = json.loads(swagger.read_text("utf-8"))["definitions"]
    found = {name: _texts(schema, published[name]) for name, schema in sorted(_definitions().items())}
    document = {"source": SOURCE, "license": LICENSE, "definitions": found}
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    TARGET.write_bytes(gzip.compress(data, mtime=0))  # without the time, so that the same texts are the same file
    print(f"{sum(map(len, found.values()))} texts of {len(found)} definitions in {TARGET}")


def _downloaded() -> Path:
    """Return the path of the document in the Go module cache."""
    command = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{VERSION}"]
    module = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return Path(module["Dir"]) / "api" / "openapi-spec" / "swagger.json"


def _definitions() -> dict[str, Any]:
    """Return the schemas that the package has, by the name of their definition."""
    documents = (_schemas.load(name)["schemas"] for name in _schemas.GROUP_VERSIONS)
    return {name: schema for document in documents for name, schema in document.items()}


def _texts(schema: dict[str, Any], published: dict[str, Any]) -> dict[str, str]:
    """Return the texts of a definition: its own under "", and one for each field that has one."""
    parts = {"": published, **published.get("properties", {})}
    names = ("", *schema.get("properties", {}))
    return {name: parts[name]["description"] for name in names if "description" in parts[name]}


if __name__ == "__main__":
    main()
