"""Recorded sessions of the real dVRK, and how to play them to a simulated one."""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dvrk_kinematics.simulation import (
    ArmSpec,
    Event,
    ForwardAnswer,
    InverseAnswer,
    JointReading,
    OperatingStateReading,
    PoseReading,
    SimulatedSystem,
    SystemOptions,
)

TRUTH = Path(__file__).resolve().parents[2] / "data" / "dvrk_truth"
PERIOD_NS = 5_000_000

_LINE = re.compile(r"^\s*([\d.]+) (\S+)\s+(meta|step|even|send|snap|srv|tf) (\S+)\s*(.*)$")
_NUMBER = r"-?\d+(?:\.\d+)?(?:e-?\d+)?"

# The log cuts names after 20 characters.
_FULL_NAMES = {
    "use_gravity_compensa": "use_gravity_compensation",
    "SUJ/PSM1/state_comm": "SUJ/PSM1/state_command",
    "SUJ/set_reference_a": "SUJ/set_reference_arm",
    "SUJ/PSM1/operating_": "SUJ/PSM1/operating_state",
    "SUJ/ECM/operating_s": "SUJ/ECM/operating_state",
    "SUJ/PSM1/measured_c": "SUJ/PSM1/measured_cp",
    "SUJ/PSM1/measured_j": "SUJ/PSM1/measured_js",
    "SUJ/PSM1/local/meas": "SUJ/PSM1/local/measured_cp",
    "SUJ/ECM/local/measu": "SUJ/ECM/local/measured_cp",
    "ECM/local/measured_": "ECM/local/measured_cp",
    "gravity_compensation": "gravity_compensation/setpoint_js",
}


class Entry(NamedTuple):
    """One line of a recorded session."""

    time: float
    step: str
    kind: str
    name: str
    content: str


class Block(NamedTuple):
    """A command and everything that was recorded until the next one."""

    command: Entry | None
    entries: list[Entry]


class Answered(NamedTuple):
    """A block, and what the simulated system answered: events by topic, services, readings."""

    block: Block
    events: dict[str, list[str]]
    services: list[tuple[Entry, ForwardAnswer | InverseAnswer]]
    readings: list[tuple[Entry, Any]]


def read_session(name: str, arm: str) -> list[Entry]:
    """The lines of a session, with full names: relative to the system, not to the arm."""
    entries = []
    with gzip.open(TRUTH / "sessions" / f"{name}.txt.gz", "rt") as file:
        for line in file:
            match = _LINE.match(line)
            assert match, line
            time, step, kind, topic, content = match.groups()
            short = topic.removeprefix("/")
            full = _FULL_NAMES.get(short, short)
            if full == "trajectory_j/set_rat":
                suffix = "_v" if "ratio_v" in step else "_a" if "ratio_a" in step else ""
                full = f"trajectory_j/set_ratio{suffix}"
            if not topic.startswith("/"):
                full = f"{arm}/{full}"
            entries.append(Entry(float(time), step, kind, full, content.strip()))
    return entries


def blocks(entries: list[Entry]) -> Iterator[Block]:
    """What follows each command; first what came before all of them."""
    block = Block(None, [])
    for entry in entries:
        if entry.kind == "send":
            yield block
            block = Block(entry, [])
        else:
            block.entries.append(entry)
    yield block


def numbers(text: str) -> list[float]:
    """The numbers of a list in the log."""
    return [float(value) for value in re.findall(_NUMBER, text)]


def matrix(position: list[float], quaternion: list[float]) -> np.ndarray:
    """A pose of position (m) and quaternion (x, y, z, w)."""
    x, y, z, w = np.array(quaternion) / np.linalg.norm(quaternion)
    T = np.eye(4)
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    T[:3, 3] = position
    return T


def event_text(event: Event) -> str:
    """An event as the log writes it."""
    value = event.value
    if isinstance(value, OperatingStateReading):
        return f"{value.state} homed={int(value.is_homed)} busy={int(value.is_busy)}"
    return str(value)


class Replay:
    """Plays a session's commands to a simulated system and takes down what it answers.

    The real machine's moves took up to 10 % less than the ideal time, so commands that were sent
    after a move had ended are sent after it has ended here.
    """

    def __init__(self, system: SimulatedSystem, entries: list[Entry]) -> None:
        self.system = system
        self.entries = entries
        self.now_ns = PERIOD_NS
        self._quaternions: list[list[float]] = []
        self._orientation = np.eye(4)

    def play(self) -> Iterator[Answered]:
        """Each block, with what the simulated system answered to it."""
        found = list(blocks(self.entries))
        for block, following in zip(found, [*found[1:], None], strict=True):
            if block.command is not None:
                self.send(block.command)
            begin = block.command.time if block.command else 0.0
            end = following.command.time if following and following.command else begin + 5.0
            self.run(end - begin)
            self._finish(block)
            self._remember(block)
            answers = [
                (entry, self._call(entry))
                for entry in block.entries
                if entry.kind == "srv" and "kinema" in entry.name
            ]
            readings = [
                (entry, reading_of(self.system, entry.name))
                for entry in block.entries
                if entry.kind == "snap" and entry.name.endswith(("_js", "_cp"))
            ]
            yield Answered(block, self.events(), answers, readings)

    def _call(self, entry: Entry) -> ForwardAnswer | InverseAnswer:
        """Calls the service of an entry; orientations are not in the log, see below."""
        arm, _, service = entry.name.partition("/")
        target = self.system.arms[arm]
        jp, position = (numbers(text) for text in re.findall(r"\w=\[(.*?)\]", entry.content)[:2])
        if "inverse" not in service:
            answer = target.forward_kinematics(jp, local=service.startswith("local"))
            if service.startswith("local") and len(jp) == len(target.joint_names):
                self._orientation = answer.T
            return answer
        # Clients asked for the orientation that forward kinematics had answered before.
        T = self._orientation.copy()
        T[:3, 3] = position
        return target.inverse_kinematics(T, jp)

    def run(self, seconds: float) -> None:
        """Lets time pass."""
        for _ in range(max(1, round(seconds * 1e9 / PERIOD_NS))):
            self.now_ns += PERIOD_NS
            self.system.step(self.now_ns)

    def _finish(self, block: Block) -> None:
        """Waits for moves that had ended when the next command was sent."""
        last: dict[str, str] = {}
        for entry in block.entries:
            if entry.kind == "even" and entry.name.endswith("/operating_state"):
                last[entry.name.split("/")[0]] = entry.content
        for name, state in last.items():
            arm = self.system.arms.get(name)
            for _ in range(1200):
                if arm is None or state.endswith("busy=1") or not arm.operating_state.is_busy:
                    break
                self.run(PERIOD_NS * 1e-9)

    def events(self) -> dict[str, list[str]]:
        """The events since the last call, as texts by topic."""
        told: dict[str, list[str]] = defaultdict(list)
        for name, arm in self.system.arms.items():
            for event in arm.take_events():
                told[f"{name}/{event.topic}"].append(event_text(event))
        for name, suj in self.system.sujs.items():
            for event in suj.take_events():
                told[f"SUJ/{name}/{event.topic}"].append(event_text(event))
        return told

    def _remember(self, block: Block) -> None:
        for entry in block.entries:
            if entry.kind == "snap" and entry.name.endswith("_cp"):
                self._quaternions.append(numbers(entry.content.split("] [")[-1]))

    def _later(self, x: float) -> list[float]:
        """The first orientation of the session that begins with x."""
        for entry in self.entries:
            if entry.kind == "snap" and entry.name.endswith("_cp"):
                quaternion = numbers(entry.content.split("] [")[-1])
                if abs(quaternion[0] - x) < 2e-5:
                    return quaternion
        raise AssertionError(f"no orientation with x = {x}")

    def _pose(self, text: str) -> np.ndarray:
        """The pose of a command; the log cuts it, but clients sent orientations they had read."""
        found = dict(
            re.findall(rf'"([xyzw])": ({_NUMBER})(?=[,}}])', text.split("orientation")[1])
        )
        head = text.split("orientation")[0]
        position = [float(v) for _, v in re.findall(rf'"([xyz])": ({_NUMBER})', head)]
        if set(found) != set("xyzw"):
            x = float(found["x"])
            scale = 2.0 if x > 1.0 else 1.0
            near = [q for q in self._quaternions if abs(q[0] - x / scale) < 2e-5]
            known = near[-1] if near else self._later(x / scale)
            found = dict(zip("xyzw", known, strict=True))
        return matrix(position, [float(found[k]) for k in "xyzw"])

    def send(self, entry: Entry) -> None:
        """Sends one command."""
        owner, _, topic = entry.name.partition("/")
        system = self.system
        if owner == "system":
            getattr(system, topic)()
            return
        if entry.name == "SUJ/set_reference_arm":
            system.set_reference_arm(json.loads(entry.content)["data"])
            return
        if owner == "SUJ":
            name, _, topic = topic.partition("/")
            target: Any = system.sujs[name]
        else:
            target = system.arms[owner]
        method = target.commands[topic]
        if topic.endswith("_cp"):
            method(self._pose(entry.content))
        elif topic == "set_base_frame":
            values = json.loads(entry.content)["pose"]
            position = [values["position"][k] for k in "xyz"]
            quaternion = [values["orientation"][k] for k in "xyzw"]
            frame = "" if entry.step.startswith("a5") else "myframe"
            method(matrix(position, quaternion), frame)
        elif topic.endswith("servo_cf"):
            method([0.0] * 6)
        else:
            method(*json.loads(entry.content).values())


class Robot:
    """One simulated system, its clock, and what its first arm has said."""

    def __init__(self, *specs: ArmSpec, options: SystemOptions | None = None) -> None:
        self.system = SimulatedSystem(specs, options)
        self.arm: Any = self.system.arms[specs[0].name]
        self.now_ns = 0

    def run(self, seconds: float, period_s: float = PERIOD_NS * 1e-9) -> None:
        """Lets time pass."""
        for _ in range(max(1, round(seconds / period_s))):
            self.now_ns += round(period_s * 1e9)
            self.system.step(self.now_ns)

    def home(self) -> Robot:
        """Enables and homes all arms, and forgets what they said."""
        self.system.power_on()
        self.run(0.1)
        self.system.home()
        self.run(4.0)
        self.arm.take_events()
        return self

    def told(self, topic: str | None = None) -> list[Any]:
        """What the arm has said since the last call, on one topic or on all."""
        events = self.arm.take_events()
        if topic is None:
            return [(event.topic, event_text(event)) for event in events]
        return [event_text(event) for event in events if event.topic == topic]

    def do(self, command: str, *arguments: Any, seconds: float = 0.05) -> list[Any]:
        """Sends a command, lets time pass, and tells what the arm said."""
        self.arm.take_events()
        getattr(self.arm, command)(*arguments)
        self.run(seconds)
        return self.told()

    def texts(self, topic: str, command: str, *arguments: Any, seconds: float = 0.05) -> list[str]:
        """Sends a command and tells what the arm said on one topic."""
        return [
            text for name, text in self.do(command, *arguments, seconds=seconds) if name == topic
        ]


@pytest.fixture
def robot() -> Callable[..., Robot]:
    """Makes a system from specs."""
    return Robot


@pytest.fixture
def psm() -> Robot:
    """PSM1, homed at 0, 0, 0.12, 0, 0, 0."""
    return Robot(ArmSpec("PSM1")).home()


@pytest.fixture
def ecm() -> Robot:
    """ECM, homed at 0, 0, 0.12, 0."""
    return Robot(ArmSpec("ECM")).home()


@lru_cache(maxsize=8)
def played(session: str) -> tuple[Answered, ...]:
    """A session played to a freshly made system, once for all tests."""
    arm = {"s4": "ECM"}.get(session, "PSM1")
    names = ("PSM1", "PSM2", "PSM3", "ECM") if session == "s5" else (arm,)
    # The sessions were recorded from the dVRK's own simulation, whose joints jump.
    options = SystemOptions(with_suj=session == "s5", reset_joints_on_enable=True)
    system = SimulatedSystem([ArmSpec(name) for name in names], options)
    return tuple(Replay(system, read_session(session, arm)).play())


@pytest.fixture(name="played")
def _played() -> Callable[[str], tuple[Answered, ...]]:
    return played


@pytest.fixture(name="truth_texts")
def _truth_texts() -> dict[str, list[str]]:
    """Every error, warning and status text that was recorded."""
    texts: dict[str, list[str]] = json.loads((TRUTH / "texts.json").read_text(encoding="utf-8"))
    return texts


@pytest.fixture(name="numbers")
def _numbers() -> Callable[[str], list[float]]:
    return numbers


@pytest.fixture(name="expected_joints")
def _expected_joints() -> Callable[[str], JointReading]:
    return expected_joints


@pytest.fixture(name="expected_pose")
def _expected_pose() -> Callable[[str], PoseReading]:
    return expected_pose


def reading_of(system: SimulatedSystem, name: str) -> Any:
    """The reading behind a topic."""
    owner, _, topic = name.partition("/")
    if owner == "SUJ":
        arm, _, topic = topic.partition("/")
        return system.sujs[arm].readings[topic]()
    return system.arms[owner].readings[topic]()


def expected_joints(text: str) -> JointReading:
    """A JointState as the log writes it."""
    match = re.search(r"stamp=(\w+) .*name=(.*) P=\[(.*)\] V=\[(.*)\] E=\[(.*)\]", text)
    assert match, text
    lists = [np.array(numbers(match.group(k))) for k in (3, 4, 5)]
    return JointReading(tuple(match.group(2).split()), *lists, match.group(1) == "ok")


def expected_pose(text: str) -> PoseReading:
    """A PoseStamped as the log writes it."""
    match = re.search(r"stamp=(\w+) frame='(.*)' \[(.*)\] \[(.*)\]", text)
    assert match, text
    T = matrix(numbers(match.group(3)), numbers(match.group(4)))
    return PoseReading(T, match.group(2), match.group(1) == "ok")
