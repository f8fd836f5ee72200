"""Reports of explorations: for terminals, as JSON, and as a page of HTML."""

from __future__ import annotations

from pyctrl.simulation._reporting.page import report_page
from pyctrl.simulation._reporting.text import report_text, summary_line
from pyctrl.simulation._reporting.wire import report_to_wire

__all__ = ["report_page", "report_text", "report_to_wire", "summary_line"]
