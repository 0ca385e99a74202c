"""Damage to bytes: what crashed writers, odd tools and people who wish ill leave in files."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

TOKENS = (
    b"\x00", b"\x01", b"\x0b", b"\x0c", b"\x1b[31m", b"\x1c", b"\x1f", b"\x7f", b"\xff", b"\x85", b"\xc2\x85",
    b"\xc2\xa0",
    b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\\n", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\n", b"\n\n",
    b"\t", b" ", b"#", b"#\n", b",", b'"', b"'", b":", b"{", b"}", b"[", b"]", b"{}", b"[]", b"null", b"true", b"-",
    b"nan",
    b"inf", b"-inf", b"1e400", b"1e-400", b"1.9", b"0x10", b"1_0", b"1,5", b"1024", b"2000", b"1e308", b"-1", b"0",
    b"9223372036854775808", b"99999999999999999999", b"9" * 400, b"1" + b"0" * 5000, b'"a":1,', b'{"queries":1}', b"1,",
    b"query_id", b"doc_id", b"PAR1", b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd",
)  # fmt: skip


def _flip(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _random_byte(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _insert(rng: Random, data: bytes) -> bytes:
    at = rng.choice((0, len(data), rng.randrange(len(data)), _at_line(rng, data)))
    return data[:at] + rng.choice(TOKENS) + data[at:]


def _replace_token(rng: Random, data: bytes) -> bytes:
    """Something between two separators becomes something else."""
    ends = [at for at, byte in enumerate(data) if byte in b' \t\n,:"{}[]\r']
    if len(ends) < 2:
        return _insert(rng, data)
    which = rng.randrange(len(ends) - 1)
    return data[: ends[which] + 1] + rng.choice(TOKENS) + data[ends[which + 1] :]


def _delete(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 1, 2, 8, 64)) :]


def _truncate(rng: Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _repeat_line(rng: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))
    return b"".join(lines)


def _repeat_piece(rng: Random, data: bytes) -> bytes:
    begin = rng.randrange(len(data))
    end = begin + rng.randrange(1, 80)
    return data[:end] + data[begin:end] + data[end:]


def _swap_lines(rng: Random, data: bytes) -> bytes:
    lines = data.splitlines(keepends=True)
    rng.shuffle(lines)
    return b"".join(lines)


def _nest(rng: Random, data: bytes) -> bytes:
    """Brackets in brackets in brackets: few, or more than any parser's stack holds."""
    depth = rng.choice((3, 500, 20_000, 200_000))
    opened, closed = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")))
    at = rng.choice((0, 0, rng.randrange(len(data))))
    return data[:at] + opened * depth + (closed * depth if rng.random() < 0.5 else b"") + data[at:]


def _lengthen(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.choice((b"x", b"7", b"#", b" ", b"\xc3\xa9")) * rng.choice((300, 5000, 70_000)) + data[at:]


def _comment(rng: Random, data: bytes) -> bytes:
    at = _at_line(rng, data)
    return data[:at] + b"# " + b"a comment " * rng.choice((1, 10, 7000)) + b"\n" + data[at:]


def _carriage_returns(rng: Random, data: bytes) -> bytes:
    return data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\r", b"\x0b", b"\x1e\n")))


def _without_last_newline(_rng: Random, data: bytes) -> bytes:
    return data.rstrip(b"\n") or data


def _at_line(rng: Random, data: bytes) -> int:
    lines = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    return rng.choice(lines)


BIT_DAMAGE: tuple[Callable[[Random, bytes], bytes], ...] = (_flip, _random_byte, _delete, _truncate, _repeat_piece)
TEXT_DAMAGE = (
    *BIT_DAMAGE, _insert, _insert, _insert, _replace_token, _replace_token, _replace_token, _repeat_line, _swap_lines,
    _nest, _lengthen, _comment, _carriage_returns, _without_last_newline,
)  # fmt: skip


def damaged(rng: Random, data: bytes, *, text: bool = True) -> bytes:
    """The bytes after one to four accidents."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        if data:
            data = rng.choice(TEXT_DAMAGE if text else BIT_DAMAGE)(rng, data)
    return data
