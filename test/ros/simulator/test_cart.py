"""A whole patient cart on its setup joints, beside what was recorded of the dVRK's own one."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from arm_client import ArmClient
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from std_msgs.msg import Empty, Float64, String
from tf2_msgs.msg import TFMessage

from dvrk_kinematics.ros.bringup.processes import simulated_arms
from dvrk_kinematics.ros.common import qos
from dvrk_kinematics.ros.common.stamps import stamp_to_ns
from dvrk_kinematics.ros.crtk.contract import Kind

TIMEOUT_S = 30.0
ARMS = ("PSM1", "PSM2", "PSM3", "ECM")
# Recorded to 5 digits; angles of the dVRK's own tables are rounded to 4.
ATOL_M = 1e-4
TURNS = 10


class Cart:
    """Clients of every arm and setup joint arm, and of the system."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.arms = {name: ArmClient(node, name, durable=True) for name in ARMS}
        self.sujs = {name: ArmClient(node, name, kind=Kind.SUJ, durable=True) for name in ARMS}
        self._system: dict[str, Any] = {}
        self._frames: dict[tuple[str, str], Any] = {}
        self._heard: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()
        node.create_subscription(TFMessage, "/tf", self._hear, qos.TF)

    def send(self, name: str, message: Any) -> None:
        """Publish below the root."""
        if name not in self._system:
            self._system[name] = self.node.create_publisher(type(message), name, qos.COMMAND)
        deadline = time.monotonic() + TIMEOUT_S
        while self._system[name].get_subscription_count() == 0:
            assert time.monotonic() < deadline, name
            time.sleep(0.01)
        self._system[name].publish(message)

    def frames(self, awaited: set[tuple[str, str]]) -> dict[tuple[str, str], Any]:
        """What tf says from now on, until all that is awaited has come several times.

        Whatever else is said comes as often, and so meanwhile.
        """
        with self._lock:
            self._frames.clear()
            self._heard.clear()
        deadline = time.monotonic() + TIMEOUT_S
        while any(self._heard[pair] < TURNS for pair in awaited):
            assert time.monotonic() < deadline, dict(self._heard)
            time.sleep(0.05)
        with self._lock:
            return dict(self._frames)

    def _hear(self, message: Any) -> None:
        with self._lock:
            for stamped in message.transforms:
                pair = stamped.header.frame_id, stamped.child_frame_id
                self._frames[pair] = stamped
                self._heard[pair] += 1


@pytest.fixture(scope="module")
def cart(run: Any, node: Node) -> Cart:
    run(simulated_arms(ARMS, setup_joints=True, rate=100.0))
    made = Cart(node)
    for client in (*made.arms.values(), *made.sujs.values()):
        client.hear("operating_state", "status", "warning", "error")
        client.wait("operating_state", lambda c=client: c.heard["operating_state"])
    return made


def place(message: PoseStamped) -> tuple[str, list[float]]:
    p = message.pose.position
    return message.header.frame_id, [p.x, p.y, p.z]


def check_place(message: PoseStamped, frame: str, xyz: list[float]) -> None:
    assert message.header.stamp.sec > 0
    found = place(message)
    assert found[0] == frame
    np.testing.assert_allclose(found[1], xyz, atol=ATOL_M)


def test_before_homing_the_bases_are_known_and_the_tips_are_not(cart: Cart) -> None:
    message = cart.arms["PSM1"].newest("measured_cp")
    assert message.header.stamp.sec == 0 and message.header.frame_id == "PSM1_base"
    check_place(cart.sujs["PSM1"].newest("local/measured_cp"), "Cart", [-0.0288, 1.21977, 0.95906])
    check_place(cart.sujs["ECM"].newest("measured_cp"), "Cart", [0.06008, 1.24214, 0.99418])
    awaited = {("Cart", "ECM_base"), *(("ECM", f"PSM{k}_base") for k in (1, 2, 3))}
    frames = cart.frames(awaited)
    assert set(frames) == awaited
    assert frames["Cart", "ECM_base"].header.stamp.sec > 0
    assert frames["ECM", "PSM1_base"].header.stamp.sec == 0
    state = cart.sujs["PSM2"].state
    assert (state.state, state.is_homed) == ("DISABLED", True)


def test_the_system_powers_and_homes_every_arm(cart: Cart) -> None:
    cart.send("system/power_on", Empty())
    for client in cart.arms.values():
        client.wait("operating_state", lambda c=client: c.state.state == "ENABLED")
    said = {name: len(client.heard["status"]) for name, client in cart.arms.items()}
    cart.send("system/home", Empty())
    for name, client in cart.arms.items():
        client.settle_homed(said[name])
    check_place(cart.arms["PSM1"].newest("measured_cp"), "ECM", [-0.06267, -0.07519, 0.00938])
    check_place(cart.arms["PSM1"].newest("local/measured_cp"), "PSM1_base", [0.0, 0.0, -0.1135])
    check_place(cart.arms["ECM"].newest("measured_cp"), "Cart", [0.056, 1.1569, 0.90882])
    check_place(cart.sujs["PSM1"].newest("measured_cp"), "ECM", [-0.0877, -0.00603, -0.07706])
    awaited = {
        ("Cart", "ECM_base"),
        ("Cart", "ECM"),
        *(("ECM", f"PSM{k}{end}") for k in (1, 2, 3) for end in ("_base", "")),
    }
    frames = cart.frames(awaited)
    assert set(frames) == awaited
    assert all(stamped.header.stamp.sec > 0 for stamped in frames.values())
    p = frames["ECM", "PSM2_base"].transform.translation
    np.testing.assert_allclose([p.x, p.y, p.z], [0.12664, 0.02013, -0.07236], atol=ATOL_M)


def test_setup_joints_carry_the_arm_along(cart: Cart) -> None:
    suj = cart.sujs["PSM1"]
    suj.send_joints("servo_jp", [0.0107, -0.5892, -0.809, -0.6241, -0.2479, -0.4422])
    suj.wait("status", lambda: suj.texts("status")[-1] == "PSM1 SUJ: measured_cp updated")
    joints = suj.newest("measured_js")
    assert joints.name == [f"SUJ_PSM1_J{k}" for k in range(6)] and not joints.velocity
    np.testing.assert_allclose(joints.position[:3], [0.0107, -0.5892, -0.809])
    check_place(cart.arms["PSM1"].newest("measured_cp"), "ECM", [-0.11791, -0.08462, -0.01419])
    check_place(cart.arms["PSM1"].newest("local/measured_cp"), "PSM1_base", [0.0, 0.0, -0.1135])


def test_any_arm_can_be_the_reference(cart: Cart) -> None:
    psm = cart.arms["PSM1"]
    for name, frame in (("PSM2", "PSM2"), ("FOO", "PSM2"), ("ECM", "ECM")):
        cart.send("SUJ/set_reference_arm", String(data=name))
        psm.wait("measured_cp", lambda f=frame: psm.heard["measured_cp"][-1].header.frame_id == f)


def test_setup_joints_are_slower_than_arms(cart: Cart) -> None:
    suj, arm = cart.sujs["PSM3"], cart.arms["PSM3"]
    for client in (suj, arm):
        client.newest("measured_js")
    since = {client: len(client.heard["measured_js"]) for client in (suj, arm)}
    arm.wait("measured_js", lambda: len(arm.heard["measured_js"]) - since[arm] >= 200)
    suj.wait("measured_js", lambda: len(suj.heard["measured_js"]) - since[suj] >= 20)
    periods_s = []
    for client, begin in since.items():
        stamps = [stamp_to_ns(m.header.stamp) for m in client.heard["measured_js"][begin:]]
        periods_s.append(float(np.median(np.diff(stamps))) * 1e-9)
    # By the stamps: 20 and 100 times a second, and a busy machine is late with both.
    assert periods_s[0] >= 0.04 and periods_s[0] > 2.0 * periods_s[1], periods_s


def test_a_volume_is_told_to_whoever_comes(cart: Cart) -> None:
    told = threading.Event()
    cart.send("system/set_volume", Float64(data=0.25))
    cart.node.create_subscription(
        Float64, "system/volume", lambda m: m.data == 0.25 and told.set(), qos.EVENT
    )
    assert told.wait(TIMEOUT_S)


def test_power_off_disables_every_arm(cart: Cart) -> None:
    cart.send("system/power_off", Empty())
    for client in cart.arms.values():
        client.wait("operating_state", lambda c=client: c.state.state == "DISABLED")
