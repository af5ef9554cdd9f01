"""tf of several arms at once: every link where frames() says, in one tree with the dVRK's own."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from observer import FramesObserver, Observer, find_pose, until
from rclpy.node import Node
from std_msgs.msg import String

from dvrk_kinematics import load_arm
from dvrk_kinematics.geometry.arrays import Array
from dvrk_kinematics.ros.bringup.processes import Process, simulated_arms
from dvrk_kinematics.ros.common.frame_buffer import FrameBuffer
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import Kind
from dvrk_kinematics.simulation.kinds import endoscope_tip

TOL = 1e-9
OFFSETS_M, OFFSETS_RAD = 2e-6, 2e-5
TOOLS = {"PSM1": "LARGE_NEEDLE_DRIVER:400006", "PSM2": "PROGRASP_FORCEPS:400093"}
POSTURES = {
    "PSM1": [0.3, -0.2, 0.14, 0.5, -0.4, 0.2],
    "PSM2": [-0.4, 0.3, 0.11, -1.0, 0.3, -0.6],
    "ECM": [0.2, -0.1, 0.06, 0.4],
}
JAWS = {"PSM1": 0.4, "PSM2": 0.1}
_LAST_TO_MOVE = {
    *("PSM1_jaw_left_link", "PSM2_jaw_left_link", "ECM_roll_link"),
    *("SUJ_PSM1_J5_link", "SUJ_PSM2_J5_link", "SUJ_ECM_J3_link"),
}
"""A moving link of every bridge."""


class Cart:
    """Two PSMs with different instruments and an ECM on setup joints, each with its bridge."""

    def __init__(self, run: Any, node: Node) -> None:
        self.node = node
        run(simulated_arms(list(POSTURES), rate=100.0, setup_joints=True, tool_detection="MANUAL"))
        for arm in POSTURES:
            instrument = TOOLS.get(arm, "").partition(":")[2]
            parameters = {"arm": arm, "instrument": instrument}
            run(Process("arm_bridge", name=f"bridge_{arm}", parameters=parameters))
        parameters = {"arm": "SUJ", "setup_joints": list(POSTURES)}
        run(Process("arm_bridge", name="bridge_SUJ", parameters=parameters))
        self.arms = {name: ArmClient(node, name, durable=True) for name in POSTURES}
        self.frames = FramesObserver(node)
        self.observers = {name: Observer(node, name, frames=self.frames) for name in POSTURES}
        for arm in self.arms.values():
            arm.hear("operating_state", "status", "warning", "error", "goal_reached")
            arm.wait("operating_state", lambda a=arm: a.heard["operating_state"])

    def get_ready(self) -> None:
        """Enable, home, name the tools, and go somewhere."""
        for name, arm in self.arms.items():
            arm.enable()
            arm.home()
            if name in TOOLS:
                arm.send("set_tool_type", String(data=TOOLS[name]))
                arm.wait("measured_js", lambda a=arm: "wrist_yaw" in _names(a))
        for name, arm in self.arms.items():
            arm.move_joints("move_jp", POSTURES[name])
            if name in JAWS:
                arm.move_joints("jaw/move_jp", [JAWS[name]])

    def buffer(self) -> FrameBuffer:
        """All frames as they are now, with the arms at rest."""
        for name, arm in self.arms.items():
            until(lambda n=name, a=arm: _is_at(a, POSTURES[n]), f"{name} at rest")
        self.frames.forget()
        everything = {*POSTURES, *(f"{name}_base" for name in POSTURES), *_LAST_TO_MOVE}
        until(lambda: everything <= self.frames.children(), "tf of everybody")
        return self.frames.buffer()


def _is_at(arm: ArmClient, q: list[float]) -> bool:
    return np.allclose(arm.newest("measured_js").position, q, rtol=0.0, atol=TOL)


def _names(arm: ArmClient) -> list[str]:
    heard = arm.heard["measured_js"]
    return list(heard[-1].name) if heard else []


@pytest.fixture(scope="module")
def cart(run: Any, node: Node) -> Cart:
    made = Cart(run, node)
    made.get_ready()
    return made


@pytest.mark.parametrize("name", list(POSTURES))
def test_every_link_is_where_frames_says_at_the_same_stamp(cart: Cart, name: str) -> None:
    observer, model = cart.observers[name], load_arm(*_model(name))
    cart.arms[name].send_joints("move_jp", [0.5 * q for q in POSTURES[name]])
    for state, measured in observer.pairs(20, f"{name}_yaw_link")[::4]:
        buffer = cart.frames.buffer(stamp_to_ns(state.header.stamp))
        links = model.frames(np.array(measured.position), JAWS.get(name))
        for link, T in links.items():
            found = find_pose(buffer, f"{name}_base", f"{name}_{link}")
            np.testing.assert_allclose(found, T, atol=TOL, err_msg=link)
    cart.arms[name].move_joints("move_jp", POSTURES[name])


def test_what_does_not_move_is_on_tf_static_alone(cart: Cart) -> None:
    until(lambda: cart.frames.children() >= _LAST_TO_MOVE, "tf of everybody")
    static, moving = set(cart.frames.fixed()), cart.frames.children()
    assert not static & moving
    assert {"PSM1_tip", "PSM2_tip", "ECM_tip", "SUJ_PSM1_tip", "SUJ_cart"} <= static
    assert moving >= _LAST_TO_MOVE


def test_every_frame_has_one_parent_and_one_publisher(cart: Cart) -> None:
    parents, messages = defaultdict(set), defaultdict(set)
    for message in (*cart.frames.moving(), *cart.frames.static()):
        children = tuple(frame.child for frame in message)
        for frame in message:
            parents[frame.child].add(frame.parent)
            messages[frame.child].add(children)
    assert {child: above for child, above in parents.items() if len(above) > 1} == {}
    assert {child: sets for child, sets in messages.items() if len(sets) > 1} == {}


def _find_tip(buffer: FrameBuffer, base: str, name: str) -> Array:
    """Our tip as the dVRK would have it: it turns the ECM's by its endoscope."""
    T_tip_view = endoscope_tip("Classic_SD_STRAIGHT") if name == "ECM" else np.eye(4)
    return find_pose(buffer, base, f"{name}_tip") @ T_tip_view


@pytest.mark.parametrize("name", list(POSTURES))
def test_our_tip_is_the_dvrks_tip(cart: Cart, name: str) -> None:
    buffer = cart.buffer()
    for base in (f"{name}_base", "Cart"):
        ours, theirs = _find_tip(buffer, base, name), find_pose(buffer, base, name)
        # The controller's joint offsets are rounded: 0.95 um and 10 urad.
        np.testing.assert_allclose(ours[:3, 3], theirs[:3, 3], rtol=0, atol=OFFSETS_M)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=OFFSETS_RAD)


@pytest.mark.parametrize("name", list(POSTURES))
def test_our_setup_joints_carry_the_base_where_the_dvrk_has_it(cart: Cart, name: str) -> None:
    buffer = cart.buffer()
    ours = find_pose(buffer, "Cart", f"SUJ_{name}_tip")
    np.testing.assert_allclose(ours, find_pose(buffer, "Cart", f"{name}_base"), atol=TOL)


def test_setup_joints_that_are_moved_take_the_tree_along(cart: Cart) -> None:
    suj = ArmClient(cart.node, "PSM1", kind=Kind.SUJ, durable=True)
    wanted = [0.05, -0.5, -0.7, -0.6, -0.2, -0.4]
    expected = load_arm("SUJ_PSM1").forward(np.array(wanted))
    ends = ("SUJ_PSM1_tip", "PSM1_base")
    assert np.abs(find_pose(cart.buffer(), "Cart", ends[0]) - expected).max() > 0.01
    suj.send_joints("servo_jp", wanted)

    def is_moved() -> bool:
        buffer = cart.frames.buffer()
        found = [find_pose(buffer, "Cart", end) for end in ends]
        return all(np.allclose(T, expected, rtol=0.0, atol=TOL) for T in found)

    until(is_moved, "both trees to follow")


def _model(name: str) -> tuple[str, str | None]:
    tool = TOOLS.get(name)
    return ("ECM", None) if tool is None else ("PSM", tool.partition(":")[2])
