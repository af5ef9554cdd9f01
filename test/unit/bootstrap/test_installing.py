"""The environment with a real venv and a real pip, on a package of a few bytes and no network."""

from __future__ import annotations

import platform
import subprocess
import zipfile
from pathlib import Path

import pytest

from bootstrap import environment
from bootstrap.clone import WHEELS, Clone
from bootstrap.environment import ensure_venv
from bootstrap.problems import Problem

pytestmark = pytest.mark.skipif(platform.system() != "Linux", reason="made for Linux")


def make_wheel(folder: Path, version: str) -> None:
    """Write a wheel of the package leaflet, which knows its version and nothing else."""
    info = f"leaflet-{version}.dist-info"
    with zipfile.ZipFile(folder / f"leaflet-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("leaflet.py", f"VERSION = {version!r}\n")
        wheel.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: leaflet\nVersion: {version}\n"
        )
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clone:
    """A clone whose only requirement is leaflet, beside an index of two of its versions."""
    clone = Clone(tmp_path / "clone", WHEELS)
    for purpose in (*environment.BASE_PURPOSES, "extra"):
        clone.requirements(purpose).parent.mkdir(parents=True, exist_ok=True)
        clone.requirements(purpose).touch()
    clone.requirements("core").write_text("leaflet==1.0\n")
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for version in ("1.0", "2.0"):
        make_wheel(wheels, version)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_USER", "1")
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(environment, "check_machine", lambda _: None)
    return clone


def installed_version(python: Path, clone: Clone) -> str:
    command = [str(python), "-c", "import leaflet; print(leaflet.VERSION)"]
    environ = {"PYTHONPYCACHEPREFIX": str(clone.bytecode)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
    return run.stdout.strip()


def test_an_environment_is_made_changed_and_distrusted_after_a_failure(
    clone: Clone, tmp_path: Path
) -> None:
    python = ensure_venv(clone)
    assert installed_version(python, clone) == "1.0"
    assert not (tmp_path / "elsewhere").exists()

    clone.requirements("core").write_text("leaflet==2.0\n")
    ensure_venv(clone)
    assert installed_version(python, clone) == "2.0"

    # An installation that fails leaves nothing that the next start would trust.
    clone.requirements("extra").write_text("leaflet-of-another-name==1.0\n")
    with pytest.raises(Problem, match=r"^cannot install extra; the whole log is .*-extra\.log"):
        ensure_venv(clone, ["extra"])
    assert not (clone.venv / "dvrk-stamp.json").exists()
