"""What the tests of demonstrations share is found beside those of commands and bridges."""

from __future__ import annotations

import sys
from pathlib import Path

# Test modules are imported one by one, not as a package.
TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "bringup"), str(TESTS / "bridge")]
