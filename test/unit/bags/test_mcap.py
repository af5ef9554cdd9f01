"""MCAP files: whole ones as another library reads them, and what is left of others."""

from __future__ import annotations

import random
from pathlib import Path
from zlib import crc32

import lz4.frame
import pytest
from mcap_parts import (
    START_NS,
    channel_records,
    chunk_record,
    file_limit,
    message_record,
    read_numbers,
    whole_file,
    write_numbers,
)
from rosbags.rosbag2 import Reader
from rosbags.rosbag2.storage_mcap import zstd

from dvrk_kinematics.bags.mcap_reader import McapReader
from dvrk_kinematics.bags.mcap_writer import McapWriter
from dvrk_kinematics.errors import BagError


def test_another_library_reads_what_we_write(tmp_path: Path) -> None:
    file = tmp_path / "whole.mcap"
    assert write_numbers(file, 5000) == 5000
    with Reader(file) as reader:
        assert reader.message_count == 5000
        assert (reader.start_time, reader.end_time - 1) == (START_NS, START_NS + 4999 * 1000)
        (connection,) = reader.connections
        assert (connection.topic, connection.msgdef.data) == ("/numbers", "string data\n")
        theirs = [(time_ns, bytes(data)) for _, time_ns, data in reader.messages()]
    ours = McapReader(file)
    assert list(ours.messages(ours.topics[0])) == theirs
    assert (ours.is_closed, ours.damages) == (True, [])


def test_a_file_without_messages_is_whole(tmp_path: Path) -> None:
    McapWriter(tmp_path / "empty.mcap").close("test", dict)
    with Reader(tmp_path / "empty.mcap") as reader:
        assert (reader.message_count, reader.connections) == (0, [])
    assert McapReader(tmp_path / "empty.mcap").topics == []


@pytest.mark.parametrize("limit", [1_100_000, 2_500_000, 3_170_000, 3_200_000, 3_300_000])
def test_a_file_that_may_not_grow_is_closed_with_what_fits(tmp_path: Path, limit: int) -> None:
    file = tmp_path / "full.mcap"
    with file_limit(limit):
        accepted = write_numbers(file, 5000)
    numbers, reader = read_numbers(file)
    assert accepted < 5000 and file.stat().st_size <= limit
    assert numbers == list(range(len(numbers)))
    # Two chunks at most make way: the one that did not fit, and one for the summary.
    assert len(numbers) > accepted - 2 * 1050
    assert (reader.is_closed, reader.damages) == (True, [])
    with Reader(file) as other:
        assert other.message_count == len(numbers)
        assert len(list(other.messages())) == len(numbers)


def test_a_file_without_room_even_for_its_end_says_so(tmp_path: Path) -> None:
    with file_limit(100), pytest.raises(OSError, match="too large"):
        write_numbers(tmp_path / "full.mcap", 10)


def test_a_slow_topic_is_in_the_file_after_two_seconds(tmp_path: Path) -> None:
    writer = McapWriter(tmp_path / "slow.mcap")
    channel = writer.add_channel("/slow", "std_msgs/msg/String", "string data\n", {})
    for number in range(5):
        writer.write(channel, START_NS + number * 1_000_000_000, b"12345678")
    # Not closed, as after a kill.
    numbers, reader = read_numbers(tmp_path / "slow.mcap")
    assert len(numbers) == 4 and not reader.is_closed


def test_wherever_a_file_is_cut_off_its_whole_chunks_are_read(tmp_path: Path) -> None:
    file = tmp_path / "cut.mcap"
    write_numbers(file, 4000, size=600)
    data = file.read_bytes()
    pick = random.Random(14)
    for size in (*range(8, 60), *(pick.randrange(8, len(data)) for _ in range(100))):
        file.write_bytes(data[:size])
        numbers, reader = read_numbers(file)
        assert numbers == list(range(len(numbers)))
        # A chunk has 1 MiB; what is left is less than one, or the summary.
        assert 4000 - len(numbers) <= (len(data) - size) / 600 + 1760
        assert not reader.is_closed and not reader.damages


@pytest.mark.parametrize("packing", ["", "lz4", "zstd"])
@pytest.mark.parametrize("crc", [True, False])
def test_packed_chunks_are_read(tmp_path: Path, packing: str, crc: bool) -> None:
    content = channel_records() + b"".join(message_record(number) for number in range(9))
    pack = {"": bytes, "lz4": lz4.frame.compress, "zstd": zstd.compress}[packing]
    chunk = chunk_record(pack(content), packing, len(content), crc32(content) if crc else 0)
    (tmp_path / "a.mcap").write_bytes(whole_file(chunk))
    numbers, reader = read_numbers(tmp_path / "a.mcap")
    assert numbers == list(range(9)) and not reader.damages


def test_a_packed_chunk_that_would_fill_the_memory_is_left_out(tmp_path: Path) -> None:
    bomb = zstd.compress(bytes(2**28))
    honest = chunk_record(bomb, "zstd", 2**40)
    lying = chunk_record(bomb, "zstd", 1000)
    good = channel_records() + message_record(7)
    (tmp_path / "a.mcap").write_bytes(
        whole_file(honest + lying + chunk_record(good, "", len(good)))
    )
    numbers, reader = read_numbers(tmp_path / "a.mcap")
    assert numbers == [7]
    assert "allowed are 268435456" in reader.damages[0]
    assert "is to have 1000 bytes when unpacked, and does not" in reader.damages[1]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (message_record(1, channel=5), "of channel 5, which was not announced"),
        (message_record(1, time_ns=2**63), "arrived at 9223372036854775808 ns"),
        (b"\x05" + (3).to_bytes(8, "little") + b"abc", "a message is too short"),
        (b"\x05" + (2**62).to_bytes(8, "little"), "its length is wrong"),
        (b"\x03" + (6).to_bytes(8, "little") + b"\x01\x00\xff\xff\xff\xff", "a text is cut off"),
        (bytes(20), "there is no record at byte"),
    ],
)
def test_a_damaged_record_is_told_and_what_was_before_is_read(
    tmp_path: Path, record: bytes, words: str
) -> None:
    good = channel_records() + message_record(7)
    chunk = chunk_record(good + record, "", len(good + record))
    for data in (good + record, chunk):
        (tmp_path / "a.mcap").write_bytes(whole_file(data))
        numbers, reader = read_numbers(tmp_path / "a.mcap")
        assert numbers == [7]
        (damage,) = reader.damages
        assert words in damage


def test_of_a_chunk_with_a_wrong_checksum_only_what_others_need_is_read(tmp_path: Path) -> None:
    first = channel_records() + message_record(1)
    second = message_record(2)
    wrong = chunk_record(first, "", len(first), crc=1)
    right = chunk_record(second, "", len(second), crc=crc32(second))
    (tmp_path / "a.mcap").write_bytes(whole_file(wrong + right))
    numbers, reader = read_numbers(tmp_path / "a.mcap")
    assert numbers == [2]
    assert "its checksum is wrong" in reader.damages[0]


def test_what_is_no_mcap_file_is_said(tmp_path: Path) -> None:
    for data in (b"", b"no mcap", b"\x89MCAP"):
        (tmp_path / "a.mcap").write_bytes(data)
        with pytest.raises(BagError, match="does not begin as an MCAP file does"):
            McapReader(tmp_path / "a.mcap")
