"""What an arm's joint positions determine: poses, links, velocities, accelerations."""

from __future__ import annotations

import numpy as np

from dvrk_kinematics.errors import InvalidInput
from dvrk_kinematics.geometry.arrays import Array, ArrayLike, as_floats
from dvrk_kinematics.kinematics import jacobian as _jacobian
from dvrk_kinematics.kinematics.chain import RowsOf, SerialChain
from dvrk_kinematics.kinematics.limits import JointLimits
from dvrk_kinematics.kinematics.link_tree import LinkTree
from dvrk_kinematics.kinematics.rates import RateSolution, solve_rates
from dvrk_kinematics.kinematics.validation import joint_array, joint_floats, twist_array
from dvrk_kinematics.models.schema import ArmModel, JointModel

__all__ = ["SerialArm"]


class SerialArm:
    """An arm with given joint positions: everything but the inverse.

    Args:
        model: The arm's model.

    Attributes:
        model: The arm's model.
        limits: Its joint limits, in the order of ``joint_names``.
        link_names: The links that ``frames`` returns.
    """

    def __init__(self, model: ArmModel) -> None:
        self.model = model
        self.limits = JointLimits(
            model.joint_names,
            [joint.lower for joint in model.joints],
            [joint.upper for joint in model.joints],
        )
        self._names = model.joint_names
        self._chain = SerialChain(model)
        jaw = () if model.jaw is None else (model.jaw.name,)
        self._tree = LinkTree(model.links, (*model.joint_names, *jaw))
        self.link_names = self._tree.names
        # A solver that knows which matrix entries are zero may put quicker code here.
        self._forward_floats: RowsOf = self._chain.forward_floats
        self._jacobian_floats: RowsOf | None = None

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of q, in order."""
        return self._names

    @property
    def jaw(self) -> JointModel | None:
        """The jaw, which is not part of q; None for an arm without one."""
        return self.model.jaw

    def forward(self, q: ArrayLike) -> Array:
        """The tip's pose.

        Args:
            q: Joint positions (rad, m), shape (n,) or (N, n).

        Returns:
            Base to tip, shape (4, 4) or (N, 4, 4).

        Raises:
            InvalidInput: Wrong shape or not finite.
        """
        if type(q) is np.ndarray and q.ndim == 1:
            return np.array(self._forward_floats(joint_floats(q, self._names)))
        values = joint_array(q, self._names)
        if values.ndim == 1:
            return np.array(self._forward_floats(values.tolist()))
        return self._chain.forward(values)

    def frames(self, q: ArrayLike, jaw: ArrayLike | None = None) -> dict[str, Array]:
        """The poses of all links in the base frame, mimic links included.

        Args:
            q: Joint positions (rad, m), shape (n,) or (N, n).
            jaw: Opening of the jaws (rad), one number or shape (N,); 0 by default.

        Returns:
            Poses by link name, shape (4, 4) or (N, 4, 4) each.

        Raises:
            InvalidInput: Wrong shape or not finite, or a jaw for an arm that has none.
        """
        values = joint_array(q, self._names)
        if self.model.jaw is None:
            if jaw is not None:
                raise InvalidInput("jaw", f"{self.model.name} has none")
            return self._tree.frames(values)
        full = np.zeros((*values.shape[:-1], len(self._names) + 1))
        full[..., :-1] = values
        if jaw is not None:
            opening = as_floats(jaw, "jaw")
            if opening.shape not in ((), values.shape[:-1]) or not np.isfinite(opening).all():
                raise InvalidInput("jaw", f"needs one finite number or shape {values.shape[:-1]}")
            full[..., -1] = opening
        return self._tree.frames(full)

    def jacobian(self, q: ArrayLike) -> Array:
        """The Jacobian at the tip: linear rows (m/s) first, then angular, along the base's axes.

        Args:
            q: Joint positions (rad, m), shape (n,) or (N, n).

        Returns:
            Shape (6, n) or (N, 6, n).
        """
        if self._jacobian_floats is not None and type(q) is np.ndarray and q.ndim == 1:
            return np.array(self._jacobian_floats(joint_floats(q, self._names)))
        return _jacobian.jacobian(self._chain, joint_array(q, self._names))

    def jacobian_rate(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """The time derivative of the Jacobian at q, moving with qd; shapes as for ``jacobian``."""
        values, rates = self._same_shape(q, qd, "qd")
        return _jacobian.jacobian_rate(self._chain, values, rates)

    def twist(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """The tip's velocity (m/s, rad/s) for joint velocities; shape (6,) or (N, 6)."""
        values, rates = self._same_shape(q, qd, "qd")
        result: Array = (self.jacobian(values) @ rates[..., None])[..., 0]
        return result

    def acceleration(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """The tip's acceleration (m/s^2, rad/s^2); shape (6,) or (N, 6)."""
        values, rates = self._same_shape(q, qd, "qd")
        _, second = self._same_shape(q, qdd, "qdd")
        J, Jd = self.jacobian(values), _jacobian.jacobian_rate(self._chain, values, rates)
        result: Array = (J @ second[..., None] + Jd @ rates[..., None])[..., 0]
        return result

    def joint_velocity(self, q: ArrayLike, V: ArrayLike) -> Array:
        """Joint velocities for a twist of the tip; ``solve_velocity`` also returns the damping."""
        return self.solve_velocity(q, V).rate

    def joint_acceleration(self, q: ArrayLike, qd: ArrayLike, A: ArrayLike) -> Array:
        """Joint accelerations for the tip's; ``solve_acceleration`` also returns the damping."""
        return self.solve_acceleration(q, qd, A).rate

    def solve_velocity(self, q: ArrayLike, V: ArrayLike) -> RateSolution:
        """Joint velocities for a twist of the tip, with damping and residual.

        Args:
            q: Joint positions (rad, m), shape (n,) or (N, n).
            V: Twist, linear (m/s) before angular (rad/s), shape (6,) or (N, 6).
        """
        values = joint_array(q, self._names)
        return solve_rates(self.jacobian(values), twist_array(V, values.shape[:-1], "V"))

    def solve_acceleration(self, q: ArrayLike, qd: ArrayLike, A: ArrayLike) -> RateSolution:
        """Joint accelerations for an acceleration of the tip, with damping and residual.

        Args:
            q: Joint positions (rad, m), shape (n,) or (N, n).
            qd: Joint velocities, same shape.
            A: Acceleration, linear (m/s^2) before angular (rad/s^2), shape (6,) or (N, 6).
        """
        values, rates = self._same_shape(q, qd, "qd")
        wanted = twist_array(A, values.shape[:-1], "A")
        Jd = _jacobian.jacobian_rate(self._chain, values, rates)
        return solve_rates(self.jacobian(values), wanted - (Jd @ rates[..., None])[..., 0])

    def margin(self, q: ArrayLike) -> Array:
        """Distance to the nearest limit as a fraction of that joint's range; shape () or (N,)."""
        return self.limits.margin(joint_array(q, self._names))

    def manipulability(self, q: ArrayLike) -> Array:
        """The product of the singular values of J (Yoshikawa); shape () or (N,)."""
        J = self.jacobian(joint_array(q, self._names))
        return np.asarray(np.linalg.svd(J, compute_uv=False).prod(axis=-1))

    def random_q(self, rng: np.random.Generator, count: int | None = None) -> Array:
        """Joint positions drawn evenly from inside the limits; shape (n,) or (count, n)."""
        size = (len(self._names),) if count is None else (count, len(self._names))
        return rng.uniform(self.limits.lower, self.limits.upper, size)

    def _same_shape(self, q: ArrayLike, other: ArrayLike, argument: str) -> tuple[Array, Array]:
        values, rates = joint_array(q, self._names), joint_array(other, self._names, argument)
        if values.shape != rates.shape:
            raise InvalidInput(argument, f"needs shape {values.shape}, got {rates.shape}")
        return values, rates
