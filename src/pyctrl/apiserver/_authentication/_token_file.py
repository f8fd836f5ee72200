"""The file of static tokens that kube-apiserver's `--token-auth-file` names."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from ._user import AUTHENTICATED, User


def read_token_file(lines: Iterable[str]) -> dict[str, User]:
    """Read kube-apiserver's CSV of static tokens: token, user, uid, and optionally groups in one quoted column."""
    tokens: dict[str, User] = {}
    for row in csv.reader(line for line in lines if line.strip()):
        if len(row) < 3:
            raise ValueError(f"a token file has the columns token,user,uid[,groups]; found {len(row)} in {row!r}")
        token, name, uid = (column.strip() for column in row[:3])
        groups = tuple(group.strip() for group in row[3].split(",")) if len(row) > 3 else ()
        tokens[token] = User(name=name, uid=uid, groups=(*groups, AUTHENTICATED))
    return tokens
