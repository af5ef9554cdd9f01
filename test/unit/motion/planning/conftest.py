"""What the tests of planning share is found beside them."""

from __future__ import annotations

import sys
from pathlib import Path

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))
