"""Users, and the names and groups that Kubernetes reserves."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import User
from pyctrl.apiserver._user import add_authenticated_group, service_account_groups, service_account_of, user_info


@pytest.mark.parametrize(
    ("name", "account"),
    [
        ("system:serviceaccount:default:bot", ("default", "bot")),
        ("system:serviceaccount:default", None),
        ("system:serviceaccount:a:b:c", None),
        ("jane", None),
    ],
)
def test_names_of_service_accounts(name: str, account: tuple[str, str] | None) -> None:
    """Namespace and name follow the prefix."""
    assert service_account_of(name) == account


def test_groups() -> None:
    """A user is a member of system:authenticated once; accounts are members of two groups."""
    user = add_authenticated_group(User(name="jane", groups=("dev",)))
    assert user.groups == ("dev", "system:authenticated")
    assert add_authenticated_group(user) is user
    assert service_account_groups("n") == ("system:serviceaccounts", "system:serviceaccounts:n")
    assert (User(name="a", groups=("system:masters",)).is_administrator, user.is_administrator) == (True, False)


def test_user_info_has_no_empty_fields() -> None:
    """Fields are those of UserInfo of authentication.k8s.io/v1."""
    assert user_info(User(name="a")) == {"username": "a"}
    assert user_info(User(name="a", uid="1", groups=("g",), extra={"k": ("v",)})) == {
        "username": "a",
        "uid": "1",
        "groups": ["g"],
        "extra": {"k": ["v"]},
    }
