"""Review in a cluster of whether a program has the permissions that it needs."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pyctrl.api import Key
from pyctrl.cli._client_flags import ClientFlags
from pyctrl.cli._output import access_to_wire, print_json
from pyctrl.cli._packaging_flags import packaged_program
from pyctrl.cli._rbac.generate import account_key
from pyctrl.client import Client, Config
from pyctrl.manager import (
    AccessReview,
    AccessReviewStatus,
    MissingPermission,
    missing_permissions,
    review_accesses,
    whoami,
)
from pyctrl.program import Target, offline_manager

__all__ = ["Checked", "check", "checked"]

ACCOUNT = "system:serviceaccount:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The permissions that a program needs in a cluster, and whether it has them.

    Attributes:
        user: the user whose permissions were reviewed; "" if unknown.
        reviews: one for each verb on each resource.
        cure: the command that grants a service account everything; "" if there is none.
    """

    user: str
    reviews: Sequence[AccessReview]
    cure: Sequence[str]

    @property
    def is_enough(self) -> bool:
        """Whether everything is allowed."""
        return all(review.verdict is AccessReviewStatus.ALLOWED for review in self.reviews)

    def text(self) -> str:
        """Return a line for each resource, and how to grant what is missing."""
        lines = [f"for {self.user or 'this login'}:"]
        for verdict in AccessReviewStatus:
            lines += [
                f"{verdict.value:<8} {gap.remedy(self.user).what}{_why(gap, verdict)}"
                for gap in _gaps(self.reviews, verdict)
            ]
        if missing := _gaps(self.reviews, AccessReviewStatus.MISSING):
            lines += [*self.cure, *(f"\n{gap.text(self.user)}" for gap in missing)]
        return "\n".join(lines)

    def to_wire(self) -> dict[str, Any]:
        """Return the result for JSON."""
        reviews = [
            {
                "verdict": each.verdict.value,
                **access_to_wire(each.access),
                **({"remark": each.remark} if each.remark else {}),
            }
            for each in self.reviews
        ]
        return {"user": self.user, "allowed": self.is_enough, "reviews": reviews}


def check(
    named: str | None,
    *,
    account: str | None,
    watched: Collection[str],
    login: ClientFlags,
    cluster: str = "",
    output: str = "text",
) -> int:
    """Review the permissions of a program, and print them; return the exit code, 1 unless all are allowed."""
    key = account_key(account) if account is not None else None
    target, namespaces = packaged_program(named, tuple(watched))
    Target.parse(target).find()  # errors of the program are raised before the first request

    async def ask(client: Client, config: Config) -> int:
        await client.discovery.refresh()  # a login that fails is reported as such
        found = await checked(
            client, target, own_namespace=config.namespace, account=key, watched=namespaces, cluster=cluster
        )
        if output == "json":
            print_json(found.to_wire())
        else:
            print(found.text())
        return 0 if found.is_enough else 1

    return login.run(ask, quiet=output == "json")


async def checked(
    client: Client, target: str, *, own_namespace: str, account: Key | None, watched: Collection[str], cluster: str = ""
) -> Checked:
    """Review the permissions that a target needs, of the login or of an account."""
    async with offline_manager(target, namespaces=watched) as manager:
        own = own_namespace if account is None else account.namespace
        needed = manager.grants(own_namespace=own, cluster=cluster)
    reviews = await review_accesses(client, needed.accesses(), account=account)
    user = await whoami(client) if account is None else f"{ACCOUNT}{account.namespace}:{account.name}"
    return Checked(user=user or "", reviews=reviews, cure=_all_at_once(target, user or "", watched, cluster))


def _all_at_once(target: str, user: str, watched: Collection[str], cluster: str) -> list[str]:
    """Return the command that grants a service account everything."""
    if not user.startswith(ACCOUNT):
        return []
    flags = "".join(f" --watch-namespace={shlex.quote(namespace)}" for namespace in watched)
    flags += f" --cluster={shlex.quote(cluster)}" if cluster else ""
    account = user.removeprefix(ACCOUNT)
    command = f"pyctrl rbac generate {shlex.quote(target)} --service-account {account}{flags} | kubectl apply -f -"
    return ["\ngrant everything it needs:", f"  {command}"]


def _gaps(reviews: Collection[AccessReview], verdict: AccessReviewStatus) -> list[MissingPermission]:
    """Group the verbs of each resource that have the same verdict."""
    return missing_permissions((review.access, review.remark) for review in reviews if review.verdict is verdict)


def _why(gap: MissingPermission, verdict: AccessReviewStatus) -> str:
    return f" ({gap.remark})" if verdict is AccessReviewStatus.UNKNOWN else ""
