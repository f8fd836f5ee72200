"""The files of a ``config/`` directory in kubebuilder's layout, with kustomizations."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyctrl.packaging._objects.parts import PARTS, Part, parts
from pyctrl.packaging._objects.samples import sample_names
from pyctrl.packaging._project import Project
from pyctrl.rbac import to_yaml

__all__ = ["DIRECTORIES", "KUSTOMIZATION", "tree"]

KUSTOMIZATION = "kustomization.yaml"

#: The directories of each part.
DIRECTORIES: Mapping[Part, tuple[str, ...]] = {
    "crd": ("crd",),
    "rbac": ("rbac",),
    "manager": ("manager", "default", "prometheus", "network-policy"),
    "webhook": ("webhook", "certmanager"),
    "apiservice": ("apiservice",),
    "samples": ("samples",),
}

#: The directories that `config/default` includes, in this order.
_DEFAULT = ("crd", "rbac", "manager", "webhook", "certmanager", "apiservice", "prometheus", "network-policy")


def tree(project: Project, wanted: Collection[Part] = PARTS) -> dict[str, str]:
    """Return the texts of files by their paths below ``config/``.

    ``kubectl apply -k config/default`` applies the objects of `install`. Each file has complete names and namespaces:
    kustomize adds nothing. The output is deterministic.

    Args:
        project: the program.
        wanted: return only the files of these parts.
    """
    sheets = parts(project)  # of all parts, because the kustomization of `default` lists them
    texts = {sheet.path: to_yaml(sheet.objects) for sheet in sheets}
    directories: dict[str, list[str]] = {}
    for path in texts:
        directory, _, rest = path.partition("/")
        directories.setdefault(directory, []).append(rest)
    if kept := [each for each in sample_names(project) if each not in directories.get("samples", ())]:
        directories["samples"] = sorted([*directories.get("samples", ()), *kept])
    default = directories.pop("default", [])
    for directory, files in directories.items():
        texts[f"{directory}/{KUSTOMIZATION}"] = kustomization(files)
    listed = [f"../{each}" for each in _DEFAULT if each in directories]
    texts[f"default/{KUSTOMIZATION}"] = kustomization([*listed, *default], is_sorted=True)
    of_parts = {directory for part in wanted for directory in DIRECTORIES[part]}
    return {path: text for path, text in sorted(texts.items()) if path.partition("/")[0] in of_parts}


def kustomization(resources: Collection[str], *, is_sorted: bool = False) -> str:
    """Return a kustomization. If sorted, namespaces and definitions come first, so that one apply succeeds."""
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    order = "sortOptions:\n  order: legacy\n" if is_sorted else ""
    return "".join([head, order, "resources:\n", *(f"- {each}\n" for each in resources)])
