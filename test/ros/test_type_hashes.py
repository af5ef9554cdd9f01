"""Every compat type has the hash of the real one, so that every other ROS 2 node accepts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory

HASHES = {
    "control_msgs/action/FollowJointTrajectory": "738ebcb7a2d7cfa42f9f1001cc99ce3a4383d1cfe508015d9be8485e4b1c66f6",
    "control_msgs/action/ParallelGripperCommand": "adfd3c1ebe8abc38ebcc0e454b6423d291d4010dd5697d14eca5b9be4726ae18",
    "control_msgs/msg/JointComponentTolerance": "739ea7566931944d33830fa10f1bf5e7a7fbdc3172bce7a7eaac642bd6e3ffa4",
    "control_msgs/msg/JointJog": "ba249455a20f70168a1acb7bf43b776b72ff1f7eb5fc4cfea443f749e963c6e7",
    "control_msgs/msg/JointTolerance": "c254f9cece0f3b733017b6990fd46d1326e25242d6b8844398c97d9a88e7d648",
    "control_msgs/msg/SpeedScalingFactor": "0c240f349f2b74e33e8741f83e0f196ddeb6585923663876ed3c1f51f0566037",
    "crtk_msgs/msg/CartesianImpedance": "9b4e8adf1c59d8045d9bab6c639f8851ec89024ff8bc744fb5b3965143dde7d0",
    "crtk_msgs/msg/CartesianImpedanceHalfPlaneGains": "ab886080cad5164b93d0fb8de83181067f78df6fe72e7d5e0bf15028c7984560",
    "crtk_msgs/msg/CartesianServo": "0acfd530851bb1e631c6f590b6c51d151e2d1af0b34ee0665ac4322f054c7427",
    "crtk_msgs/msg/CartesianState": "edd33cdbe17e19f486ed3cba80b3c894627ea819a8f2b6ad9bdb8db55eac58e6",
    "crtk_msgs/msg/JointServo": "a09603ce45ff956c65ff7faf7b8cc9009ba4bc11e0741f9e5f03716747a0b1fe",
    "crtk_msgs/msg/OperatingState": "5cc57eea589b217fe5194bf2735b91d4a7f2dd5ac1245ae657f7ea7590c2c80e",
    "crtk_msgs/msg/SetpointMode": "3e679d1b5c3c04d77b57ea150b3363e26520f33efa75758631f0d80cc525fc12",
    "crtk_msgs/msg/StringStamped": "83efb802e6596e03f69ac322e3231037329946f2bd13ed48874d97f5b8f5db1d",
    "crtk_msgs/srv/QueryForwardKinematics": "5906fc58a120dbfa461f62abf0cd0d6e57d0967fa79ea4838b2d342e06d65323",
    "crtk_msgs/srv/QueryInverseKinematics": "a2ead2f28d548d1b8589033207d18095262a0a07cf3eb290cb4af77b679960be",
    "crtk_msgs/srv/TriggerOperatingState": "364ceef23563859e687f916bb77ba0c376c081cccce83eb6c576e14a6f8f8372",
    "tf2_msgs/msg/TFMessage": "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
}


@pytest.mark.parametrize("name", HASHES)
def test_type_hash_is_that_of_the_real_package(name: str) -> None:
    package, kind, short = name.split("/")
    described = json.loads(
        Path(get_package_share_directory(package), kind, f"{short}.json").read_text()
    )
    hashes = {entry["type_name"]: entry["hash_string"] for entry in described["type_hashes"]}
    assert hashes[name] == f"RIHS01_{HASHES[name]}"


def test_every_compat_type_is_compared() -> None:
    compat = Path(__file__).parents[2] / "interfaces" / "compat"
    files = [f for kind in ("msg", "srv", "action") for f in compat.glob(f"*/{kind}/*.{kind}")]
    assert {f"{f.parts[-3]}/{f.parts[-2]}/{f.stem}" for f in files} == set(HASHES)
