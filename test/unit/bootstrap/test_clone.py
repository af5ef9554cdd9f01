"""Which ROS 2 a clone uses, and with which Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap.clone import WHEELS, Clone, check_python, detect_ros, has_package
from bootstrap.problems import Problem

INDEX = Path("share/ament_index/resource_index/packages")


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    """An install prefix that holds rclpy for Python 3.12."""
    prefix = tmp_path / "opt" / "ros"
    (prefix / INDEX).mkdir(parents=True)
    (prefix / INDEX / "rclpy").touch()
    (prefix / "lib" / "python3.12" / "site-packages" / "rclpy").mkdir(parents=True)
    return prefix


@pytest.mark.parametrize("distro", ["jazzy", "kilted", "rolling"])
def test_a_sourced_distribution_is_used(prefix: Path, distro: str) -> None:
    environ = {"ROS_DISTRO": distro, "AMENT_PREFIX_PATH": f"/overlay:{prefix}"}
    assert detect_ros(environ) == distro


def test_a_package_is_looked_for_in_every_sourced_prefix(prefix: Path) -> None:
    environ = {"AMENT_PREFIX_PATH": f"/overlay:{prefix}"}
    assert has_package(environ, "rclpy")
    assert not has_package(environ, "ros2bag")
    assert not has_package({}, "rclpy")


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"ROS_DISTRO": ""},
        {"ROS_DISTRO": "jazzy"},
        {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": "/overlay/without/rclpy:"},
        {"ROS_DISTRO": "noetic", "ROS_VERSION": "1"},
    ],
)
def test_without_a_sourced_rclpy_the_wheels_are_used(environ: dict[str, str]) -> None:
    assert detect_ros(environ) == WHEELS


@pytest.mark.parametrize("distro", ["foxy", "galactic", "humble", "iron"])
def test_a_distribution_before_jazzy_is_refused(prefix: Path, distro: str) -> None:
    environ = {"ROS_DISTRO": distro, "AMENT_PREFIX_PATH": str(prefix)}
    with pytest.raises(Problem, match=rf"^ROS 2 {distro} is sourced, but Jazzy or newer"):
        detect_ros(environ)


def test_an_environment_made_by_the_script_itself_is_not_taken_for_a_sourced_one(
    prefix: Path,
) -> None:
    environ = {"ROS_DISTRO": "jazzy", "AMENT_PREFIX_PATH": str(prefix), "DVRK_ROS": WHEELS}
    assert detect_ros(environ) == WHEELS


def test_a_python_that_the_sourced_ros_was_not_built_for_is_refused(prefix: Path) -> None:
    environ = {"AMENT_PREFIX_PATH": str(prefix)}
    check_python("jazzy", environ, (3, 12))
    with pytest.raises(Problem, match=r"jazzy is for Python 3\.12, and this is 3\.11; name the"):
        check_python("jazzy", environ, (3, 11))


def test_an_unusual_layout_or_the_wheels_accept_any_python(prefix: Path, tmp_path: Path) -> None:
    check_python("jazzy", {"AMENT_PREFIX_PATH": str(tmp_path)}, (3, 11))
    check_python(WHEELS, {"AMENT_PREFIX_PATH": str(prefix)}, (3, 11))


def test_everything_that_is_made_lies_in_ignored_folders(tmp_path: Path) -> None:
    ignored = {".venv", ".dvrk"}
    for flavour in (WHEELS, "jazzy"):
        clone = Clone(tmp_path, flavour)
        for path in (clone.venv, clone.work, clone.logs, clone.interfaces):
            assert path.relative_to(tmp_path).parts[0] in ignored


def test_two_kinds_of_ros_share_nothing_that_is_built(tmp_path: Path) -> None:
    wheels, sourced = Clone(tmp_path, WHEELS), Clone(tmp_path, "jazzy")
    assert wheels.venv != sourced.venv
    assert wheels.interfaces != sourced.interfaces
