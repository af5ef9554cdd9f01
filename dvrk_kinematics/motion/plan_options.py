"""What a user can choose about planning."""

from __future__ import annotations

from dataclasses import dataclass

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.kinematics.result import IkPolicy
from dvrk_kinematics.motion.speeds import find_scaling

__all__ = ["PlanOptions"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How to plan.

    Attributes:
        scaling: Time scaling of moves: "trapezoid", "quintic", "hyperbolic" or "normalised".
        policy: "exact", or "position_first": orientation as near as the limits allow.
        slow_down: Slow down what would be too fast for a joint, instead of refusing it.
        max_knots: Most knots that a goal may have.

    Raises:
        InvalidInput: The policy does not exist, or fewer than 2 knots are allowed.
        UnknownName: There is no such scaling.
    """

    scaling: str = "trapezoid"
    policy: IkPolicy = IkPolicy.EXACT
    slow_down: bool = False
    max_knots: int = 10_000

    def __post_init__(self) -> None:
        find_scaling(self.scaling)
        try:
            object.__setattr__(self, "policy", IkPolicy(self.policy))
        except ValueError:
            valid = ", ".join(item.value for item in IkPolicy)
            raise InvalidInput("policy", f"must be one of {valid}, is {self.policy!r}") from None
        if self.max_knots < 2:
            raise InvalidInput("max_knots", f"must be at least 2, is {self.max_knots}")
