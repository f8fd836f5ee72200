"""The messages about invalid bundles: each rule is broken once."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.packaging import check_bundle
from tests.unit.packaging._bundles import (
    ADVICE,
    CRD,
    CSV,
    HUB_MISTAKES,
    MISSED,
    MISTAKES,
    Files,
    Mistake,
    bundle_of,
    encoded,
)
from tests.unit.packaging._programs import WIDGETS

OWNS = WIDGETS.replace(
    'class WidgetReconciler(Reconciler[Widget]):\n    """Makes them."""\n',
    'from pyctrl.kinds.apps.v1 import Deployment\n\n\nclass WidgetReconciler(Reconciler[Widget]):\n    """Makes."""\n\n'
    "    owns = (Deployment,)\n",
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return encoded(asyncio.run(bundle_of(tmp_path_factory.mktemp("bundle"), OWNS)))


@pytest.fixture
def files(whole: Files) -> Files:
    return {path: data for path, data in whole.items() if "clusterrole" not in path}  # faster without


def test_a_bundle_that_is_made_has_nothing_wrong_but_its_icon(whole: Files) -> None:
    """A generated bundle passes all suites, except for its missing icon."""
    assert [(each.suite, each.path, each.is_warning) for each in check_bundle(whole)] == [
        ("operatorhub", "spec.icon", True)
    ]


@pytest.mark.parametrize("mistake", [*MISTAKES, *MISSED], ids=lambda each: each.name)
def test_what_the_operator_sdk_refuses_is_refused_and_what_it_should(files: Files, mistake: Mistake) -> None:
    """Mistakes that operator-sdk rejects, and some that it misses, are errors with file, field and expected value."""
    mistake.make(files)
    found = check_bundle(files, suites=["bundle"], place="bundle/")
    assert any(mistake.told in str(each) and not each.is_warning for each in found), [str(each) for each in found]


@pytest.mark.parametrize("mistake", HUB_MISTAKES, ids=lambda each: each.name)
def test_what_operatorhub_refuses_is_refused_by_its_rules_only(files: Files, mistake: Mistake) -> None:
    """A mistake that only operatorhub.io rejects is reported only with its suite."""
    mistake.make(files)
    (found,) = [each for each in check_bundle(files) if not each.is_warning]
    assert mistake.told in str(found)
    assert found.suite == "operatorhub"


@pytest.mark.parametrize("mistake", ADVICE, ids=lambda each: each.name)
def test_what_others_advise_against_is_a_warning(files: Files, mistake: Mistake) -> None:
    """A warning does not make a bundle invalid."""
    mistake.make(files)
    found = [each for each in check_bundle(files) if mistake.told in str(each)]
    assert [each.is_warning for each in found] == [True]


def test_what_would_fail_in_a_cluster_is_told_before(files: Files) -> None:
    """An example that violates its schema, an invalid Deployment and an unknown field are errors."""
    text = files[CSV].decode().replace('"colour": "red"', '"colour": "green"')
    text = text.replace("containerPort: 8081", "containerPort: 808100").replace("  displayName: W", "  displayname: W")
    files[CSV] = text.replace(
        "spec:\n  displayname: Widgets", "spec:\n  displayName: Widgets\n  displayname: x"
    ).encode()
    told = "\n".join(
        f"{'warning' if each.is_warning else 'error'} {each}" for each in check_bundle(files, suites=["cluster"])
    )
    assert 'alm-examples: [0].spec.colour: Unsupported value: "green"' in told
    assert "ports[0].containerPort: Invalid value: 808100" in told
    assert f"warning {CSV}:" in told
    assert 'spec.displayname: unknown field "spec.displayname" (did you mean displayName?)' in told


def test_what_the_scorecard_would_say_is_told(files: Files) -> None:
    """Kinds without resources, and example fields without descriptor or schema, are reported as by the scorecard."""
    text = files[CSV].decode().replace("      - path: colour\n", "      - path: color\n")
    files[CSV] = text.replace(
        "      resources:\n      - kind: Deployment\n        name: ''\n        version: v1\n", ""
    ).encode()
    files[CRD] = files[CRD].replace(b"              parts:\n", b"              pieces:\n")
    told = "\n".join(map(str, check_bundle(files, suites=["scorecard"])))
    assert "widgets.example.com has no resources" in told
    assert "spec of Widget has 'colour' in its example, but no specDescriptor with that path" in told
    assert "the schema of Widget lacks spec.parts, which its example has" in told
