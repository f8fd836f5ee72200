"""Checks for the service accounts of workloads and token Secrets."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from pyctrl.api import Key
from pyctrl.rbac._doctor.facts import DEFAULT, Facts, Workload
from pyctrl.rbac._doctor.findings import Finding, ObjectRef, join_words
from pyctrl.rbac._doctor.fixes import create_account, namespace_flag
from pyctrl.rbac._doctor.similar_names import similar_name
from pyctrl.rbac._doctor.subjects import meant_account
from pyctrl.rbac._manifests import dump

__all__ = ["check_token_secret", "check_workloads"]


def check_workloads(facts: Facts) -> Iterator[Finding]:
    """Report workloads whose service account is missing, has no permissions, or has no token."""
    bound = _bound(facts)
    idle = bound - {each.account for each in facts.workloads}
    for workload in facts.workloads:
        if workload.account.name == DEFAULT:
            yield from _check_default(workload, bound, idle)
        elif not facts.has_account(workload.account):
            yield from _check_missing(facts, workload, bound)
        elif workload.account in bound:
            yield from _check_token(facts, workload)


def _check_token(facts: Facts, workload: Workload) -> Iterator[Finding]:
    if _has_no_token(facts, workload):
        yield Finding(
            severity="warning",
            code="no-token",
            object=workload.named,
            message=f"ServiceAccount {workload.account} has permissions, but automountServiceAccountToken is false: "
            "the pods get no token.",
            fix=dump(_pod_spec_patch(workload, {"automountServiceAccountToken": True})),
        )


def _check_default(workload: Workload, bound: set[Key], idle: set[Key]) -> Iterator[Finding]:
    """Report a workload that runs as ``default`` without permissions, next to an unused account with permissions."""
    nearby = sorted(each.name for each in idle if each.namespace == workload.named.namespace)
    if workload.account in bound or not nearby:
        return
    names = join_words(map(repr, nearby))
    yield Finding(
        severity="error",
        code="runs-as-default",
        object=workload.named,
        message=f"It {'runs' if workload.account_name else 'has no serviceAccountName, so its pods run'} as "
        f"ServiceAccount {workload.account}, which has no roles. Roles are bound to {names}, but nothing runs as "
        "that account.",
        fix=_set_account(workload, nearby[0]),
    )


def _check_missing(facts: Facts, workload: Workload, bound: set[Key]) -> Iterator[Finding]:
    account, is_certain = workload.account, facts.knows_all("ServiceAccount", workload.named.namespace)
    names = {each.name for each in {*facts.accounts, *bound} if each.namespace == account.namespace}
    elsewhere = sorted(each.namespace for each in facts.accounts if each.name == account.name)
    similar = similar_name(account.name, names)
    if account in bound and not is_certain:
        return  # a binding in the same files names it, so it is probably created elsewhere
    if similar is not None:
        why, fix = f"{similar.name!r} was probably meant: {similar.difference}.", _set_account(workload, similar.name)
    else:
        there = f"There is one of this name in namespace {', '.join(elsewhere)}. " if elsewhere else ""
        why = f"{there}The server accepts the object, but rejects its pods until the account exists."
        fix = create_account(account)
    yield Finding(
        severity="error" if is_certain or similar is not None else "warning",
        code="workload-account-not-found",
        object=workload.named,
        message=f"It runs as ServiceAccount {account}, which {_missing(is_certain=is_certain)}. {why}",
        fix=fix,
    )


def _missing(*, is_certain: bool) -> str:
    return "does not exist" if is_certain else "is not among the objects that were read"


def _bound(facts: Facts) -> set[Key]:
    """Return the accounts that user-made bindings name, or probably meant."""
    found = (
        meant_account(facts, binding, subject)
        for binding in facts.bindings
        if binding.is_own
        for subject in binding.subjects
    )
    return {account for account in found if account is not None}


def _has_no_token(facts: Facts, workload: Workload) -> bool:
    own = workload.pod_spec.get("automountServiceAccountToken")
    if own is None:
        own = facts.accounts.get(workload.account, {}).get("automountServiceAccountToken")
    volumes = workload.pod_spec.get("volumes") or ()
    sources = (source for volume in volumes for source in (volume.get("projected") or {}).get("sources") or ())
    return own is False and not any("serviceAccountToken" in source for source in sources)


def _set_account(workload: Workload, name: str) -> str:
    named = workload.named
    if named.source or named.kind not in (
        "Deployment",
        "StatefulSet",
        "DaemonSet",
        "ReplicaSet",
        "ReplicationController",
    ):
        return dump(_pod_spec_patch(workload, {"serviceAccountName": name}))
    namespace = namespace_flag(named.namespace)
    return f"kubectl set serviceaccount {shlex.quote(workload.kubectl)} {shlex.quote(name)}{namespace}"


def _pod_spec_patch(workload: Workload, value: Any) -> Any:
    for part in reversed(workload.path):
        value = {part: value}
    return value


def check_token_secret(facts: Facts, secret: ObjectRef, account: Key) -> Iterator[Finding]:
    """Report a Secret for the token of a service account that does not exist."""
    if facts.has_account(account):
        return
    is_certain = facts.knows_all("ServiceAccount", account.namespace)
    names = {each.name for each in facts.accounts if each.namespace == account.namespace}
    similar = similar_name(account.name, names)
    why = f"{similar.name!r} was probably meant: {similar.difference}. " if similar else ""
    yield Finding(
        severity="error" if is_certain or similar else "warning",
        code="token-account-not-found",
        object=secret,
        message=f"It is for a token of ServiceAccount {account}, which {_missing(is_certain=is_certain)}. {why}"
        "Kubernetes deletes such a Secret shortly after its creation.",
        fix=create_account(account),
    )
