"""Tests of the options of verbs: their defaults, and the errors of options that kube-apiserver refuses."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._request.options import (
    DeleteOptions,
    WriteOptions,
    delete_options,
    list_options,
    parse_list_version,
    parse_version,
    write_options,
)
from pyctrl.apiserver._request.request import QueryParameters


def test_write_options_without_parameters_warn_about_unknown_fields() -> None:
    """A write without parameters is stored, and unknown fields give warnings."""
    assert write_options(QueryParameters([]), "CreateOptions") == WriteOptions(
        dry_run=False, field_validation="Warn", force=False
    )


def test_write_options_report_all_errors_at_once() -> None:
    """Invalid options of a write are refused with 422 and one cause for each of them."""
    query = QueryParameters([("dryRun", "Some"), ("fieldValidation", "Hard"), ("force", "true")])
    with pytest.raises(StatusError) as refused:
        write_options(query, "PatchOptions")
    assert refused.value.code == 422
    causes = refused.value.status["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["force", "dryRun", "fieldValidation"]


def test_list_options_refuse_an_exact_match_of_version_zero() -> None:
    """A list at exactly resource version 0 is refused, as 0 stands for any version."""
    query = QueryParameters([("resourceVersion", "0"), ("resourceVersionMatch", "Exact")])
    with pytest.raises(StatusError, match='"exact" is forbidden for resourceVersion "0"'):
        list_options(query, watch=False)


def test_a_version_that_is_no_number_has_a_code_that_depends_on_the_verb() -> None:
    """A resource version that is no number is an error 400 in a list, and 500 without a reason elsewhere."""
    with pytest.raises(StatusError) as in_list:
        parse_list_version("x")
    with pytest.raises(StatusError) as elsewhere:
        parse_version("x")
    assert (in_list.value.code, elsewhere.value.code) == (400, 500)
    assert "reason" not in elsewhere.value.status


def test_the_body_of_a_delete_replaces_its_query() -> None:
    """Delete options come from the body when there is one, and the query is then ignored."""
    query = QueryParameters([("propagationPolicy", "Foreground"), ("gracePeriodSeconds", "5")])
    assert delete_options(query, None) == DeleteOptions(propagation="Foreground", grace_period_seconds=5)
    body = {"orphanDependents": True, "preconditions": {"uid": "u"}}
    assert delete_options(query, body) == DeleteOptions(propagation="Orphan", orphan_dependents=True, uid="u")


@pytest.mark.parametrize("name", ["limit", "timeoutSeconds"])
def test_an_empty_number_is_no_number(name: str) -> None:
    """A number of a list that is present but empty is refused with 400, as by Go's parser."""
    with pytest.raises(StatusError, match='parsing "": invalid syntax'):
        list_options(QueryParameters([(name, "")]), watch=False)


def test_a_delete_takes_its_preconditions_from_the_query() -> None:
    """`uid` and `resourceVersion` in the query of a delete without a body are preconditions."""
    options = delete_options(QueryParameters([("uid", "u"), ("resourceVersion", "7")]), None)
    assert (options.uid, options.resource_version) == ("u", "7")
    assert delete_options(QueryParameters([("resourceVersion", "")]), None) == DeleteOptions()


def test_a_continue_token_is_refused_for_a_watch_of_the_current_state_only() -> None:
    """A watch from a version ignores the token of a list; one from no version is a streamed list, which refuses it."""
    token = ("continue", "x")
    assert list_options(QueryParameters([("resourceVersion", "5"), token]), watch=True).continue_token == "x"
    with pytest.raises(StatusError, match="forbidden when continue is provided"):
        list_options(QueryParameters([token]), watch=True)
