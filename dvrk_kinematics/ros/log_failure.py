"""What nobody foresaw, with its traceback in the log."""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["log_failure"]


def log_failure(logger: Any, what: str, error: BaseException) -> None:
    """Log an error that ends only what caused it; from any thread.

    Args:
        logger: Of the node.
        what: What it was about.
        error: As it was raised.
    """
    told = "".join(traceback.format_exception(error))
    logger.error(f"{what} failed:\n{told}")
