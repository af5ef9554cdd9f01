"""The setup joints of a cart, all in one bridge: shown, and never commanded."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from observer import Observer, bridge_process, find_pose, until
from rclpy.node import Node
from sensor_msgs.msg import JointState
from urdf_parser_py.urdf import URDF

from dvrk_kinematics import load_arm
from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import Kind

ARMS = ("ECM", "PSM1", "PSM2", "PSM3")
TOL = 1e-9
_EVERY = qos.with_depth(qos.ARM_STATE, 1000)


class Cart:
    """A cart, a bridge of all its setup joints, and one of two of them."""

    def __init__(self, run: Any, node: Node) -> None:
        self.node = node
        run(simulated_arms(list(ARMS), setup_joints=True, rate=50.0))
        self.bridge = run(bridge_process("every", "SUJ"))
        run(bridge_process("two", "SUJ", setup_joints=["PSM2", "ECM"], prefix="cart_"))
        self.arms = {arm: ArmClient(node, arm, kind=Kind.SUJ, durable=True) for arm in ARMS}
        # All that the arms measured: queues as short as their clients' lose some of it at times.
        self.measured: dict[str, list[int]] = {arm: [] for arm in ARMS}
        for arm, stamps in self.measured.items():
            topic = f"SUJ/{arm}/measured_js"
            node.create_subscription(JointState, topic, _keeper(stamps), _EVERY)
        self.every, self.two = (Observer(node, "SUJ", show) for show in ("every", "two"))
        until(lambda: self.every.joint_states and self.two.joint_states, "setup joints")

    def positions(self) -> dict[str, float]:
        """Where all setup joints are."""
        return {
            name: value
            for arm in self.arms.values()
            for name, value in zip(
                arm.newest("measured_js").name, arm.newest("measured_js").position, strict=True
            )
        }


@pytest.fixture(scope="module")
def cart(run: Any, node: Node) -> Cart:
    return Cart(run, node)


def _keeper(stamps_ns: list[int]) -> Callable[[JointState], None]:
    return lambda message: stamps_ns.append(stamp_to_ns(message.header.stamp))


def _newest(observer: Observer) -> JointState:
    return observer.joint_states[max(observer.joint_states)]


def test_all_setup_joints_are_in_one_message(cart: Cart) -> None:
    measured, now_ns = cart.positions(), time.time_ns()
    until(lambda: max(cart.every.joint_states) > now_ns, "what is shown now")
    state = _newest(cart.every)
    robot = URDF.from_xml_string(cart.every.description())
    movable = {joint.name for joint in robot.joints if joint.type != "fixed"}
    assert set(state.name) == movable
    # The controller lists two more for the ECM, which never move.
    assert set(measured) - movable == {"SUJ_ECM_J4", "SUJ_ECM_J5"}
    shown = dict(zip(state.name, state.position, strict=True))
    assert {name: shown[name] for name in measured if name in shown} == {
        name: value for name, value in measured.items() if name in shown
    }
    assert not state.velocity and not state.effort


def test_the_bridge_says_at_its_start_what_it_shows(cart: Cart) -> None:
    arms = ", ".join(ARMS)
    assert f"SUJ: setup joints of {arms}, simulated; shown only" in cart.bridge.output


def test_stamps_are_those_of_the_arms(cart: Cart) -> None:
    until(lambda: all(len(stamps) > 50 for stamps in cart.measured.values()), "measured_js")
    heard = [list(stamps) for stamps in cart.measured.values()]
    # The arms are found one after the other: what counts begins with the last of them.
    first, last = max(stamps[0] for stamps in heard), min(stamps[-1] for stamps in heard)
    shown = {stamp for stamp in list(cart.every.joint_states) if first <= stamp <= last}
    assert shown and shown <= {stamp for stamps in heard for stamp in stamps}


@pytest.mark.parametrize("arm", ARMS)
def test_every_tip_is_where_the_model_says(cart: Cart, arm: str) -> None:
    model = load_arm(f"SUJ_{arm}")
    measured = cart.positions()
    q = np.array([measured[name] for name in model.joint_names])

    def is_there() -> bool:
        found = find_pose(cart.every.frames.buffer(), "Cart", f"SUJ_{arm}_tip")
        return np.allclose(found, model.forward(q), rtol=0.0, atol=TOL)

    until(is_there, arm)


def test_a_subset_shows_only_its_own(cart: Cart) -> None:
    names = {name.rpartition("_")[0] for name in _newest(cart.two).name}
    assert names == {"SUJ_PSM2", "SUJ_ECM"}
    wanted = {"cart_PSM2_J5_link", "cart_ECM_J3_link"}
    until(lambda: wanted <= cart.two.frames.children(), "frames of both")
    assert not [name for name in cart.two.frames.children() if "PSM1" in name or "PSM3" in name]
    assert all(name.startswith("cart_") for name in cart.two.frames.children())


def test_a_joint_that_is_moved_is_shown(cart: Cart) -> None:
    wanted = [0.03, 0.4, -0.5, 0.6, 0.1, 0.2]
    cart.arms["PSM2"].send_joints("servo_jp", wanted)

    def is_shown(observer: Observer) -> bool:
        state = _newest(observer)
        shown = dict(zip(state.name, state.position, strict=True))
        return [shown[f"SUJ_PSM2_J{k}"] for k in range(6)] == wanted

    for observer in (cart.every, cart.two):
        until(lambda o=observer: is_shown(o), "the joint that was moved")


def test_what_holds_no_positions_changes_nothing(cart: Cart) -> None:
    """Too few of them, or NaN, from a publisher that is no setup joint arm."""
    names = [f"SUJ_PSM2_J{k}" for k in range(6)]
    topic = "SUJ/PSM2/measured_js"
    publisher = cart.node.create_publisher(JointState, topic, qos.ARM_STATE)

    def is_heard() -> bool:
        readers = cart.node.get_subscriptions_info_by_topic(topic)
        are_found = {"every", "two"} <= {reader.node_name for reader in readers}
        return are_found and publisher.get_subscription_count() >= len(readers)

    until(is_heard, "both bridges")
    for position in ([0.1], [float("nan")] * 6, []):
        message = JointState(name=names, position=position)
        message.header.stamp.sec = 1
        publisher.publish(message)
    before = len(cart.every.joint_states)
    until(lambda: len(cart.every.joint_states) > before + 20, "joint_states, still")
    assert np.isfinite(_newest(cart.every).position).all()
    cart.node.executor.create_task(cart.node.destroy_publisher, publisher)


def test_setup_joints_are_never_commanded(cart: Cart) -> None:
    """The bridge has no publisher to any command topic, and no service that would move."""
    for arm in ARMS:
        for topic in ("servo_jp", "move_jp", "state_command"):
            found = cart.node.get_publishers_info_by_topic(f"SUJ/{arm}/{topic}")
            assert {info.node_name for info in found} <= {"client"}
    services = [name for name, _ in cart.node.get_service_names_and_types()]
    assert not [name for name in services if "/bridge/SUJ/" in name]
