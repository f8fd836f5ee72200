"""The questions that users ask are answered at a heading that names them, at most two clicks from docs/index.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests._documents import ROOT, anchors, headings

DOCS = ROOT / "docs"
CLICKS = 2

#: The words of each question, and the place that answers it.
QUESTIONS = {
    "watch Secrets ConfigMaps my resource": "recipes/watch-referenced-objects.md#why-it-works",
    "reconcile when a referenced Secret changes": "reads.md#reads-reconcile-when-a-referenced-secret-changes",
    "mapping functions and field indexes in Go": "reads.md#mapping-functions-and-field-indexes-in-go",
    "who depends on what": "reads.md#who-depends-on-what",
    "metrics port": "metrics.md#metrics-port",
    "single finalizer": "recipes/external-api-finalizer.md#a-single-finalizer-without-objectreconciler",
    "status conditions": "recipes/status-conditions.md#why-it-works",
    "multiple namespaces": "recipes/multiple-namespaces.md#what-changes",
    "upgrade CRD version": "recipes/upgrade-crd-version.md#the-steps-one-release-each",
    "RBAC permissions": "rbac.md#declaring-permissions",
    "retry backoff": "recipes/retry-backoff.md#what-the-queue-does",
    "webhooks without cert-manager": "recipes/webhooks-without-cert-manager.md#certificates",
    "leader election locally": "leader-election.md#leader-election-locally",
    "scale replicas HPA KEDA": "recipes/scale-replicas.md#with-keda",
    "why reconcile not run": "recipes/debug-reconcile.md#it-does-not-run",
    "deploy to cluster": "manifests.md#deploying-to-a-cluster",
    "test without a cluster": "testing.md#a-cluster-for-each-test",
    "resource limits of the operator": "manifests.md#resource-limits-and-requests-of-the-operator",
    "why an object fails": "recipes/debug-reconcile.md#see-why-an-object-fails",
    "add a field to CRD": "recipes/upgrade-crd-version.md#add-a-field-to-a-crd",
    "run two operators": "running.md#two-operators-at-once",
    "requeue after": "recipes/periodic-work.md#which-tool-for-what",
}


def linked_pages(file: Path) -> set[Path]:
    """Return the pages that a page links to."""
    links = re.findall(r"\]\(((?!\w+:)[^)#\s]+\.md)(?:#[^)\s]*)?\)", file.read_text())
    return {(file.parent / link).resolve() for link in links}


def pages_within(clicks: int) -> set[Path]:
    """Return the pages that can be reached from docs/index.md with so many clicks."""
    reached = {DOCS / "index.md"}
    for _ in range(clicks):
        reached |= {target for page in reached for target in linked_pages(page)}
    return reached


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_two_clicks_from_the_start(question: str) -> None:
    """The answer is at a heading that exists, on a page that is at most two clicks away from docs/index.md."""
    page, _, anchor = QUESTIONS[question].partition("#")

    assert anchor in anchors(DOCS / page)
    assert DOCS / page in pages_within(CLICKS)


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_words_of_a_question_are_in_the_headings_of_its_page(question: str) -> None:
    """A search finds the page: the words that people type are in its title or its headings."""
    page = QUESTIONS[question].partition("#")[0]
    text = " ".join(headings(DOCS / page)).lower()

    assert [word for word in question.lower().split() if word not in text] == []


def test_each_recipe_is_listed_and_is_a_page_long() -> None:
    """Every recipe is linked from docs/recipes/index.md, and has at most 150 lines that are not empty or hidden."""
    recipes = {file for file in (DOCS / "recipes").glob("*.md") if file.name != "index.md"}
    shown = {file.name: re.sub(r"<!--.*?-->", "", file.read_text(), flags=re.DOTALL) for file in recipes}
    lengths = {name: sum(bool(line.strip()) for line in text.splitlines()) for name, text in shown.items()}

    assert recipes <= linked_pages(DOCS / "recipes" / "index.md")
    assert {name: length for name, length in lengths.items() if length > 150} == {}
