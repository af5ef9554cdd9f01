"""A stamp is all or nothing, and anything else is distrusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap.stamps import digest_files, read_stamp, remove_stamp, write_stamp


def test_a_written_stamp_is_read_back(tmp_path: Path) -> None:
    write_stamp(tmp_path, {"made": "of this"})
    assert read_stamp(tmp_path) == {"made": "of this"}


def test_a_folder_without_a_stamp_is_distrusted(tmp_path: Path) -> None:
    assert read_stamp(tmp_path) == {}
    assert read_stamp(tmp_path / "absent") == {}


@pytest.mark.parametrize("content", ["", '{"made": "of th', "[]", "\x00\x00", '"text"'])
def test_a_damaged_stamp_is_distrusted(tmp_path: Path, content: str) -> None:
    write_stamp(tmp_path, {"made": "of this"})
    (tmp_path / "dvrk-stamp.json").write_text(content)
    assert read_stamp(tmp_path) == {}


def test_a_draft_alone_is_no_stamp(tmp_path: Path) -> None:
    write_stamp(tmp_path, {"made": "of this"})
    stamp = tmp_path / "dvrk-stamp.json"
    stamp.rename(tmp_path / "dvrk-stamp.json.new")
    assert read_stamp(tmp_path) == {}


def test_a_removed_stamp_is_gone_and_may_be_removed_twice(tmp_path: Path) -> None:
    write_stamp(tmp_path, {"made": "of this"})
    remove_stamp(tmp_path)
    remove_stamp(tmp_path)
    assert read_stamp(tmp_path) == {}


def test_a_digest_depends_on_contents_and_names_and_not_on_the_place(tmp_path: Path) -> None:
    digests = []
    for place, name, content in (
        ("one", "a.msg", "int32 x"),
        ("two", "a.msg", "int32 x"),
        ("three", "b.msg", "int32 x"),
        ("four", "a.msg", "int64 x"),
    ):
        root = tmp_path / place
        root.mkdir()
        (root / name).write_text(content)
        digests.append(digest_files([root / name], root))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


def test_a_digest_does_not_depend_on_the_order(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a", "b")]
    for file in files:
        file.write_text(file.name)
    assert digest_files(files, tmp_path) == digest_files(reversed(files), tmp_path)
