"""The file of static tokens that kube-apiserver's `--token-auth-file` names."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from pyctrl.apiserver._authentication._user import AUTHENTICATED, User


def read_token_file(lines: Iterable[str]) -> dict[str, User]:
    """Read kube-apiserver's CSV of static tokens: token, user, uid, and optionally groups in one quoted column.

    Raises:
        ValueError: a line has fewer columns, or no CSV; says which.
    """
    tokens: dict[str, User] = {}
    reader = csv.reader(lines, strict=True)
    try:
        for row in reader:
            if row:
                token, user = _entry(row)
                tokens[token] = user
    except (ValueError, csv.Error) as error:
        raise ValueError(f"line {reader.line_num}: {error}") from error
    return tokens


def _entry(row: list[str]) -> tuple[str, User]:
    columns = [column.strip() for column in row]
    if len(columns) < 3 or not all(columns[:2]):
        found = ",".join("..." if number == 0 and column else column for number, column in enumerate(columns))
        raise ValueError(f"the columns token,user,uid and perhaps groups were expected; found {found!r}")
    token, name, uid, *more = columns
    groups = [group.strip() for group in more[0].split(",")] if more else []  # an empty column is one group, ""
    return token, User(name=name, uid=uid, groups=(*groups, AUTHENTICATED))
