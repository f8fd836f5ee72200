"""Flags, tokens and webhook files for `pyctrl apiserver`."""

from __future__ import annotations

ALONE = ("--insecure-http", "--no-controllers", "--no-kubelet")


TOKENS = 'admin-token,admin,admin,system:masters\nplain-token,plain,plain\ntwo-token,two,2,"dev,ops"\n'
