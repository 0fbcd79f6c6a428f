"""Python programs of this folder in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def answer(program: str, *arguments: str, **environment: str) -> Any:
    """The JSON that the program prints."""
    kept = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", str(Path(__file__).with_name(program)), *arguments],
        env={
            **kept,
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])
