"""Unification of types."""

from __future__ import annotations

from pyctrl.cel import DYN, INT, STRING, list_of, map_of
from pyctrl.cel._types import Substitution, optional_of, parameter

A = parameter("A")


def test_a_parameter_is_bound_once() -> None:
    """A type parameter has the same type in the whole call."""
    found = Substitution()
    assert found.fits(list_of(INT), list_of(A))
    assert found.apply(A) == INT
    assert not found.fits(STRING, A)


def test_bindings_are_kept_only_if_all_arguments_fit() -> None:
    """A failed overload leaves no bindings for the next one."""
    found = Substitution()
    assert not found.fits_all([INT, STRING], [A, A])
    assert found.fits_all([STRING, STRING], [A, A])
    assert found.apply(list_of(A)) == list_of(STRING)


def test_unknown_types_fit_everything() -> None:
    """`dyn` is assignable to every type; a parameter without a binding becomes `dyn` in the end."""
    found = Substitution()
    assert found.fits(DYN, map_of(STRING, INT))
    assert found.apply(found.fresh(), is_final=True) == DYN


def test_types_are_printed_as_by_cel_go() -> None:
    """The names are those of error messages."""
    assert str(map_of(STRING, optional_of(list_of(INT)))) == "map(string, optional_type(list(int)))"
