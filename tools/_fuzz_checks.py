"""The check of tools/fuzz.py, loaded by schemathesis: no 5xx but the one that kube-apiserver answers as well."""

from __future__ import annotations

from typing import Any

import schemathesis

# A resourceVersion that is no number is 500 there too.
ALSO_THERE = "strconv.ParseUint: parsing"


@schemathesis.check
def no_server_error_of_its_own(ctx: Any, response: Any, case: Any) -> None:
    """Fail for an answer that says that the server, not the client, has made a mistake."""
    if response.status_code >= 500:
        assert ALSO_THERE in response.text, f"{response.status_code}: {response.text}"
