"""Checks for the subjects of bindings, and the service accounts that they probably mean."""

from __future__ import annotations

from collections.abc import Iterator

from pyctrl.api import Key
from pyctrl.rbac._doctor.facts import ACCOUNT_GROUP, ACCOUNT_USER, Binding, Facts, Subject, account_of
from pyctrl.rbac._doctor.findings import Finding, Severity
from pyctrl.rbac._doctor.fixes import account_subject, create_account, recreate_binding, replace_subject
from pyctrl.rbac._doctor.similar_names import similar_name

__all__ = ["check_subjects", "meant_account"]

_ALL_USERS = {
    "system:authenticated": "everyone who can authenticate, including every service account",
    "system:unauthenticated": "everyone who can reach the server, without authentication",
    "system:anonymous": "everyone who can reach the server, without authentication",
}


def check_subjects(facts: Facts, binding: Binding) -> Iterator[Finding]:
    """Report subjects that do not exist."""
    if not binding.subjects:
        yield Finding(
            severity="warning",
            code="no-subjects",
            object=binding.named,
            message="It has no subjects, so it grants nothing.",
        )
    for subject in binding.subjects:
        if subject.kind == "ServiceAccount":
            yield from _check_account(facts, binding, subject)
        elif subject.kind in ("User", "Group"):
            yield from _check_name(facts, binding, subject)
        else:
            yield _finding(
                "unknown-subject",
                binding,
                f"The kind of subject {subject} is not User, Group or ServiceAccount: the server rejects it.",
            )


def meant_account(facts: Facts, binding: Binding, subject: Subject) -> Key | None:
    """Return the service account that a subject names or probably means; None if it means none."""
    if subject.kind == "ServiceAccount":
        written = Key(subject.namespace or binding.namespace, subject.name)
        if facts.has_account(written) or written in facts.known_accounts:
            return written
        return _account_named(facts, subject.name.rpartition(":")[2], binding) or written
    if account := account_of(subject.name):
        return account
    if subject.name.startswith("system:"):
        return None
    written = _parse_account(subject.name)
    if written.namespace:
        return written if written in facts.referenced_accounts else None
    return _account_named(facts, written.name, binding)


def _parse_account(name: str) -> Key:
    """Parse common spellings of an account: ``default:jenkins``, ``default/jenkins``, ``jenkins``."""
    name = name.removeprefix("serviceaccount:")
    for separator in (":", "/"):
        namespace, found, rest = name.partition(separator)
        if found and rest and separator not in rest:
            return Key(namespace, rest)
    return Key("", name)


def _account_named(facts: Facts, name: str, binding: Binding) -> Key | None:
    """Return an account of a name, preferably in the namespace of the binding; None if there is none."""
    if name == "default":
        return None  # every namespace has one

    def distance(account: Key) -> tuple[bool, bool, Key]:
        return account not in facts.known_accounts, account.namespace != binding.namespace, account

    return min(facts.accounts_named(name), key=distance, default=None)


# --- users and groups ---


def _check_name(facts: Facts, binding: Binding, subject: Subject) -> Iterator[Finding]:
    name = subject.name
    if name in _ALL_USERS:
        message = f"It grants {binding.role_kind} {binding.role_name!r} to {name}: {_ALL_USERS[name]}."
        yield Finding(severity="warning", code="everybody", object=binding.named, message=message)
        return
    account, other = meant_account(facts, binding, subject), _as_other_kind(subject)
    if other is not None:
        yield _finding("wrong-subject-kind", binding, other[0], replace_subject(binding, subject, other[1]))
    elif name.startswith(ACCOUNT_USER) and subject.kind == "User":
        if account is None:
            why = f"User {name!r} is not a service account: their user names are {ACCOUNT_USER}NAMESPACE:NAME."
            yield _finding("malformed-user", binding, why)
        else:
            yield from _check_exists(facts, binding, subject, account)
    elif account is not None:
        yield _not_the_account(facts, binding, subject, account)


def _as_other_kind(subject: Subject) -> tuple[str, Subject] | None:
    """Return why a User is a Group or the reverse, and the correct subject; None if the kind is right."""
    account, name = account_of(subject.name), subject.name
    if subject.kind == "Group" and account is not None:
        why = f"Group {name!r} has no members: it is the user name of ServiceAccount {account}."
        return why, account_subject(account)
    if subject.kind == "User" and (name == ACCOUNT_GROUP or name.startswith(f"{ACCOUNT_GROUP}:")):
        why = f"User {name!r} does not exist: it is the name of a group of service accounts."
        return why, subject._replace(kind="Group")
    return None


def _not_the_account(facts: Facts, binding: Binding, subject: Subject, account: Key) -> Finding:
    message = (
        f"{subject.kind} {subject.name!r} is not ServiceAccount {account}, whose user name is "
        f"{ACCOUNT_USER}{account.namespace}:{account.name}. The server accepts any name without checking that such a "
        f"{subject.kind.lower()} exists: "
    )
    is_granted = _is_granted_to(facts, binding, account)
    rest = "another binding grants the same to the account." if is_granted else "this grants the account nothing."
    fixed = replace_subject(binding, subject, account_subject(account))
    severity: Severity = "warning" if is_granted else "error"
    code = f"{subject.kind.lower()}-for-account"
    return _finding(code, binding, message + rest, fixed, severity=severity)


def _is_granted_to(facts: Facts, binding: Binding, account: Key) -> bool:
    return any(
        each.namespace in ("", binding.namespace)
        and any(account_subject(account) == subject._replace(group="") for subject in each.subjects)
        for each in facts.bindings_of(binding.role_key)
    )


# --- service accounts ---


def _check_account(facts: Facts, binding: Binding, subject: Subject) -> Iterator[Finding]:
    if subject.group:
        why = f"The server rejects a ServiceAccount with apiGroup {subject.group!r}: remove it."
        yield _finding("subject-api-group", binding, why, replace_subject(binding, subject, subject._replace(group="")))
    if ":" in subject.name or "/" in subject.name:
        account = account_of(subject.name) or _parse_account(subject.name)
        why = f"The server rejects {subject.name!r} as the name of a ServiceAccount: the namespace is a separate field."
        right = account_subject(Key(account.namespace or subject.namespace or binding.namespace, account.name))
        yield _finding("malformed-account", binding, why, replace_subject(binding, subject, right))
    elif not subject.namespace and not binding.namespace:
        candidate = _account_named(facts, subject.name, binding) or Key(facts.namespace, subject.name)
        why = f"The subject {subject} of a ClusterRoleBinding needs a namespace. The server rejects it without one."
        fixed = replace_subject(binding, subject, account_subject(candidate))
        yield _finding("subject-without-namespace", binding, why, fixed)
    else:
        account = Key(subject.namespace or binding.namespace, subject.name)
        yield from _check_exists(facts, binding, subject, account)


def _check_exists(facts: Facts, binding: Binding, subject: Subject, account: Key) -> Iterator[Finding]:
    if facts.has_account(account) or account in facts.known_accounts:
        return
    accounts_named = sorted(each for each in facts.known_accounts if each.name == account.name)
    if accounts_named:
        places = ", ".join(each.namespace for each in accounts_named)
        why = (
            f"There is no ServiceAccount {account}, but there is one named {account.name!r} in namespace {places}: the "
            "subject has the wrong namespace. The server accepts subjects that do not exist."
        )
        fixed = replace_subject(binding, subject, account_subject(accounts_named[0]))
        yield _finding("account-in-other-namespace", binding, why, fixed)
        return
    names = [each.name for each in facts.known_accounts if each.namespace == account.namespace]
    similar = similar_name(account.name, names)
    if similar is not None:
        why = f"There is no ServiceAccount {account}. {similar.name!r} was probably meant: {similar.difference}."
        right = account_subject(Key(account.namespace, similar.name))
        yield _finding("account-not-found", binding, why, replace_subject(binding, subject, right))
        return
    is_certain = facts.knows_all("ServiceAccount", account.namespace)
    where = "" if is_certain else " among the objects that were read"
    yield Finding(
        severity="error" if is_certain else "warning",
        code="account-not-found",
        object=binding.named,
        message=f"There is no ServiceAccount {account}{where}. The server accepts subjects that do not exist.",
        fix=create_account(account),
    )


def _finding(
    code: str, binding: Binding, message: str, fixed: Binding | None = None, *, severity: Severity = "error"
) -> Finding:
    fix = recreate_binding(fixed) if fixed is not None else ""
    return Finding(severity=severity, code=code, object=binding.named, message=message, fix=fix)
