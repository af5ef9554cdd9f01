"""The package's own papers agree with each other and with the code."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import dvrk_kinematics

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "dvrk_kinematics": ROOT / "package.xml",
    "dvrk_kinematics_interfaces": ROOT
    / "interfaces"
    / "dvrk_kinematics_interfaces"
    / "package.xml",
}
COMPAT = sorted((ROOT / "interfaces" / "compat").glob("*/package.xml"))
ROS_PACKAGE = re.compile(r"rclpy|builtin_interfaces|.+_(msgs|srvs|interfaces)")


def read(package: Path) -> ElementTree.Element:
    return ElementTree.parse(package).getroot()


def list_dependencies(package: Path) -> dict[str, list[str]]:
    """The dependencies of a package, by class and in the order of the file."""
    found: dict[str, list[str]] = {}
    for element in read(package):
        if element.tag.endswith("depend"):
            found.setdefault(element.tag, []).append(element.text or "")
    return found


def list_ros_imports(folder: Path) -> set[str]:
    """The ROS packages that the code below a folder imports."""
    names: set[str] = set()
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                names.add(node.module.split(".")[0])
    return {name for name in names if ROS_PACKAGE.fullmatch(name)}


def test_all_versions_agree() -> None:
    (in_setup,) = re.findall(r'^ +version="(.+)",$', (ROOT / "setup.py").read_text(), re.M)
    released = re.findall(
        r"^(\d+\.\d+\.\d+) \(.+\)\n-+$", (ROOT / "CHANGELOG.rst").read_text(), re.M
    )
    in_packages = {name: read(file).findtext("version") for name, file in PACKAGES.items()}
    assert in_setup == dvrk_kinematics.__version__
    assert released[0] == in_setup
    assert in_packages == dict.fromkeys(PACKAGES, in_setup)


@pytest.mark.parametrize("package", [*PACKAGES.values(), *COMPAT], ids=lambda p: p.parent.name)
def test_a_package_is_of_format_3_and_named_after_its_folder(package: Path) -> None:
    root = read(package)
    assert root.get("format") == "3"
    assert root.findtext("license")
    assert package == PACKAGES["dvrk_kinematics"] or root.findtext("name") == package.parent.name


@pytest.mark.parametrize("package", [*PACKAGES.values(), *COMPAT], ids=lambda p: p.parent.name)
def test_dependencies_are_alphabetical_and_named_once(package: Path) -> None:
    dependencies = list_dependencies(package)
    for names in dependencies.values():
        assert names == sorted(names)
    run_time = dependencies.get("depend", []) + dependencies.get("exec_depend", [])
    assert len(run_time) == len(set(run_time))


def test_every_ros_package_that_is_imported_is_a_dependency() -> None:
    dependencies = list_dependencies(PACKAGES["dvrk_kinematics"])
    declared = {*dependencies["depend"], *dependencies["exec_depend"]}
    assert list_ros_imports(ROOT / "dvrk_kinematics") <= declared


def test_every_ros_package_that_a_test_imports_is_a_dependency() -> None:
    declared = {
        n for names in list_dependencies(PACKAGES["dvrk_kinematics"]).values() for n in names
    }
    assert list_ros_imports(ROOT / "test") <= declared


def test_stand_ins_never_shadow_the_real_packages_in_a_workspace() -> None:
    assert (ROOT / "interfaces" / "compat" / "COLCON_IGNORE").exists()
    assert {file.parent.name for file in COMPAT} == {"control_msgs", "crtk_msgs", "tf2_msgs"}


def test_every_interface_file_is_built() -> None:
    for package in (PACKAGES["dvrk_kinematics_interfaces"], *COMPAT):
        folder = package.parent
        files = {
            f"{file.parent.name}/{file.name}"
            for kind in ("msg", "srv", "action")
            for file in folder.glob(f"{kind}/*.{kind}")
        }
        listed = re.findall(r'"(\w+/\w+\.\w+)"', (folder / "CMakeLists.txt").read_text())
        assert files == set(listed)
        assert len(listed) == len(set(listed))


def test_the_script_and_ci_can_be_started() -> None:
    for file in (ROOT / "dvrk", ROOT / ".ci" / "run"):
        assert file.stat().st_mode & 0o111
        assert file.read_text().startswith("#!/")
