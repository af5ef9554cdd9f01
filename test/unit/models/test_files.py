from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dvrk_kinematics.errors import ModelError
from dvrk_kinematics.models import model_files as files

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
from dvrk_kinematics.models.model_files import find_models_dir
from dvrk_kinematics.models.load_model import load_model
load_model("PSM")
print(find_models_dir())
"""


def _run(package_parent: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if k not in ("AMENT_PREFIX_PATH", "PYTHONPATH")}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**clean, "PYTHONPATH": str(package_parent), **environment},
        cwd=package_parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _install(prefix: Path, package_parent: Path) -> Path:
    ignore = shutil.ignore_patterns("__pycache__", "ros")
    shutil.copytree(ROOT / "dvrk_kinematics", package_parent / "dvrk_kinematics", ignore=ignore)
    share = prefix / "share" / "dvrk_kinematics" / "config" / "models"
    shutil.copytree(files.find_models_dir(), share)
    return share


def test_models_are_found_in_an_installed_prefix(tmp_path: Path) -> None:
    site = tmp_path / "install" / "lib" / "python3.12" / "site-packages"
    share = _install(tmp_path / "install", site)
    answer = _run(site, {})
    assert answer.stdout.strip() == str(share), answer.stderr


def test_models_are_found_through_the_ament_prefix_path(tmp_path: Path) -> None:
    share = _install(tmp_path / "overlay", tmp_path / "elsewhere" / "python")
    path = os.pathsep.join(["/nowhere", str(tmp_path / "overlay")])
    answer = _run(tmp_path / "elsewhere" / "python", {"AMENT_PREFIX_PATH": path})
    assert answer.stdout.strip() == str(share), answer.stderr


def test_models_that_are_nowhere_are_missed_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(files, "_candidates", lambda: iter([tmp_path / "a", tmp_path / "b"]))
    files.find_models_dir.cache_clear()
    try:
        with pytest.raises(ModelError, match=r"looked in .*a, .*b"):
            files.find_models_dir()
    finally:
        files.find_models_dir.cache_clear()
