"""Installs dvrk_kinematics as an ament_python package."""

from pathlib import Path

from setuptools import find_packages, setup

NAME = "dvrk_kinematics"


def shared_files(folder: str) -> list[tuple[str, list[str]]]:
    """List the files below a folder as data files of share/, the tree kept."""
    files = sorted(
        file
        for file in Path(folder).rglob("*")
        if file.is_file() and file.name != "README.md" and "__pycache__" not in file.parts
    )
    return [(str(Path("share", NAME, file.parent)), [str(file)]) for file in files]


setup(
    name=NAME,
    version="0.1.0",
    description="Kinematics, motion and ROS 2 nodes for the da Vinci Research Kit",
    license="Apache-2.0",
    maintainer="dvrk_kinematics developers",
    maintainer_email="maintainers@dvrk-kinematics.invalid",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *(entry for folder in ("config", "launch", "urdf") for entry in shared_files(folder)),
    ],
    install_requires=["setuptools", "numpy", "scipy", "PyYAML"],
    python_requires=">=3.10",
    entry_points={
        "console_scripts": [
            "arm = dvrk_kinematics.ros.executables:arm",
            "arm_bridge = dvrk_kinematics.ros.executables:arm_bridge",
            "arm_simulator = dvrk_kinematics.ros.executables:arm_simulator",
            "kinematics_server = dvrk_kinematics.ros.executables:kinematics_server",
            "record = dvrk_kinematics.ros.executables:record",
            "recorder = dvrk_kinematics.ros.executables:recorder",
            "trace_block_o = dvrk_kinematics.ros.executables:trace_block_o",
            "trajectory_server = dvrk_kinematics.ros.executables:trajectory_server",
        ],
    },
    zip_safe=False,
)
