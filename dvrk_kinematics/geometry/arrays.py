"""Names for the arrays that the project uses, and the one way to read them."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from dvrk_kinematics.errors import InvalidInput

__all__ = ["Array", "ArrayLike", "as_floats", "frozen"]

Array: TypeAlias = npt.NDArray[np.float64]
ArrayLike: TypeAlias = npt.ArrayLike


def as_floats(value: ArrayLike, argument: str) -> Array:
    """Reads anything array-like as float64.

    Args:
        value: Numbers, in any nesting that numpy understands.
        argument: Name of the argument, for the error.

    Returns:
        The array; the input itself if it is already float64.

    Raises:
        InvalidInput: If it holds text, objects or rows of different length.
    """
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidInput(argument, f"rows of different length ({error})") from error
    if array.dtype == np.float64:
        return array
    if array.dtype.kind not in "iuf":
        raise InvalidInput(argument, f"must hold real numbers, holds {array.dtype}")
    return array.astype(np.float64)


def frozen(value: ArrayLike) -> Array:
    """Copies numbers into a read-only float64 array."""
    array = np.array(value, dtype=np.float64)
    array.setflags(write=False)
    return array
