"""Access reviews: ask the API server which accesses a user has, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from math import ceil
from typing import Any

from pyctrl.api import Access, GroupVersionKind, Key, Unstructured
from pyctrl.client import Client
from pyctrl.errors import Forbidden, NotFound, PyctrlError, UnknownKind

__all__ = ["AccessReview", "AccessReviewStatus", "review_accesses", "whoami"]

# Reviews at a time. Each takes the server well below a millisecond, so most of the time is the round trip.
CONCURRENT_REVIEWS = 8
# Reviews for each connection, at least: opening one takes as long as three reviews, and 0.3 MB with TLS.
REVIEWS_PER_CONNECTION = 4


class AccessReviewStatus(Enum):
    """The result of a review."""

    ALLOWED = "allowed"
    MISSING = "missing"
    #: The review failed.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessReview:
    """An access, and whether it is allowed.

    Attributes:
        access: the reviewed access.
        verdict: the result.
        remark: the server's remark, such as a binding to a role that does not exist; or why the review failed.
        may_change: whether a failed review may succeed later.
    """

    access: Access
    verdict: AccessReviewStatus
    remark: str = ""
    may_change: bool = False


async def review_accesses(
    client: Client,
    accesses: Iterable[Access],
    *,
    account: Key | None = None,
    patience: timedelta = timedelta(seconds=10),
) -> list[AccessReview]:
    """Review accesses, each once. Errors of the server do not raise, but make a review UNKNOWN.

    Args:
        client: sends the reviews; without ``account``, its user is reviewed.
        accesses: the accesses to review.
        account: the service account to review, which needs permission to create SubjectAccessReviews.
        patience: the timeout of all reviews together; those not answered by then are UNKNOWN.

    Returns:
        The reviews, in the order of the accesses.
    """
    wanted = list(dict.fromkeys(accesses))
    reviews: dict[Access, AccessReview] = {}
    waiting = iter(wanted)
    try:
        async with asyncio.timeout(patience.total_seconds()), asyncio.TaskGroup() as group:
            for _ in range(min(CONCURRENT_REVIEWS, ceil(len(wanted) / REVIEWS_PER_CONNECTION))):
                group.create_task(_work(client, waiting, account, reviews))
    except TimeoutError:
        pass
    late = f"not answered within {patience.total_seconds():g} s"
    return [reviews.get(access) or _unknown(access, late, may_change=True) for access in wanted]


async def whoami(client: Client) -> str:
    """Return the user name that the server authenticates the client as; "" if the server does not return it."""
    from pyctrl.kinds.authentication.v1 import SelfSubjectReview  # here: only needed when permissions are missing

    try:
        answer = await client.create(SelfSubjectReview())
    except PyctrlError:
        return ""
    return answer.status.user_info.username or ""


async def _work(
    client: Client, waiting: Iterator[Access], account: Key | None, reviews: dict[Access, AccessReview]
) -> None:
    for access in waiting:
        review = reviews[access] = await _review(client, access, account)
        if review.verdict is AccessReviewStatus.UNKNOWN and not review.may_change:
            for other in waiting:  # if one review is not possible, the others are not either
                reviews[other] = _unknown(other, review.remark)


async def _review(client: Client, access: Access, account: Key | None) -> AccessReview:
    try:
        allowed, remark = await _post_review(client, access, account)
    except (Forbidden, NotFound, UnknownKind) as error:
        return _unknown(access, f"the server does not answer access reviews: {error}")
    except PyctrlError as error:
        return _unknown(access, str(error), may_change=True)
    return AccessReview(
        access=access, verdict=AccessReviewStatus.ALLOWED if allowed else AccessReviewStatus.MISSING, remark=remark
    )


async def _post_review(client: Client, access: Access, account: Key | None) -> tuple[bool, str]:
    """Send a review as an untyped object: building the classes of these kinds takes longer than all reviews."""
    if access.is_resource:
        parts = ("verb", "group", "resource", "subresource", "namespace", "name")
        spec: dict[str, Any] = {"resourceAttributes": {part: getattr(access, part) for part in parts}}
    else:
        spec = {"nonResourceAttributes": {"verb": access.verb, "path": access.path}}
    kind = "SelfSubjectAccessReview"
    if account is not None:
        kind = "SubjectAccessReview"
        spec["user"] = f"system:serviceaccount:{account.namespace}:{account.name}"
        accounts = "system:serviceaccounts"
        spec["groups"] = [accounts, f"{accounts}:{account.namespace}", "system:authenticated"]
    review = Unstructured.new(GroupVersionKind("authorization.k8s.io", "v1", kind), spec=spec)
    status = (await client.create(review))["status"]
    return bool(status.get("allowed")), status.get("evaluationError") or status.get("reason") or ""


def _unknown(access: Access, remark: str, *, may_change: bool = False) -> AccessReview:
    return AccessReview(access=access, verdict=AccessReviewStatus.UNKNOWN, remark=remark, may_change=may_change)
