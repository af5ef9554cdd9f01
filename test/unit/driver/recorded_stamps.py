"""What the real dVRK software published: when each message arrived, and its stamp."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np

_FILE = Path(__file__).resolve().parents[2] / "data" / "dvrk_truth" / "stamps_psm1_p0.005.csv.gz"


@lru_cache
def read_recorded_stamps(topic: str) -> np.ndarray:
    """Arrivals and stamps (ns, from the first) of a topic, shape (N, 2), in order of arrival."""
    with gzip.open(_FILE, "rt") as lines:
        rows = [line.strip().split(",") for line in lines if line.startswith(f"{topic},")]
    return np.array([[int(arrival), int(stamp)] for _, arrival, stamp in rows])
