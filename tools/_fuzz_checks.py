"""The check of tools/fuzz.py, loaded by schemathesis: no 5xx except those that kube-apiserver returns as well."""

from __future__ import annotations

from typing import Any

import schemathesis

# kube-apiserver also returns 500 for a resourceVersion that is not a number.
ALSO_THERE = "strconv.ParseUint: parsing"


@schemathesis.check
def no_server_error_of_its_own(ctx: Any, response: Any, case: Any) -> None:
    """Fail for a response that reports a mistake of the server, not of the client."""
    if response.status_code >= 500:
        assert ALSO_THERE in response.text, f"{response.status_code}: {response.text}"
