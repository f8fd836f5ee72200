"""Ask a cluster whether a program may do what it needs."""

from __future__ import annotations

import shlex
from collections.abc import Collection

from pyctrl.api import Key
from pyctrl.client import Client, Config
from pyctrl.manager import Gap, Review, Verdict, gaps, review_accesses, whoami, wired

from ._login import Login
from ._rbac_generate import account_key

__all__ = ["check", "report"]

ACCOUNT = "system:serviceaccount:"


def check(target: str, *, account: str | None, watched: Collection[str], login: Login, cluster: str = "") -> int:
    """Review what a target needs, and print it; 1 unless all of it is allowed."""
    key = account_key(account) if account is not None else None

    async def ask(client: Client, config: Config) -> int:
        await client.discovery.refresh()  # a login that does not work is told as such
        own = config.namespace
        text, is_enough = await report(client, target, own_namespace=own, account=key, watched=watched, cluster=cluster)
        print(text)
        return 0 if is_enough else 1

    return login.run(ask)


async def report(
    client: Client,
    target: str,
    *,
    own_namespace: str,
    account: Key | None,
    watched: Collection[str],
    cluster: str = "",
) -> tuple[str, bool]:
    """Return a line for each resource, what to do about what is missing, and whether everything is allowed."""
    async with wired(target, namespaces=watched) as manager:
        own = own_namespace if account is None else account.namespace
        needed = manager.grants(own_namespace=own, cluster=cluster)
    reviews = await review_accesses(client, needed.accesses(), account=account)
    user = await whoami(client) if account is None else f"{ACCOUNT}{account.namespace}:{account.name}"
    lines = [f"for {user or 'this login'}:"]
    for verdict in Verdict:
        lines += [f"{verdict.value:<8} {gap.remedy(user).what}{_why(gap, verdict)}" for gap in _gaps(reviews, verdict)]
    if missing := _gaps(reviews, Verdict.MISSING):
        lines += [*_all_at_once(target, user, watched, cluster), *(f"\n{gap.text(user)}" for gap in missing)]
    return "\n".join(lines), all(review.verdict is Verdict.ALLOWED for review in reviews)


def _all_at_once(target: str, user: str, watched: Collection[str], cluster: str) -> list[str]:
    """Name the command that grants a service account everything."""
    if not user.startswith(ACCOUNT):
        return []
    flags = "".join(f" --namespace={shlex.quote(namespace)}" for namespace in watched)
    flags += f" --cluster={shlex.quote(cluster)}" if cluster else ""
    account = user.removeprefix(ACCOUNT)
    command = f"pyctrl rbac generate {shlex.quote(target)} --service-account {account}{flags} | kubectl apply -f -"
    return ["\ngrant all that it needs:", f"  {command}"]


def _gaps(reviews: Collection[Review], verdict: Verdict) -> list[Gap]:
    """Put the verbs of each resource together that have one verdict."""
    return gaps((review.access, review.remark) for review in reviews if review.verdict is verdict)


def _why(gap: Gap, verdict: Verdict) -> str:
    return f" ({gap.remark})" if verdict is Verdict.UNKNOWN else ""
