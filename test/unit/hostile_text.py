"""Random damage to files of text: what a slip, a bad disk or somebody hostile does to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

Edit = Callable[[bytes, Random], bytes]

LONG = 3_000
"""How deep and how long things are made: enough to end what recurses or is quadratic."""


def damage(text: bytes, rng: Random, edits: Sequence[Edit]) -> bytes:
    """Applies one to three edits, drawn at random."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        text = rng.choice(edits)(text, rng)
    return text


def _span(text: bytes, rng: Random, longest: int = 200) -> tuple[int, int]:
    start = rng.randrange(len(text) + 1)
    return start, min(len(text), start + rng.randrange(1, longest))


def flip(text: bytes, rng: Random) -> bytes:
    if not text:
        return text
    place = rng.randrange(len(text))
    return text[:place] + bytes([rng.randrange(256)]) + text[place + 1 :]


def delete(text: bytes, rng: Random) -> bytes:
    start, end = _span(text, rng)
    return text[:start] + text[end:]


def repeat(text: bytes, rng: Random) -> bytes:
    start, end = _span(text, rng)
    return text[:end] + text[start:end] * rng.choice((1, 2, 50)) + text[end:]


def cut_off(text: bytes, rng: Random) -> bytes:
    return text[: rng.randrange(len(text) + 1)]


def swap_lines(text: bytes, rng: Random) -> bytes:
    lines = text.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def double_line(text: bytes, rng: Random) -> bytes:
    lines = text.split(b"\n")
    i = rng.randrange(len(lines))
    return b"\n".join([*lines[: i + 1], *lines[i:]])


def odd_encoding(text: bytes, rng: Random) -> bytes:
    odd = (
        b"\xed\xa0\x80",
        b"\xff\xfe",
        b"\x00",
        b"\xc2\x85",
        b"\xe2\x80\xa8",
        b"\xe9",
        b"\x1b[2J",
    )
    kind = rng.randrange(len(odd) + 3)
    if kind < len(odd):
        place = rng.randrange(len(text) + 1)
        return text[:place] + odd[kind] + text[place:]
    plain = text.decode("utf-8", "replace")
    return plain.encode(("utf-16", "utf-8-sig", "utf-32")[kind - len(odd)])


ANY_TEXT: tuple[Edit, ...] = (
    flip,
    delete,
    repeat,
    cut_off,
    swap_lines,
    double_line,
    odd_encoding,
)


def replace_match(pattern: bytes, values: Sequence[bytes]) -> Edit:
    """An edit that puts one of some values where a pattern's first group matches."""
    compiled = re.compile(pattern)

    def edit(text: bytes, rng: Random) -> bytes:
        found = list(compiled.finditer(text))
        if not found:
            return text
        match = rng.choice(found)
        return text[: match.start(1)] + rng.choice(values) + text[match.end(1) :]

    return edit


HOSTILE_SCALARS = (
    *(b"2001-01-01", b"2001-99-99", b"2001-12-14t21:59:43.10-05:00", b"12:30:45", b"1:1:1.5"),
    *(b"!!int abc", b"!!float x", b"!!bool maybe", b"!!null x", b"!!int ''", b"!!timestamp x"),
    *(b"!!binary x", b"!!set {a}", b"!!omap [a: 1]", b"!!python/object/apply:os.getcwd []"),
    *(
        b"9" * 400,
        b"-" + b"9" * 5000,
        b"0x" + b"f" * LONG,
        b"1." + b"1" * 500,
        b"0b1" + b"0" * 900,
    ),
    *(
        b".inf",
        b"-.inf",
        b".nan",
        b"1.0e+308",
        b"-1.0e+308",
        b"1.0e+200",
        b"5.0e-324",
        b"0",
        b"-1",
    ),
    *(
        b"1e-7",
        b"true",
        b"null",
        b"~",
        b"",
        b"{}",
        b"[]",
        b"[[]]",
        b"text",
        b"'",
        b'"',
        b"<<",
        b"=",
    ),
    *(b'"\\ud800"', b'"\\0"', b"|", b">", b"&a [*a]", b"&a {a: *a}", b"*nobody", b"&b 1.0", b"*b"),
    *(b"[1.0, 2.0]", b"{x: 1.0}", b"? [a] : b", b"!", b"!x y", b"%", b"@", b"`", b"\t"),
    *(b"standard", b"modified", b"revolute", b"fixed", b"base", b"tip", b"Si", b"Classic", b"yaw"),
)

LAUGHS = b"".join(
    b"l%d: &l%d [%s]\n" % (i, i, b", ".join([b"*l%d" % (i - 1)] * 9 if i else [b"1.0"] * 9))
    for i in range(30)
)
MERGES = b"m0: &m0 {a: 1}\n" + b"".join(
    b"m%d: &m%d {<<: [*m%d, *m%d], k%d: 1}\n" % (i, i, i - 1, i - 1, i) for i in range(1, 60)
)


def deep_yaml(text: bytes, rng: Random) -> bytes:
    place = rng.randrange(len(text) + 1)
    opened = rng.choice((b"[", b"{a: ", b"- ", b"? ", b"[", b"{"))
    return text[:place] + opened * rng.choice((60, 200, 30_000)) + text[place:]


def bomb(text: bytes, rng: Random) -> bytes:
    return rng.choice((LAUGHS + text, text + b"\n" + LAUGHS, MERGES + text, LAUGHS))


def tag_line(text: bytes, rng: Random) -> bytes:
    tag = rng.choice((b"!!set", b"!!omap", b"!!pairs", b"!!str", b"!!map", b"!!seq", b"!x", b"&a"))
    return replace_match(rb": ()", [tag + b" "])(text, rng)


YAML: tuple[Edit, ...] = (
    *ANY_TEXT,
    *[replace_match(rb"[:\[,]\s+([^\s,{}\[\]]+)", HOSTILE_SCALARS)] * 6,
    replace_match(
        rb"([a-z_0-9]+):", (b"name", b"<<", b"1", b"[a]", b"", b"*a", b"2001-01-01", b"~")
    ),
    replace_match(
        rb"(\{[^{}]*\})", (b"{}", b"[]", b"1.0", b"x", b"{<<: 1}", b"{<<: [1]}", b"null")
    ),
    replace_match(rb"(\[[^\[\]]*\])", (b"{}", b"[]", b"1.0", b"[x]", b"[[1.0]]", b"[1.0]")),
    deep_yaml,
    bomb,
    tag_line,
)

HOSTILE_NUMBERS = (
    *(b"nan", b"inf", b"-inf", b"1e308", b"-1e308", b"1e200", b"5e-324", b"9" * 5000, b"x", b""),
    *(b"0", b"-1", b"1 2", b"1 2 3", b"1 2 3 4", b"0 0 0", b"1e999", b"1_0", b"0x1", b"\xd9\xa1"),
    *(b"&#xD800;", b"&#0;", b"&lol;", b"&amp;", b"<", b"${1/0}", b"None", b" ", b"1;2", b"1,2,3"),
)

URDF_HEADS = (
    b'<!DOCTYPE r [<!ENTITY lol "x">]>',
    b'<!DOCTYPE r [<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;]>',
    b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
    b'<!DOCTYPE r SYSTEM "http://127.0.0.1:9/x.dtd">',
    b"<!-- " + b"x" * 200_000 + b" -->",
    b"<?pi " + b"y" * LONG + b"?>",
    b'<?xml version="1.0" encoding="klingon"?>',
    b'<?xml version="1.0" encoding="utf-16"?>',
    b'<?xml version="1.1"?>',
)


def head(text: bytes, rng: Random) -> bytes:
    start = text.find(b"<robot")
    before = rng.choice((b"", text[: max(start, 0)]))
    return rng.choice(URDF_HEADS) + before + text[max(start, 0) :]


def deep_xml(text: bytes, rng: Random) -> bytes:
    depth = rng.choice((50, 300, 30_000))
    ends = [match.start() for match in re.finditer(rb"</", text)] or [0]
    place = rng.choice(ends)
    return text[:place] + b"<x>" * depth + b"</x>" * depth + text[place:]


def drop_element(text: bytes, rng: Random) -> bytes:
    return replace_match(rb"(<[a-z_]+[^<>]*/>)", (b"", b"<x/>", b"text", b"<!-- -->", b"<?x?>"))(
        text, rng
    )


def swap_values(text: bytes, rng: Random) -> bytes:
    found = re.findall(rb'"([^"<>]*)"', text) or [b""]
    return replace_match(rb'"([^"<>]*)"', [rng.choice(found)])(text, rng)


URDF: tuple[Edit, ...] = (
    *ANY_TEXT,
    *[replace_match(rb'"([^"<>]*)"', HOSTILE_NUMBERS)] * 4,
    *[replace_match(rb'="(-?[0-9.][^"<>]*)"', HOSTILE_NUMBERS)] * 4,
    *[swap_values] * 2,
    *[drop_element] * 2,
    replace_match(
        rb"<([a-z_]+)", (b"joint", b"link", b"limit", b"mimic", b"x", b"box", b"xacro:if")
    ),
    replace_match(rb' ([a-z]+)="', (b"name", b"link", b"xyz", b"x", b"xmlns", b"xmlns:a", b"a:b")),
    head,
    deep_xml,
)
