"""Ask the server whether somebody may do something: access reviews, a few at once."""

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

CONCURRENT_REVIEWS = (
    8  # reviews; each takes the server well below a millisecond, so that most of it is the way there and back
)
# For each connection, at least: to make one takes as long as three of them, and with TLS 0.3 MB while it is kept.
REVIEWS_PER_CONNECTION = 4


class AccessReviewStatus(Enum):
    """What a review says."""

    ALLOWED = "allowed"
    MISSING = "missing"
    #: It could not be asked: nobody knows.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessReview:
    """An access, and whether it is allowed.

    Attributes:
        access: what was asked for.
        verdict: the answer.
        remark: what the server says about it, such as a role that a binding names and that does not exist; or why it
            could not be asked.
        may_change: that it could not be asked may pass by itself.
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
    """Review accesses, each once; never raises for what the server says or does not say.

    Args:
        client: whose rights are reviewed, if there is no account.
        accesses: what to ask for.
        account: the service account that is meant; to ask for others takes the right to create SubjectAccessReviews.
        patience: for all of it; what was not answered by then is unknown.

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
    """Return the user as the server knows it, or "" when it does not tell."""
    from pyctrl.kinds.authentication.v1 import SelfSubjectReview  # here: most programs lack nothing and need it never

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
            for other in waiting:  # who cannot be asked for one thing cannot be asked for the others
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
    """Send a review, untyped: to build the classes of these kinds would take longer than all reviews do."""
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
