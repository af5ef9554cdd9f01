"""An arm that answers in the test itself, a clock that is turned by hand, and goals to play."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.driver import (
    ArmState,
    Finding,
    Goal,
    GoalResult,
    GoalTolerances,
    Guard,
    GuardSettings,
    Jog,
    JogSettings,
    Knots,
    OperatingState,
    Player,
    PlayerSettings,
    StateTolerance,
    make_cannula_rule,
    make_motion_limits,
    no_tolerance,
    prepare_goal,
)
from dvrk_kinematics.models.schema import JointKind

# Test modules are imported one by one, not as a package: what they share is found here.
sys.path.insert(0, str(Path(__file__).parent))

PERIOD_NS = 5_000_000
HOME = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0])
# PID tolerances of a Classic PSM with a 400006, at the joints (dVRK: PSM PID files, coupling).
PID_TOLERANCE = np.array([0.5, 0.5, 0.05, 0.9, 0.6, 0.4])
UNSAID = GoalTolerances(no_tolerance(6), no_tolerance(6), 0.0)


@dataclass(frozen=True)
class Sent:
    """A setpoint that reached the arm, and when (ns)."""

    now_ns: int
    q: np.ndarray
    qd: np.ndarray


class FakeArm:
    """The other end of an ArmPort: takes setpoints at once, reports them a few ticks later."""

    def __init__(self, names: tuple[str, ...], home: np.ndarray, tool: str) -> None:
        self.now_ns = 1_000_000_000
        self.sent: list[Sent] = []
        self.holds: list[int] = []
        self.order: list[str] = []
        self.echo_delay = 3
        self.is_reporting = True
        self.is_deaf = False
        self.stamp_step_ns = PERIOD_NS
        self.follows = np.ones(len(names), dtype=bool)
        self._setpoints = [home] * 200
        self.state = ArmState(
            joint_names=names,
            measured_q=home,
            measured_qd=np.zeros(len(names)),
            measured_stamp_ns=77,
            measured_arrival_ns=None,
            setpoint_q=home,
            setpoint_stamp_ns=77,
            setpoint_arrival_ns=None,
            operating_state=OperatingState.ENABLED,
            is_homed=True,
            is_busy=False,
            tool=tool,
        )

    def say(self, **fields: object) -> None:
        """Change what the arm reports."""
        self.state = replace(self.state, **fields)

    def rest_at(self, q: np.ndarray) -> None:
        """Put the arm elsewhere."""
        self._setpoints = [np.array(q)] * 200
        self.say(measured_q=np.array(q), setpoint_q=np.array(q))

    def publish(self) -> None:
        """Report once, as after a cycle of the arm."""
        self._setpoints = [*self._setpoints[-199:], self._setpoints[-1]]
        if not self.is_reporting:
            return
        setpoint = self._setpoints[-1 - self.echo_delay]
        measured = np.where(self.follows, setpoint, self.state.measured_q)
        self.say(
            setpoint_q=setpoint,
            measured_q=measured,
            measured_stamp_ns=self.state.measured_stamp_ns + self.stamp_step_ns,
            setpoint_stamp_ns=self.state.setpoint_stamp_ns + self.stamp_step_ns,
            measured_arrival_ns=self.now_ns,
            setpoint_arrival_ns=self.now_ns,
        )

    def read(self) -> ArmState:
        return self.state

    def servo_jp(self, q: np.ndarray, qd: np.ndarray) -> None:
        self.order.append("servo_jp")
        self.sent.append(Sent(self.now_ns, np.array(q), np.array(qd)))
        if not self.is_deaf:
            self._setpoints[-1] = np.array(q)

    def hold(self) -> None:
        self.order.append("hold")
        self.holds.append(self.now_ns)


@lru_cache
def _psm() -> Arm:
    return load_arm("PSM", instrument="400006")


def _find_slides(model: Arm) -> np.ndarray:
    return np.array([joint.kind is JointKind.PRISMATIC for joint in model.model.joints])


class Rig:
    """A player with its jog and guard, the arm and the clock."""

    def __init__(
        self,
        is_ready: bool = True,
        model: Arm | None = None,
        home: np.ndarray = HOME,
        **changes: object,
    ) -> None:
        model = _psm() if model is None else model
        joints = len(model.joint_names)
        instrument = model.model.instrument
        number = "" if instrument is None else instrument.number
        guard_changes = {k: v for k, v in changes.items() if hasattr(GuardSettings, k)}
        player_changes = {k: v for k, v in changes.items() if hasattr(PlayerSettings, k)}
        jog_changes = {k: v for k, v in changes.items() if hasattr(JogSettings, k)}
        self.guard_settings = replace(
            GuardSettings(
                limits=make_motion_limits(model),
                pid_tolerance=PID_TOLERANCE if joints == 6 else np.full(joints, 0.4),
                tool=number,
                cannula=make_cannula_rule(model),
                feed_forward=True,
            ),
            **guard_changes,
        )
        self.settings = replace(
            PlayerSettings(
                start_tolerance=np.full(joints, 0.01),
                tolerances=GoalTolerances(no_tolerance(joints), no_tolerance(joints), 0.0),
                stopped_velocity=np.where(_find_slides(model), 0.001, 0.01),
            ),
            **player_changes,
        )
        self.limits = self.guard_settings.limits
        self.arm = FakeArm(model.joint_names, np.array(home), f"TOOL:{number}[..]")
        self.guard = Guard(self.arm, self.guard_settings)
        self.jog = Jog(self.guard, model, replace(JogSettings(), **jog_changes), self.settings)
        self.player = Player(self.guard, self.settings, self.jog)
        self.results: list[GoalResult] = []
        self.wall_ns = 1_700_000_000_000_000_000
        if is_ready:
            self.ticks(30)

    def tick(self, dt_ns: int = PERIOD_NS) -> None:
        """Let time go by, let the arm report, and tick."""
        self.arm.now_ns += dt_ns
        self.wall_ns += dt_ns
        self.arm.publish()
        self.player.tick(self.arm.now_ns)
        self.results += self.player.take_results()

    def ticks(self, count: int) -> None:
        for _ in range(count):
            self.tick()

    def run(self, at_most: int = 4000) -> int:
        """Tick until no goal is left; gives the number of ticks."""
        for count in range(at_most):
            if self.player.is_idle:
                return count
            self.tick()
        raise AssertionError(f"still playing after {at_most} ticks")

    def accept(self, goal: Goal) -> Finding | None:
        prepared = prepare_goal(goal, self.guard_settings, self.settings)
        if isinstance(prepared, Finding):
            return prepared
        return self.player.accept(prepared, self.wall_ns)

    def play(self, *times_s: float, **fields: object) -> Finding | None:
        """Accept a goal from keyword arguments: q, qd, qdd, and fields of Goal."""
        return self.accept(self.goal(*times_s, **fields))

    @staticmethod
    def goal(
        *times_s: float, q: object, qd: object = None, qdd: object = None, **fields: object
    ) -> Goal:
        values = [None if v is None else np.atleast_2d(np.asarray(v, float)) for v in (q, qd, qdd)]
        times_ns = np.round(np.array(times_s) * 1e9).astype(np.int64)
        given = {"goal_id": "goal", "tolerances": UNSAID, **fields}
        return Goal(knots=Knots(times_ns, *values), **given)

    def check_commands(self) -> None:
        """Every command inside the limits, and no jump of position or velocity."""
        sent = self.arm.sent
        q = np.array([HOME if not sent else sent[0].q, *[s.q for s in sent]])
        qd = np.array([np.zeros(q.shape[1]), *[s.qd for s in sent]])
        t = np.array([s.now_ns for s in sent]) * 1e-9
        dt = np.diff(t, prepend=t[0] - 0.005)[:, None]
        limits, slack = self.limits, 1.0 + 2e-3
        assert np.isfinite(q).all() and np.isfinite(qd).all()
        assert (q >= limits.position.lower - 1e-9).all()
        assert (q <= limits.position.upper + 1e-9).all()
        assert (np.abs(qd) <= limits.velocity * slack).all()
        assert (np.abs(np.diff(q, axis=0)) <= limits.velocity * dt * slack + 1e-9).all()
        assert (np.abs(np.diff(qd, axis=0)) <= limits.acceleration * dt * slack + 1e-7).all()
        # An arm gets positions: their mean velocities change within the accelerations too.
        assert find_acceleration(t, q[1:], limits.acceleration) <= 1.01
        # The velocity that is told is the one at which positions change.
        mean = 0.5 * (qd[1:] + qd[:-1]) * dt
        assert (np.abs(np.diff(q, axis=0) - mean) <= limits.acceleration * dt**2 + 1e-9).all()


def find_acceleration(t: np.ndarray, q: np.ndarray, limit: np.ndarray) -> float:
    """Largest second difference of positions, as a part of the acceleration limit.

    Args:
        t: Times (s), shape (N,), not evenly spaced.
        q: Positions (rad, m), shape (N, n).
        limit: Accelerations (rad/s^2, m/s^2), shape (n,).
    """
    dt = np.diff(t)[:, None]
    velocity = np.diff(q, axis=0) / dt
    change = np.abs(np.diff(velocity, axis=0)) / (0.5 * (dt[1:] + dt[:-1]))
    return float((change / limit).max(initial=0.0))


@pytest.fixture(scope="session")
def make_rig() -> Callable[..., Rig]:
    """Makes a rig; keyword arguments are fields of the settings."""
    return Rig


@pytest.fixture
def rig() -> Rig:
    """A rig whose arm is ready."""
    return Rig()


@pytest.fixture
def tolerance() -> Callable[..., GoalTolerances]:
    """Makes the tolerances of a goal from one number each."""

    def make(path: float = 0.0, goal: float = 0.0, goal_time_s: float = 0.0) -> GoalTolerances:
        zeros = np.zeros(6)
        return GoalTolerances(
            StateTolerance(np.full(6, path), zeros),
            StateTolerance(np.full(6, goal), zeros),
            goal_time_s,
        )

    return make
