"""Validation of fields that several built-in kinds have."""

from __future__ import annotations

import pytest

from pyctrl.apiserver._registry import field_validation as rules


@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("http", 0),
        ("a" * 16, 1),
        ("80", 1),
        ("a--b", 1),
        ("-a", 1),
        ("A_b", 1),
    ],
)
def test_names_of_ports(name: str, errors: int) -> None:
    """A port name must be an IANA service name."""
    assert len(rules.port_name_errors(name)) == errors


@pytest.mark.parametrize(("value", "errors"), [(1, 0), (65535, 0), (0, 1), (65536, 1), ("http", 0), ("", 2)])
def test_ports_are_numbers_or_names(value: int | str, errors: int) -> None:
    """A string is checked as a name, any other value as a number."""
    assert len(list(rules.port(value, "p"))) == errors


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.1", ""),
        ("x", "must be a valid IP address"),
        ("0.0.0.0", "may not be unspecified"),
        ("127.0.0.1", "loopback range"),
        ("fe80::1", "link-local range"),
        ("224.0.0.1", "link-local multicast range"),
    ],
)
def test_addresses_that_other_hosts_reach(text: str, why: str) -> None:
    """Each kind of special address has its own error."""
    causes = list(rules.non_special_ip(text, "p"))
    assert len(causes) == bool(why)
    assert not causes or why in causes[0].message


def test_other_rules() -> None:
    """Networks need a prefix length; choices and numbers are checked."""
    assert list(rules.network("10.0.0.0/8", "p")) == []
    assert len(list(rules.network("10.0.0.0", "p"))) == len(list(rules.network("10.0.0.0/33", "p"))) == 1
    assert [cause.message for cause in rules.one_of("", ("A",), "p")] == ["Required value"]
    assert [cause.message for cause in rules.one_of("B", ("A",), "p")] == [
        'Unsupported value: "B": supported values: "A"'
    ]
    assert [cause.field for cause in rules.not_negative({"a": -1, "b": 0, "c": None}, "p", "a", "b", "c")] == ["p.a"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.1", ""),
        ("10.000.0.1", "must not have leading 0s"),
        ("x", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ("::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"),
        ("FD00::1", 'must be in canonical form ("fd00::1")'),
    ],
)
def test_strict_addresses(text: str, why: str) -> None:
    """An address that has several forms is accepted in one of them only."""
    assert rules.strict_address_errors(text) == [why] * bool(why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.0/24", ""),
        ("10.0.0.0/024", "must not have leading 0s in IP or prefix length"),
        ("10.0.0.1", "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        ("::ffff:10.0.0.0/120", "must not have an IPv4-mapped IPv6 address"),
        ("10.0.0.1/24", "must not have bits set beyond the prefix length"),
        ("FD00::/64", 'must be in canonical form ("fd00::/64")'),
    ],
)
def test_strict_networks(text: str, why: str) -> None:
    """A network that has several forms is accepted in one of them only."""
    assert rules.strict_network_errors(text) == [why] * bool(why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("10.0.0.1", ""),
        ("FD00::01", ""),
        ("010.0.0.1", "must not have leading 0s"),
        ("::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"),
        ("fd00::1%eth0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
    ],
)
def test_addresses_that_go_reads(text: str, why: str) -> None:
    """An address may have another form than the canonical one, but neither leading zeros nor a zone."""
    assert [each.message.partition(": ")[2].partition(": ")[2] for each in rules.address(text, "p")] == [why] * bool(
        why
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("FD00::/64", ""),
        ("10.0.0.0/08", "must not have leading 0s in IP or prefix length"),
        ("::ffff:10.0.0.0/120", "must not have an IPv4-mapped IPv6 address"),
        ("10.1.0.0/8", "must not have bits set beyond the prefix length"),
    ],
)
def test_networks_that_go_reads(text: str, why: str) -> None:
    """A CIDR has no leading zeros and no bits beyond its prefix."""
    assert [each.message.partition(": ")[2].partition(": ")[2] for each in rules.network(text, "p")] == [why] * bool(
        why
    )
