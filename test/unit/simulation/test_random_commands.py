"""Random sequences of commands: states stay documented, joints inside limits, nothing is NaN."""

from __future__ import annotations

from math import inf, nan

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from dvrk_kinematics.simulation import (
    ArmSpec,
    Fault,
    FaultKind,
    KinematicPlant,
    SimulatedSystem,
    SystemOptions,
    ToolDetection,
)
from dvrk_kinematics.simulation.control import COMMANDS

STATES = {"DISABLED", "ENABLED", "PAUSED", "FAULT"}
TOPICS = {
    "operating_state",
    "desired_state",
    "goal_reached",
    "error",
    "warning",
    "status",
    "tool_type",
    "tool_type_request",
    "endoscope_type",
    "trajectory_j/ratio",
    "trajectory_j/ratio_v",
    "trajectory_j/ratio_a",
}
# Tools of one family, whose limits are the same: another tool may leave a joint outside its own.
TOOLS = ("LARGE_NEEDLE_DRIVER:400006", "LARGE_NEEDLE_DRIVER:400006[1]", "nonsense", "")
ENDOSCOPES = ("Classic_SD_STRAIGHT", "Custom_UP", "NONE", "nonsense")
ROUNDING = 1e-9

value = st.one_of(
    st.floats(-5.0, 5.0), st.floats(-0.4, 0.4), st.sampled_from([0.0, 0.12, nan, inf, -inf, 1e300])
)
vector = st.one_of(
    st.lists(value, max_size=9),
    st.tuples(
        st.floats(-1.7, 1.7), st.floats(-1.0, 1.0), st.floats(-0.05, 0.3), *[st.floats(-2, 2)] * 3
    ).map(list),
    st.lists(st.floats(-0.05, 0.05), min_size=6, max_size=6),
)
rotation = st.lists(st.floats(-1.0, 1.0), min_size=3, max_size=3)


def pose_of(position, axis):
    """A rigid pose from a position and a rotation vector."""
    angle = np.linalg.norm(axis)
    K = np.cross(np.eye(3), np.array(axis) / (angle or 1.0))
    T = np.eye(4)
    T[:3, :3] = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K
    T[:3, 3] = position
    return T


class Arms(RuleBasedStateMachine):
    """A PSM, a PSM that is asked for its tool, and an ECM, on setup joints or not."""

    names = Bundle("names")

    @initialize(
        target=names,
        with_suj=st.booleans(),
        reset=st.booleans(),
        lag=st.sampled_from([0.0, 0.02]),
    )
    def start(self, with_suj, reset, lag):
        self.system = SimulatedSystem(
            [
                ArmSpec("PSM1", plant=KinematicPlant(lag)),
                ArmSpec("PSM2", tool_detection=ToolDetection.MANUAL),
                ArmSpec("ECM"),
            ],
            SystemOptions(with_suj=with_suj, reset_joints_on_enable=reset),
        )
        self.now_ns = 0
        return "PSM1"

    @initialize(target=names)
    def manual(self):
        return "PSM2"

    @initialize(target=names)
    def camera(self):
        return "ECM"

    @rule(cycles=st.integers(1, 300), period_ms=st.sampled_from([1, 5, 20, 500]))
    def pass_time(self, cycles, period_ms):
        for _ in range(cycles if period_ms < 100 else 5):
            self.now_ns += period_ms * 1_000_000
            self.system.step(self.now_ns)

    @rule()
    def home_all(self):
        self.system.power_off()
        self.pass_time(2, 5)
        self.system.power_on()
        self.pass_time(4, 5)
        self.system.home()
        self.pass_time(180, 20)

    @rule(name=names, word=st.sampled_from([*COMMANDS, "foo", ""]))
    def command_state(self, name, word):
        self.system.arms[name].state_command(word)

    @rule(
        name=names,
        command=st.sampled_from(
            ["servo_jp", "servo_jr", "servo_jf", "move_jp", "move_jr", "body_servo_cf"]
        ),
        values=vector,
        cycles=st.integers(0, 60),
    )
    def command_joints(self, name, command, values, cycles):
        getattr(self.system.arms[name], command)(values)
        if cycles:
            self.pass_time(cycles, 5)

    @rule(name=names, position=vector, velocity=vector)
    def servo_with_velocity(self, name, position, velocity):
        self.system.arms[name].servo_jp(position, velocity)

    @rule(name=names, share=st.floats(-0.2, 0.2), cycles=st.integers(1, 60))
    def servo_nearby(self, name, share, cycles):
        arm = self.system.arms[name]
        arm.servo_jp(arm.setpoint_js.position + share * 0.1)
        self.pass_time(cycles, 5)

    @rule(
        name=names,
        command=st.sampled_from(["servo_cp", "move_cp", "servo_cs"]),
        step=st.lists(st.one_of(st.floats(-0.1, 0.1), st.just(nan)), min_size=3, max_size=3),
        axis=rotation,
        absolute=st.booleans(),
    )
    def command_pose(self, name, command, step, axis, absolute):
        arm = self.system.arms[name]
        T = pose_of(step, axis)
        goal = T if absolute else arm.setpoint_cp.T @ T
        getattr(arm, command)(goal)
        self.pass_time(3, 5)

    @rule(name=names, command=st.sampled_from(["hold", "free", "servo_ci"]))
    def command_empty(self, name, command):
        getattr(self.system.arms[name], command)()

    @rule(
        name=st.sampled_from(["PSM1", "PSM2"]),
        command=st.sampled_from(["jaw_servo_jp", "jaw_move_jp", "jaw_servo_jf"]),
        values=st.lists(value, max_size=2),
    )
    def command_jaw(self, name, command, values):
        getattr(self.system.arms[name], command)(values)

    @rule(name=names, suffix=st.sampled_from(["", "_v", "_a"]), ratio=value)
    def set_ratio(self, name, suffix, ratio):
        getattr(self.system.arms[name], f"trajectory_j_set_ratio{suffix}")(ratio)

    @rule(name=names, position=st.lists(st.floats(-1, 1), min_size=3, max_size=3), axis=rotation)
    def set_base_frame(self, name, position, axis):
        self.system.arms[name].set_base_frame(pose_of(position, axis), "somewhere")

    @rule(name=st.sampled_from(["PSM1", "PSM2"]), text=st.sampled_from(TOOLS))
    def set_tool(self, name, text):
        self.system.arms[name].set_tool_type(text)

    @rule(name=st.sampled_from(["PSM1", "PSM2"]), present=st.booleans())
    def show_tool(self, name, present):
        self.system.arms[name].emulate_tool_present(present)

    @rule(text=st.sampled_from(ENDOSCOPES))
    def set_endoscope(self, text):
        self.system.arms["ECM"].set_endoscope_type(text)

    @rule(
        name=names,
        kind=st.sampled_from([FaultKind.POWER_LOSS, FaultKind.STALLED_JOINT, FaultKind.NONE]),
    )
    def inject(self, name, kind):
        self.system.arms[name].inject(Fault(kind, joint="insertion", duration_s=0.1))

    @rule(name=names, jp=vector, axis=rotation)
    def call_services(self, name, jp, axis):
        arm = self.system.arms[name]
        assert np.isfinite(arm.forward_kinematics(jp).T).all()
        assert np.isfinite(arm.inverse_kinematics(pose_of([0.0, 0.02, -0.1], axis), jp).jp).all()

    @rule(
        joints=st.lists(value, min_size=5, max_size=6), reference=st.sampled_from(["ECM", "PSM1"])
    )
    def move_setup_joints(self, joints, reference):
        for suj in self.system.sujs.values():
            suj.servo_jp(joints)
        self.system.set_reference_arm(reference)

    @invariant()
    def states_are_documented(self):
        if not hasattr(self, "system"):
            return
        for arm in self.system.arms.values():
            assert arm.operating_state.state in STATES
            for event in arm.take_events():
                assert event.topic in TOPICS
                if event.topic in ("error", "warning", "status"):
                    assert str(event.value).startswith(f"{arm.name}: ")

    @invariant()
    def joints_are_inside_their_limits(self):
        if not hasattr(self, "system"):
            return
        for arm in self.system.arms.values():
            limits = arm.mechanism.limits
            for joints in (arm.servo.setpoint, arm.servo.measured):
                assert (np.array(joints) >= np.array(limits.lower) - ROUNDING).all()
                assert (np.array(joints) <= np.array(limits.upper) + ROUNDING).all()

    @invariant()
    def nothing_is_nan(self):
        if not hasattr(self, "system"):
            return
        for arm in self.system.arms.values():
            names = ["measured_js", "setpoint_js", "gravity_compensation_setpoint_js"]
            names += ["jaw_measured_js", "jaw_setpoint_js"] if arm.kind == "PSM" else []
            for name in names:
                reading = getattr(arm, name)
                for part in (reading.position, reading.velocity, reading.effort):
                    assert np.isfinite(part).all(), name
            for name in ("measured_cp", "setpoint_cp", "local_measured_cp", "local_setpoint_cp"):
                assert np.isfinite(getattr(arm, name).T).all(), name
            assert np.isfinite(arm.measured_cv.twist).all()
            assert np.isfinite(arm.local_measured_cv.twist).all()
            assert np.isfinite(arm.body_jacobian).all()
            assert np.isfinite(arm.spatial_jacobian).all()
        for frame in self.system.transforms():
            assert np.isfinite(frame.T).all()


TestRandomCommands = Arms.TestCase
TestRandomCommands.settings = settings(max_examples=60, stateful_step_count=40)
