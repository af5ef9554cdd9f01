"""Shared by the tests of the servers: arms, bridges and servers as real processes."""

from __future__ import annotations

import sys
from pathlib import Path

# Test modules are imported one by one, not as a package: what they share is found here.
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "bridge"), str(HERE.parent / "simulator")]
