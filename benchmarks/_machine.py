"""Description of the machine, without identifying data."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path


def machine() -> dict[str, object]:
    """Return the facts that affect the numbers."""
    processor = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    memory = re.search(r"MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text(encoding="utf-8"))
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": processor[1] if processor else platform.machine(),
        "memory_bytes": int(memory[1]) * 1024 if memory else None,
        "kernel": re.sub(r"^(\d+\.\d+).*", r"\1", platform.release()),
        "system": platform.system(),
        "load_before": os.getloadavg()[0],
    }
