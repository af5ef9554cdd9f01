"""Damaged files of models, recordings and figures: each is loaded, or refused by file and place.

``DVRK_CAMPAIGN=50`` makes the campaign fifty times as long.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
import yaml
from hostile_text import LAUGHS, MERGES, YAML, damage

from dvrk_kinematics import Arm, load_arm
from dvrk_kinematics.errors import InvalidInput, ModelError, UnknownName
from dvrk_kinematics.models import model_files as files
from dvrk_kinematics.models.load_model import instrument_names
from dvrk_kinematics.models.pid_tolerance import joint_pid_tolerance
from dvrk_kinematics.models.read_yaml import read_yaml
from dvrk_kinematics.motion.figures.figure import load_figure
from dvrk_kinematics.motion.programs.program_file import load_recording

MODELS = files.find_models_dir()
NAMES = sorted(path.name for path in MODELS.glob("*.yaml"))
INSTRUMENTS = [(made, name) for made in ("Classic", "Si") for name in instrument_names(made)]
Record = Callable[[str, object], None]
RECORDING = b"""name: lift
joint_names: [yaw, pitch, insertion, roll, wrist_pitch, wrist_yaw]
steps:
- move_abs_j: {jp: [0.1, 0.0, 0.12, 0.0, 0.2, 0.0], speed: 0.2, acceleration: 0.2}
- move_l: {frame: tool, pose: {translation: [0.0, 0.0, -0.02]}, blend_radius: 0.001}
- move_c: {pose: {translation: [0.0, 0.0, -0.02]}, via: [0.0, 0.01, 0.0]}
- move_j:
    pose: {translation: [0.0, 0.0, -0.1], rotation: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    frame: base
"""
FIGURE = b"name: house\ncorners: [[0.0, 0.0], [0.0, 0.04], [0.02, 0.06], [0.04, 0.04]]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A copy of the model files, of which nothing is remembered afterwards."""
    yield Path(shutil.copytree(MODELS, tmp_path / "models"))
    files.read_cached.cache_clear()


def _load(folder: Path, name: str, rng: Random) -> None:
    files.read_cached.cache_clear()
    if name != files.INSTRUMENTS_FILE:
        stem = Path(name).stem
        generation = "Si" if stem.endswith("_si") else "Classic"
        _use(load_arm(stem.removesuffix("_si"), generation=generation, folder=folder))
        return
    generation, wanted = rng.choice(INSTRUMENTS)
    try:
        _use(load_arm("PSM", wanted, generation, folder=folder))
    except (UnknownName, InvalidInput) as error:
        # Whoever names an instrument that a damaged file has no more is told so.
        raise ModelError(name, str(error)) from error


def _use(arm: Arm) -> None:
    """What is loaded can be used, however wild its numbers are."""
    joint_pid_tolerance(arm.model)
    q = 0.5 * (arm.limits.lower + arm.limits.upper)
    arm.frames(q)
    arm.jacobian(q)
    assert arm.forward(q).shape == (4, 4)


def _outcome(load: Callable[[], object], file: Path, seed: int) -> str:
    """Whether a file was loaded or refused; anything else fails with the seed that repeats it."""
    try:
        with np.errstate(all="ignore"):
            load()
    except ModelError as error:
        assert file.name in error.source, f"seed {seed}: {error}"
        assert error.reason, f"seed {seed}"
        return "refused"
    except BaseException as error:
        raise AssertionError(f"seed {seed}: {file.name}: {type(error).__name__}") from error
    return "loaded"


@pytest.mark.parametrize("name", NAMES)
def test_a_damaged_model_file_is_loaded_or_refused_by_file_and_place(
    name: str, folder: Path, campaign: Callable[[int], int], record_property: Record
) -> None:
    file, whole = folder / name, (MODELS / name).read_bytes()
    outcomes: Counter[str] = Counter()
    for seed in range(campaign(20)):
        rng = Random(f"{name} {seed}")
        file.write_bytes(damage(whole, rng, YAML))
        outcomes[_outcome(partial(_load, folder, name, rng), file, seed)] += 1
    record_property("outcomes", dict(outcomes))
    assert outcomes["refused"] > 0


@pytest.mark.parametrize(
    ("whole", "load"),
    [(RECORDING, load_recording), (FIGURE, load_figure)],
    ids=["recording", "figure"],
)
def test_a_damaged_motion_file_is_loaded_or_refused_by_file_and_place(
    whole: bytes,
    load: Callable[[Path], object],
    tmp_path: Path,
    campaign: Callable[[int], int],
    record_property: Record,
) -> None:
    file = tmp_path / "motion.yaml"
    outcomes: Counter[str] = Counter()
    for seed in range(campaign(60)):
        file.write_bytes(damage(whole, Random(f"motion {seed}"), YAML))
        outcomes[_outcome(partial(load, file), file, seed)] += 1
    record_property("outcomes", dict(outcomes))
    assert outcomes["refused"] > 0


REFUSED = {
    "nested 30 000 deep": (b"name: " + b"[" * 30_000, "line 1", "nested deeper than 64"),
    "blocks 30 000 deep": (b"- " * 30_000, "line 1", "nested deeper than 64"),
    "keys 30 000 deep": (b"? " * 30_000, "line 1", "must be text, not a list or a mapping"),
    "no integer": (b"name: x\nsize: !!int abc", "line 2", "'abc' is not a valid int"),
    "empty integer": (b"size: !!int ''", "line 1", "'' is not a valid int"),
    "no truth value": (b"flag: !!bool maybe", "line 1", "'maybe' is not a valid bool"),
    "a date by its tag": (b"day: !!timestamp 2001-99-99", "line 1", "tag .* is not supported"),
    "an object": (b"x: !!python/object/apply:os.getcwd []", "line 1", "tag .* is not supported"),
    "a set": (b"x: !!set {a, b}", "line 1", "tag .* is not supported"),
    "401 digits": (b"size: " + b"9" * 401, "line 1", "a number has 401 characters"),
    "a million digits": (b"size: " + b"9" * 1_000_000, "line 1", "a number has 1000000 char"),
    "a billion laughs": (LAUGHS, "line 6", "aliases repeat more than 100000 values"),
    "a billion merges": (MERGES, "line ", "aliases repeat more than 100000 values"),
    "a list in itself": (b"a: &a [*a]", "line 1", r"alias \*a stands inside of what it repeats"),
    "an alias of nothing": (b"a: *b", "line 1", "alias"),
    "a merge of a number": (b"a: {<<: 1}", "line 1", "<< needs a mapping"),
    "two merges": (b"a: &a {}\nb: {<<: *a, <<: *a}", "line 2", "key '<<' is given twice"),
    "a list for a key": (b"[a]: b", "line 1", "a key must be text"),
    "a key twice": (b"a: 1\nb: {c: 1,\n c: 2}", "line 3", "key 'c' is given twice"),
    "two documents": (b"a: 1\n---\nb: 1", "line 2", "second document"),
    "a null character": (b"a: \x00", "", "not valid YAML"),
    "not UTF-8": (b"a: \xff", "", "cannot be read"),
    "a list": (b"- a", "", "must be a mapping, is a list"),
    "a number for a key": (b"1: a", "", "key 1 must be text"),
    "nothing": (b"", "", "must be a mapping, is empty"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_hostile_file_is_refused_with_its_line(what: str, tmp_path: Path) -> None:
    text, place, reason = REFUSED[what]
    file = tmp_path / "hostile.yaml"
    file.write_bytes(text)
    with pytest.raises(ModelError, match=reason) as caught:
        read_yaml(file)
    assert "hostile.yaml" in caught.value.source and place in caught.value.source
    assert len(str(caught.value)) < 500, "a complaint can be read"


def test_a_file_nested_30_000_deep_does_not_end_the_process(tmp_path: Path) -> None:
    (tmp_path / "deep.yaml").write_text("name: " + "[" * 30_000)
    script = (
        "from dvrk_kinematics.motion.programs.program_file import load_recording\n"
        "from dvrk_kinematics.errors import ModelError\n"
        "try: load_recording('deep.yaml')\nexcept ModelError as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("deep.yaml: line 1: is nested deeper")


@pytest.mark.parametrize("value", [b"9" * 400, b"0x" + b"f" * 300, b"1.0e+999", b".nan"])
def test_a_number_that_no_float_holds_is_refused_by_its_key(value: bytes, tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    file.write_bytes(b"size: " + value)
    node = read_yaml(file)["size"]
    with pytest.raises(ModelError, match=r"large\.yaml: size: must be finite, is .{1,90}$"):
        node.number()


def test_dates_are_text(tmp_path: Path) -> None:
    file = tmp_path / "dates.yaml"
    file.write_text("a: 2001-01-01\nb: 2001-99-99\n2001-01-01: =\n")
    assert read_yaml(file).value == {"a": "2001-01-01", "b": "2001-99-99", "2001-01-01": "="}


def test_aliases_and_merges_read_as_yaml_means_them(tmp_path: Path) -> None:
    text = (
        "a: &a {x: 1, y: 2}\nb: &b {y: 3, z: 4}\n"
        "c: {<<: [*a, *b], w: *a, x: 5}\nd: {q: 0, <<: *b}\ne: [&n 1.5, *n]\n"
    )
    file = tmp_path / "merged.yaml"
    file.write_text(text)
    assert repr(read_yaml(file).value) == repr(yaml.safe_load(text)), "the order, too"


def test_a_path_that_is_none_is_refused() -> None:
    for name in ("nothing\0.yaml", "\ud800.yaml", "x" * 5000, ".", "/dev/zero"):
        with pytest.raises(ModelError, match="cannot be read"):
            read_yaml(Path(name))


def test_reading_takes_time_in_proportion_to_size(tmp_path: Path) -> None:
    """Processor time of a file ten times as long, with room for what machines do."""
    file = tmp_path / "long.yaml"

    def seconds(steps: int) -> float:
        steps_text = "- move_abs_j: {jp: [0.1, 0.0, 0.12, 0.0, 0.2, 0.0], speed: 0.2}\n" * steps
        names = "[yaw, pitch, insertion, roll, wrist_pitch, wrist_yaw]"
        file.write_text(f"name: long\njoint_names: {names}\nsteps:\n{steps_text}")
        before = time.process_time()
        assert len(load_recording(file).steps) == steps
        return time.process_time() - before

    assert min(seconds(3000) for _ in range(3)) < 30.0 * min(seconds(300) for _ in range(3))


def test_a_default_instrument_that_does_not_fit_is_refused_by_its_place(folder: Path) -> None:
    file = folder / "psm.yaml"
    text = file.read_text()
    for wrong, reason in (("NOBODY", "unknown instrument 'NOBODY'"), ("420006", "fits the Si")):
        file.write_text(
            text.replace(
                "default_instrument: LARGE_NEEDLE_DRIVER_400006", f"default_instrument: '{wrong}'"
            )
        )
        files.read_cached.cache_clear()
        with pytest.raises(ModelError, match=reason) as caught:
            load_arm("PSM", folder=folder)
        assert caught.value.source == "psm.yaml: default_instrument"


def test_a_solver_that_a_file_names_wrongly_is_refused_by_its_file(folder: Path) -> None:
    file = folder / "ecm.yaml"
    text = file.read_text()
    for wrong, reason in (("mcm", "unknown solver 'mcm'; valid: psm"), ("psm", "ik 'psm' needs")):
        file.write_text(text.replace("ik: ecm", f"ik: {wrong}"))
        files.read_cached.cache_clear()
        with pytest.raises(ModelError, match=reason) as caught:
            load_arm("ECM", folder=folder)
        assert caught.value.source.startswith("ecm.yaml: ")
    with pytest.raises(UnknownName, match="unknown solver 'mcm'"):
        load_arm("ECM", solver="mcm")


def test_a_coupling_that_cannot_be_inverted_is_refused(folder: Path) -> None:
    file = folder / "instruments.yaml"
    text = file.read_text()
    data = yaml.safe_load(text)
    data["couplings"]["standard"][3] = [0.0, 0.0, 0.0, 0.0]
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    with pytest.raises(ModelError, match=r"instruments\.yaml: couplings\.standard: .*inverted"):
        load_arm("PSM", folder=folder)


def test_instruments_may_be_like_each_other_a_thousand_times(folder: Path) -> None:
    file = folder / "instruments.yaml"
    chain = "".join(f"  X_{500000 + i}: {{like: X_{500001 + i}}}\n" for i in range(2000))
    file.write_text(file.read_text() + chain + "  X_502000: {like: cautery}\n")
    assert load_arm("PSM", "500000", folder=folder).model.joint_names[-1] == "wrist_yaw"
