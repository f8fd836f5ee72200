"""Which of the integration tests there are."""

from __future__ import annotations

import shutil

# They drive the kubectl on PATH; without one they do not exist, so that no test is ever skipped.
collect_ignore = [] if shutil.which("kubectl") else ["test_kubectl.py"]
