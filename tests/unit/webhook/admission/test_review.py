"""Admission reviews and the answers of typed handlers, without a server."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Unstructured, json_patch_apply
from pyctrl.errors import BadRequest, Denied, NotFound
from pyctrl.webhook import (
    AdmissionRequest,
    AdmissionResponse,
    Defaulter,
    Operation,
    Validator,
    defaulting,
    review,
    validating,
)
from tests.unit.webhook._kinds import PodSet, PodSetWebhook, patch_of, podset, question

VALIDATING = validating(PodSet, PodSetWebhook())
DEFAULTING = defaulting(PodSet, PodSetWebhook())


async def test_what_nothing_is_wrong_with_is_allowed() -> None:
    """An allowed write is answered with the review's uid and code 200."""
    answer = await review(VALIDATING, question("CREATE", podset(size=2)))

    assert answer == {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": "7", "allowed": True, "status": {"metadata": {}, "code": 200}},
    }


async def test_a_rejection_is_invalid_with_causes() -> None:
    """A Rejected is a 422 with a cause per field, worded as the API server's own validation."""
    answer = await review(VALIDATING, question("UPDATE", podset(size=1), podset(size=2, image="nginx")))

    status = answer["response"]["status"]
    assert not answer["response"]["allowed"]
    assert (status["code"], status["reason"], status["status"]) == (422, "Invalid", "Failure")
    assert status["message"] == (
        'PodSet.apps.jicki.cn "a" is invalid: [spec.size: Forbidden: must not shrink, spec.image: Required value]'
    )
    assert status["details"]["causes"] == [
        {"reason": "FieldValueForbidden", "message": "Forbidden: must not shrink", "field": "spec.size"},
        {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.image"},
    ]
    assert (status["details"]["kind"], status["details"]["name"]) == ("PodSet", "a")


async def test_a_denial_is_forbidden() -> None:
    """A Denied is a 403; the request has the user, and a deletion has the old object."""
    refused = await review(VALIDATING, question("DELETE", None, podset(size=2)))
    allowed = await review(VALIDATING, question("DELETE", None, podset(size=2), userInfo={"username": "jane"}))

    status = refused["response"]["status"]
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    assert status["message"] == "joe may delete empty PodSets only"
    assert allowed["response"]["allowed"]


async def test_warnings_come_with_the_permission() -> None:
    """Warnings of a validator reach the user."""
    answer = await review(VALIDATING, question("CREATE", podset(size=200)))

    assert (answer["response"]["allowed"], answer["response"]["warnings"]) == (True, ["that is a lot"])


async def test_a_bug_is_500_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """An exception refuses the write with a 500 and one sentence; the log has the traceback and the request's id."""
    with caplog.at_level(logging.ERROR, "pyctrl.webhook"):
        answer = await review(VALIDATING, question("CREATE", podset(size=13)))

    status = answer["response"]["status"]
    assert (answer["response"]["allowed"], status["code"], status["reason"]) == (False, 500, "InternalError")
    assert status["message"] == (
        "the webhook failed: RuntimeError: nobody thought of 13; its log has more, with requestID=7"
    )
    assert "Traceback" not in str(answer)
    assert caplog.records[0].exc_info is not None


async def test_an_error_of_the_server_goes_on_to_the_user() -> None:
    """An ApiError raised in a webhook keeps its code and Status."""

    class Reads(Validator[PodSet]):
        async def validate_create(self, obj: PodSet, request: AdmissionRequest) -> None:
            status = {"status": "Failure", "message": 'team "x" not found', "reason": "NotFound", "code": 404}
            raise NotFound('team "x" not found', status=status)

    answer = await review(validating(PodSet, Reads()), question("CREATE", podset()))

    status = answer["response"]["status"]
    assert (status["code"], status["reason"], status["message"]) == (404, "NotFound", 'team "x" not found')


async def test_connections_and_deletions_are_no_matter_of_defaulting() -> None:
    """A defaulter does not run for a deletion, and no handler runs for a connection."""
    assert patch_of(await review(DEFAULTING, question("DELETE", None, podset()))) == []
    assert (await review(VALIDATING, question("CONNECT")))["response"]["allowed"]


async def test_the_patch_has_what_was_changed_and_nothing_else() -> None:
    """The patch has one operation per default; unknown fields, nulls and unusual spellings stay unchanged."""
    given = podset(size=2, unknown={"deep": [1, None]}, tags=None, memory="1024Mi")

    patch = patch_of(await review(DEFAULTING, question("CREATE", given)))

    assert patch == [{"op": "add", "path": "/spec/image", "value": "nginx"}]
    assert json_patch_apply(given, patch)["spec"] == {**given["spec"], "image": "nginx"}


async def test_defaults_that_are_there_need_no_patch() -> None:
    """If the defaulter changes nothing, the object is allowed without a patch."""
    assert patch_of(await review(DEFAULTING, question("UPDATE", podset(image="a"), podset()))) == []


async def test_a_defaulter_may_return_another_object() -> None:
    """The object that default() returns replaces its argument; default() may be async."""

    class Anew(Defaulter[PodSet]):
        async def default(self, obj: PodSet, request: AdmissionRequest) -> PodSet:
            changed = obj.deep_copy()
            changed.metadata.labels = {"a/b": "~"}
            changed.spec.tags.append("new")
            return changed

    patch = patch_of(await review(defaulting(PodSet, Anew()), question("CREATE", podset(tags=["old"]))))

    assert patch == [
        {"op": "add", "path": "/metadata/labels", "value": {"a/b": "~"}},
        {"op": "add", "path": "/spec/tags/1", "value": "new"},
    ]


async def test_a_defaulter_may_refuse() -> None:
    """A Denied in default() refuses the write without a patch."""

    class Refuses(Defaulter[PodSet]):
        def default(self, obj: PodSet, request: AdmissionRequest) -> None:
            obj.spec.size = 1
            raise Denied("not here")

    answer = await review(defaulting(PodSet, Refuses()), question("CREATE", podset()))

    assert (answer["response"]["allowed"], patch_of(answer)) == (False, [])


async def test_a_kind_without_a_class() -> None:
    """With a GroupVersionKind, handlers get Unstructured objects with typed metadata."""

    class Labels(Defaulter[Unstructured]):
        def default(self, obj: Unstructured, request: AdmissionRequest) -> None:
            obj.metadata.labels["team"] = "x"
            obj["spec"]["size"] += 1

    handler = defaulting(GroupVersionKind("apps.jicki.cn", "v1alpha1", "PodSet"), Labels())
    patch = patch_of(await review(handler, question("CREATE", podset(size=1))))

    assert sorted(patch, key=lambda each: str(each["path"])) == [
        {"op": "add", "path": "/metadata/labels", "value": {"team": "x"}},
        {"op": "replace", "path": "/spec/size", "value": 2},
    ]


async def test_what_a_handler_learns_of_the_request() -> None:
    """A handler gets the operation, user, options, dry run, sub-resource and the kind that the user sent."""
    seen: list[AdmissionRequest] = []

    async def handler(request: AdmissionRequest) -> AdmissionResponse:
        seen.append(request)
        return AdmissionResponse(allowed=True, audit_annotations={"why": "because"})

    sent = {"group": "apps.jicki.cn", "version": "v1", "kind": "PodSet"}
    options = {"kind": "UpdateOptions", "fieldManager": "kubectl"}
    more: dict[str, Any] = {"requestKind": sent, "subResource": "status", "dryRun": True, "options": options}
    answer = await review(handler, question("UPDATE", podset(size=2), podset(size=1), **more))

    (request,) = seen
    assert (request.operation, request.subresource, request.dry_run) == (Operation.UPDATE, "status", True)
    assert (request.user.username, request.user.groups) == ("joe", ("system:authenticated",))
    assert (request.options["fieldManager"], request.request_kind.version) == ("kubectl", "v1")
    assert str(request.key) == "default/a"
    assert request.old_object is not None
    assert request.old_object["spec"] == {"size": 1}
    assert answer["response"]["auditAnnotations"] == {"why": "because"}


async def test_validators_that_return_nonsense_are_told() -> None:
    """A validator's result that is not a warning is an error that names the expected types."""

    class Yes(Validator[PodSet]):
        def validate_create(self, obj: PodSet, request: AdmissionRequest) -> Any:
            return True

    answer = await review(validating(PodSet, Yes()), question("CREATE", podset()))

    assert "Yes.validate_create() returned True; expected None, or warnings" in answer["response"]["status"]["message"]


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ({}, "expected admission.k8s.io/v1, Kind=AdmissionReview, got None, Kind=None"),
        ({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview"}, "got admission.k8s.io/v1beta1"),
        ({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}, "it has none"),
        ({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "1"}}, "'kind'"),
    ],
)
async def test_what_is_no_question_gets_no_answer(document: Mapping[str, Any], complaint: str) -> None:
    """A document that is not an AdmissionReview of v1 is a bad request that names the expected type."""
    with pytest.raises(BadRequest, match=complaint):
        await review(VALIDATING, document)


async def test_a_denial_has_warnings_and_no_patch() -> None:
    """The answer of a denied write has the handler's warnings, and no patch, which the API server would refuse."""

    async def deny(request: AdmissionRequest) -> AdmissionResponse:
        patch = ({"op": "add", "path": "/spec/image", "value": "x"},)
        return AdmissionResponse(allowed=False, code=403, message="no", patch=patch, warnings=("careful",))

    answer = (await review(deny, question("CREATE", podset(size=2))))["response"]
    assert not answer["allowed"]
    assert answer["warnings"] == ["careful"]
    assert {"patch", "patchType"}.isdisjoint(answer)


async def test_defaults_are_not_set_on_what_is_deleted() -> None:
    """A mutating webhook answers a deletion without a patch and without its defaulter."""
    called: list[str] = []

    class Counting(Defaulter[PodSet]):
        def default(self, obj: PodSet, request: AdmissionRequest) -> None:
            called.append(request.operation)

    for operation in ("DELETE", "CONNECT"):
        answer = await review(defaulting(PodSet, Counting()), question(operation, None, podset(size=2)))
        assert answer["response"]["allowed"]
    assert called == []
