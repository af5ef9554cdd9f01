"""Real ROS 2 for tests: a domain of their own, and processes that are always gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import rclpy
from rclpy.context import Context
from rclpy.node import Node

from bench.domain import claim_domain
from bench.processes import die_with_parent
from dvrk_kinematics.ros.bringup.processes import Process
from dvrk_kinematics.ros.common.spinning_node import SpinningNode

# Test modules are imported one by one, not as a package: what they share is found here.
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from running_process import RunningProcess  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def own_domain() -> Iterator[None]:
    """Keep this run apart from others: on this machine only, in a domain that nobody else uses."""
    before = {
        name: os.environ.get(name) for name in ("ROS_DOMAIN_ID", "ROS_AUTOMATIC_DISCOVERY_RANGE")
    }
    os.environ["ROS_DOMAIN_ID"] = str(claim_domain())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    yield
    for name, value in before.items():
        if value is None:
            del os.environ[name]
        else:
            os.environ[name] = value


@pytest.fixture
def context() -> Iterator[Context]:
    """An initialised ROS context."""
    made = Context()
    rclpy.init(context=made)
    yield made
    rclpy.try_shutdown(context=made)


@pytest.fixture
def spinning(context: Context) -> Iterator[Callable[..., Node]]:
    """Makes nodes that spin until the test is over."""
    with ExitStack() as stack:

        def make(name: str, **options: Any) -> Node:
            node = Node(name, context=context, **options)
            stack.callback(node.destroy_node)
            stack.enter_context(SpinningNode(node))
            return node

        yield make


@pytest.fixture(scope="module")
def node(own_domain: None) -> Iterator[Node]:
    """A node that spins until the module's tests are over."""
    context = Context()
    rclpy.init(context=context)
    made = Node("client", context=context)
    with SpinningNode(made):
        yield made
    made.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts Python scripts of this folder as processes, and ends them by their id."""
    started: list[subprocess.Popen[str]] = []

    def begin(script: str, *arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(HERE / script), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=die_with_parent,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.terminate()
    stuck = [process.args for process in started if not _has_ended(process)]
    assert not stuck


def _has_ended(process: subprocess.Popen[str]) -> bool:
    """Whether a process ends by itself; one that does not is killed."""
    try:
        process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return False
    return True


Run = Callable[[Process], RunningProcess]


@contextmanager
def running(folder: Path) -> Iterator[Run]:
    """Starts processes that run until the with-block is over, and must end cleanly."""
    started: list[RunningProcess] = []

    def begin(process: Process) -> RunningProcess:
        file = folder / f"{len(started)}_{process.executable}.txt"
        started.append(RunningProcess(process, file))
        return started[-1]

    with ExitStack() as stack:
        yield begin
        # One after the other they would take longer than most tests.
        for is_simulator in (False, True):
            group = [one for one in started if one.is_simulator == is_simulator]
            for one in group:
                one.tell_to_end()
            for one in group:
                one.wait_ended()
        for one in started:
            stack.callback(one.end)


@pytest.fixture(scope="module")
def run(own_domain: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Starts processes that run until the module's tests are over."""
    with running(tmp_path_factory.mktemp("output")) as begin:
        yield begin


@pytest.fixture
def run_alone(own_domain: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Starts processes that run until the test is over, for tests that share none."""
    with running(tmp_path_factory.mktemp("output")) as begin:
        yield begin


_LONGEST = ("test_ends.py", "test_bench_bridge.py", "test_faults.py", "test_demo.py")
"""Files that take longest: the others fill up what is left beside them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest files: at the end, one worker would have them while others rest."""
    items.sort(key=lambda item: item.path.name not in _LONGEST)
