"""The files of a ``config/`` directory, as kubebuilder lays it out: what is in them, and the kustomizations."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyctrl.packaging._objects.parts import PARTS, Part, parts
from pyctrl.packaging._objects.samples import sample_names
from pyctrl.packaging._project import Project
from pyctrl.rbac import to_yaml

__all__ = ["DIRECTORIES", "KUSTOMIZATION", "tree"]

KUSTOMIZATION = "kustomization.yaml"

#: Where the files of a part are.
DIRECTORIES: Mapping[Part, tuple[str, ...]] = {
    "crd": ("crd",),
    "rbac": ("rbac",),
    "manager": ("manager", "default", "prometheus", "network-policy"),
    "webhook": ("webhook", "certmanager"),
    "samples": ("samples",),
}

#: What `config/default` is made of, in this order.
_DEFAULT = ("crd", "rbac", "manager", "webhook", "certmanager", "prometheus", "network-policy")


def tree(project: Project, wanted: Collection[Part] = PARTS) -> dict[str, str]:
    """Return the texts of files by their paths below ``config/``.

    ``kubectl apply -k config/default`` applies what `install` has: names and namespaces are whole in each file, and
    kustomize has nothing to put in. The same program gives the same bytes.

    Args:
        project: the program.
        wanted: the files of these parts only.
    """
    sheets = parts(project)  # all of them: the kustomization of `default` lists what there is
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
    """Return a kustomization. Sorted, it gives namespaces and definitions first: one ``kubectl apply`` takes it all."""
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    order = "sortOptions:\n  order: legacy\n" if is_sorted else ""
    return "".join([head, order, "resources:\n", *(f"- {each}\n" for each in resources)])
