"""The log of a failed step becomes a sentence, with the cause where it is a known one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap import problems
from bootstrap.problems import explain_full_disk, explain_log

RETRY = "WARNING: Retrying after connection broken by 'NewConnectionError(...)': /simple/lark/"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "install.log"


@pytest.mark.parametrize(
    "line",
    [
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
        "fatal error: error writing to /tmp/ccX.s: No space left on device",
        "OSError: [Errno 122] Disk quota exceeded: '/home/user/clone/.venv'",
    ],
)
def test_a_full_disk_is_named_and_the_places_to_look(log: Path, line: str) -> None:
    log.write_text(f"Collecting numpy\n{line}\n" + "more output\n" * 100)
    told = explain_log("install core", log)
    assert told.startswith("cannot install core: the disk is full (")
    assert "free about 1.5 GB and start again" in told
    assert told.endswith(f"(log: {log})")
    assert "\n" not in told


def test_a_disk_too_full_for_the_log_itself_is_named(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_text("")
    monkeypatch.setattr(problems, "_is_full", lambda _: True)
    assert "the disk is full" in explain_log("install core", log)


@pytest.mark.parametrize(
    "line",
    [
        RETRY,
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "ProxyError('Cannot connect to proxy.', OSError('Tunnel connection failed'))",
        "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool",
    ],
)
def test_a_missing_network_is_named(log: Path, line: str) -> None:
    log.write_text(f"{line}\nERROR: No matching distribution found for lark==1.3.1\n")
    told = explain_log("install ros", log)
    assert told.startswith("cannot install ros: the package index is out of reach; connect to")
    assert told.endswith(f"(log: {log})")
    assert "\n" not in told


def test_a_network_that_came_back_is_not_blamed(log: Path) -> None:
    log.write_text(f"{RETRY}\n" + "Collecting more\n" * 50 + "error: subprocess failed\n")
    assert "out of reach" not in explain_log("install ros", log)


def test_an_unknown_cause_names_the_log_and_shows_its_end(log: Path) -> None:
    log.write_text("".join(f"line {i}\n\n" for i in range(100)) + "error: no such thing\n")
    first, *shown = explain_log("build tf2_msgs", log).splitlines()
    assert first == f"cannot build tf2_msgs; the whole log is {log}"
    assert shown[-1] == "  | error: no such thing"
    assert len(shown) == 12


def test_a_log_that_is_absent_or_no_text_is_named_all_the_same(log: Path) -> None:
    assert str(log) in explain_log("build tf2_msgs", log)
    log.write_bytes(b"\xff\xfe\x00broken\n")
    assert str(log) in explain_log("build tf2_msgs", log)


def test_the_space_in_clone_and_temporary_folder_is_told(tmp_path: Path) -> None:
    assert "GB free in the clone" in explain_full_disk(tmp_path)
