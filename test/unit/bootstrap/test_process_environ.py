"""The environment of commands: where ROS 2 lies, and what stays the user's own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bootstrap.clone import WHEELS, Clone, detect_ros
from bootstrap.process_environ import make_environ

SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
USERS = {
    "ROS_DOMAIN_ID": "42",
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET",
    "ROS_STATIC_PEERS": "10.0.0.2",
    "RMW_IMPLEMENTATION": "rmw_zenoh_cpp",
}


@pytest.fixture
def wheels(tmp_path: Path) -> Clone:
    return Clone(tmp_path, WHEELS)


@pytest.fixture
def sourced(tmp_path: Path) -> Clone:
    return Clone(tmp_path, "jazzy")


def test_discovery_stays_on_this_machine_without_a_sourced_ros(wheels: Clone) -> None:
    assert make_environ(wheels, [], {})["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"


def test_what_the_user_has_set_stays_without_a_sourced_ros(wheels: Clone) -> None:
    made = make_environ(wheels, [], USERS)
    assert {name: made[name] for name in USERS} == USERS


def test_a_sourced_ros_keeps_its_domain_range_and_rmw(sourced: Clone) -> None:
    made = make_environ(sourced, [], USERS)
    assert {name: made[name] for name in USERS} == USERS


def test_a_sourced_ros_gets_no_domain_range_or_rmw(sourced: Clone) -> None:
    made = make_environ(sourced, [], {"ROS_DISTRO": "jazzy"})
    assert not USERS.keys() & made.keys()
    assert "DVRK_ROS" not in made
    assert made["ROS_DISTRO"] == "jazzy"


def test_processes_find_each_other_sooner_unless_the_user_says_how(
    wheels: Clone, sourced: Clone
) -> None:
    names = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
    made = make_environ(wheels, [], {})
    file = Path("config", "fastdds", "discovery.xml")
    assert {made[name] for name in names} == {str(wheels.root / file)}
    assert (Path(__file__).parents[3] / file).is_file()
    users = {names[1]: "mine.xml"}
    made = make_environ(wheels, [], users)
    assert made[names[1]] == "mine.xml" and names[0] not in made
    assert not set(names) & make_environ(sourced, [], {}).keys()


def test_bytecode_is_kept_in_the_ignored_folder(wheels: Clone, sourced: Clone) -> None:
    users = {"PYTHONDONTWRITEBYTECODE": "1"}
    made = make_environ(wheels, [], users)
    assert Path(made["PYTHONPYCACHEPREFIX"]).is_relative_to(wheels.work)
    assert "PYTHONDONTWRITEBYTECODE" not in made
    assert make_environ(sourced, [], users)["PYTHONDONTWRITEBYTECODE"] == "1"


@pytest.mark.parametrize("flavour", [WHEELS, "jazzy"])
def test_ros_writes_its_logs_inside_the_clone(tmp_path: Path, flavour: str) -> None:
    clone = Clone(tmp_path, flavour)
    made = make_environ(clone, [], {"HOME": "/home/user"})
    for name in ("ROS_HOME", "ROS_LOG_DIR"):
        assert Path(made[name]).is_relative_to(clone.work)


def test_a_log_folder_of_the_users_own_is_kept(wheels: Clone) -> None:
    assert (
        make_environ(wheels, [], {"ROS_LOG_DIR": "/var/log/ros"})["ROS_LOG_DIR"] == "/var/log/ros"
    )


def test_the_clone_and_its_interfaces_come_first(wheels: Clone) -> None:
    prefix = wheels.interfaces / "install" / "ours"
    users = {"PYTHONPATH": "/mine", "PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": "/mine/lib"}
    made = make_environ(wheels, [prefix], users)
    assert made["PYTHONPATH"] == f"{wheels.root}:{prefix / SITE}:/mine"
    assert made["LD_LIBRARY_PATH"] == f"{prefix / 'lib'}:/mine/lib"
    assert made["PATH"] == f"{wheels.venv / 'bin'}:/usr/bin:/bin"
    assert made["AMENT_PREFIX_PATH"] == f"{prefix}:{wheels.venv}"


def test_what_a_sourced_ros_provides_stays_behind_our_interfaces(sourced: Clone) -> None:
    prefix = sourced.interfaces / "install" / "ours"
    made = make_environ(sourced, [prefix], {"AMENT_PREFIX_PATH": "/overlay:/opt/ros/jazzy"})
    assert made["AMENT_PREFIX_PATH"] == f"{prefix}:/overlay:/opt/ros/jazzy"


def test_the_packages_of_another_ros_do_not_hide_the_wheels(wheels: Clone, tmp_path: Path) -> None:
    noetic = tmp_path / "noetic" / "dist-packages"
    (noetic / "std_msgs").mkdir(parents=True)
    made = make_environ(wheels, [], {"PYTHONPATH": f"{noetic}:/mine"})
    assert made["PYTHONPATH"] == f"{wheels.root}:/mine"


def test_an_environment_made_inside_itself_is_the_same(wheels: Clone) -> None:
    prefix = wheels.interfaces / "install" / "ours"
    once = make_environ(wheels, [prefix], {"PATH": "/usr/bin", "HOME": "/home/user"})
    twice = make_environ(wheels, [prefix], {**once, "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"})
    assert twice == once
    assert detect_ros(once) == WHEELS


def test_the_users_environment_is_not_changed(wheels: Clone) -> None:
    users = {"PATH": "/usr/bin"}
    make_environ(wheels, [], users)
    assert users == {"PATH": "/usr/bin"}
