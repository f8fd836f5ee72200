"""Flags of kube-apiserver: what it accepts, and its errors, which were read from kube-apiserver 1.36.2."""

from __future__ import annotations

import pytest

from pyctrl.cli._envtest.kube_apiserver_flags import FlagError, parse_flags


def test_values_follow_a_flag_in_both_forms() -> None:
    """Go's envtest writes --name=value, the Java client's `--name value`; both are read."""
    flags = parse_flags(["--secure-port=6444", "--bind-address", "127.0.0.1", "--cert_dir=certs"])
    assert flags.number("secure-port", 6443) == 6444
    assert (flags.text("bind-address"), flags.text("cert-dir")) == ("127.0.0.1", "certs")


def test_a_boolean_flag_takes_no_further_argument() -> None:
    """A boolean flag alone is true, and the flag after it is not its value."""
    flags = parse_flags(["--allow-privileged", "--anonymous-auth=F", "--secure-port", "1"])
    assert flags.flag("allow-privileged")
    assert not flags.flag("anonymous-auth", default=True)
    assert flags.number("secure-port", 0) == 1


def test_lists_are_joined() -> None:
    """A list may be separated by commas or be given in several flags; an issuer may contain commas."""
    flags = parse_flags(
        ["--authorization-mode=Node,RBAC", "--authorization-mode=Webhook", "--service-account-issuer=https://a,b"]
    )
    assert flags.items("authorization-mode") == ("Node", "RBAC", "Webhook")
    assert flags.items("service-account-issuer") == ("https://a,b",)
    assert flags.items("enable-admission-plugins") == ()


def test_the_last_value_counts() -> None:
    """A flag that is given twice has its last value."""
    assert parse_flags(["-v=2", "--v", "4", "-v3"]).text("v") == "3"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--insecure-port=0"], "unknown flag: --insecure-port"),
        (["--foo"], "unknown flag: --foo"),
        (["-x"], "unknown shorthand flag: 'x' in -x"),
        (["--=1"], "bad flag syntax: --=1"),
        (["--secure-port"], "flag needs an argument: --secure-port"),
        (["-v"], "flag needs an argument: 'v' in -v"),
        (
            ["--secure-port=x"],
            'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax',
        ),
        (
            ["--allow-privileged=z"],
            'invalid argument "z" for "--allow-privileged" flag: strconv.ParseBool: parsing "z": invalid syntax',
        ),
        (["--event-ttl=1"], 'invalid argument "1" for "--event-ttl" flag: time: missing unit in duration "1"'),
        (["run", "fast"], '"kube-apiserver" does not take any arguments, got ["run" "fast"]'),
        (["--", "-v"], '"kube-apiserver" does not take any arguments, got ["-v"]'),
    ],
)
def test_kube_apiserver_errors(arguments: list[str], message: str) -> None:
    """A command line that kube-apiserver refuses is refused with its error."""
    with pytest.raises(FlagError) as refused:
        parse_flags(arguments)
    assert str(refused.value) == message
