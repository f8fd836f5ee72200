"""Generated samples for the versions of kinds without a sample of the author."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pyctrl.api import GroupVersionKind
from pyctrl.manifests import DEFINITION, Document, ManifestValidator, read_manifest_objects, sample
from pyctrl.packaging._project import Project
from pyctrl.program import Manifest
from pyctrl.rbac import to_yaml

__all__ = ["generated_samples", "missing_samples", "problems_of", "sample_names"]


Object = dict[str, Any]

DIRECTORY = "samples"


def generated_samples(project: Project) -> Iterator[tuple[str, Object]]:
    """Yield the generated samples: the path of each below ``config/``, and the object.

    Each version of a kind gets one unless the author has a sample of it in another file. If both files exist, the
    generated one is left out if it is unedited, so that it is removed.
    """
    for gvk, path, made in _made(project):
        kept = [each for each in project.samples if _gvk(each) == gvk]
        here = [each for each in kept if each.file == project.settings.directory / path]
        if len(kept) == len(here) or any(each.obj != made for each in here):
            yield path, made


def missing_samples(project: Project) -> list[Object]:
    """Return generated samples of the versions without a sample of the author."""
    kept = {_gvk(each) for each in project.samples}
    return [made for gvk, _, made in _made(project) if gvk not in kept]


def sample_names(project: Project) -> list[str]:
    """Return the names of the author's files in ``samples``, which its kustomization lists as well."""
    staying = {path for path, _ in generated_samples(project)}
    leaving = {path for _, path, _ in _made(project)} - staying
    directory = project.settings.directory / DIRECTORY
    names = {each.file.name for each in project.samples if each.file.parent == directory}
    return sorted(names - {path.rpartition("/")[2] for path in leaving})


def _made(project: Project) -> Iterator[tuple[GroupVersionKind, str, Object]]:
    """Yield a generated sample of each version, with its path.

    Versions of a kind share their objects. Therefore the sample of the stored version is named ``KIND-sample``, and
    those of other versions ``KIND-VERSION-sample``, as is that of the stored version if another version uses its name.
    """
    for versions, definition in zip(project.kinds, project.definitions, strict=True):
        stored = next(each["name"] for each in definition["spec"]["versions"] if each["storage"])
        for kind in sorted(versions, key=lambda each: each.gvk.version):
            gvk, made = kind.gvk, sample(definition, version=kind.gvk.version)
            if gvk.version != stored or made["metadata"]["name"] in _names_of_others(project, gvk):
                made["metadata"]["name"] = f"{kind.resource.singular}-{gvk.version}-sample"
            yield gvk, f"{DIRECTORY}/{gvk.group}_{gvk.version}_{gvk.kind.lower()}.yaml", made


def _names_of_others(project: Project, gvk: GroupVersionKind) -> set[str]:
    """Return the names of the author's samples of other versions of a kind."""
    found = [each for each in project.samples if _gvk(each).group_kind == gvk.group_kind and _gvk(each) != gvk]
    return {each.obj["metadata"]["name"] for each in found}


def _gvk(manifest: Manifest) -> GroupVersionKind:
    return GroupVersionKind.parse(manifest.obj["apiVersion"], manifest.obj["kind"])


def problems_of(text: str, definitions: Iterable[Mapping[str, Any]], source: str) -> list[str]:
    """Return the problems that the API server would report for the objects of a file, each with its line.

    Args:
        text: the text of the file.
        definitions: the program's CustomResourceDefinitions.
        source: the name of the file, for messages.
    """
    validator = ManifestValidator()
    for document in read_manifest_objects(to_yaml(definitions).encode(), "definitions"):
        validator.define(document)
    return [
        line for document in read_manifest_objects(text.encode(), source) for line in _problem_text(validator, document)
    ]


def _problem_text(validator: ManifestValidator, document: Document) -> Iterator[str]:
    if (document.obj.get("apiVersion"), document.obj.get("kind")) == DEFINITION:
        return
    verdict = validator.validate(document)
    if not verdict.is_unknown:
        yield from (f"{document.source}:{each.line}:{each.column}: {each}" for each in verdict.problems)
