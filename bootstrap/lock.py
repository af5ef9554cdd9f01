"""One ./dvrk at a time may change the environment."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["hold_lock"]


@contextmanager
def hold_lock(path: Path) -> Iterator[int]:
    """Hold the clone's lock, after waiting for its present holder.

    The kernel releases it when its last holder ends, however that ends: no clean-up is needed.

    Args:
        path: The lock file.

    Yields:
        The descriptor that holds the lock, for children to inherit.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("dvrk: another ./dvrk prepares this clone; waiting for it", file=sys.stderr)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)
