"""One pass over a block of scores on CUDA: how many of a row are greater than, and how many equal, each of some."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

SEVERAL, TILE, CHUNK = 16, 256, 1 << 14


@triton.jit
def _count(  # type: ignore[no-untyped-def]
    scores, wanted, greater, equal, width, stride, each, padded: tl.constexpr, tile: tl.constexpr, chunk: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    first = tl.program_id(1) * chunk
    at = tl.arange(0, padded)
    own = tl.load(wanted + row * each + at, mask=at < each, other=0.0).to(tl.float32)[:, None]
    more = tl.zeros([padded, tile], tl.int32)
    same = tl.zeros([padded, tile], tl.int32)
    for begin in range(0, chunk, tile):
        column = first + begin + tl.arange(0, tile)
        inside = column < width
        score = tl.load(scores + row * stride + column, mask=inside, other=0.0).to(tl.float32)
        more += ((score[None, :] > own) & inside[None, :]).to(tl.int32)
        same += ((score[None, :] == own) & inside[None, :]).to(tl.int32)
    tl.atomic_add(greater + row * each + at, tl.sum(more, 1), mask=at < each)
    tl.atomic_add(equal + row * each + at, tl.sum(same, 1), mask=at < each)


def count(block: Any, wanted: Any) -> tuple[Any, Any]:
    """Return for each row and each score wanted of it how many scores are greater, and how many equal."""
    block = block if block.stride(1) == 1 else block.contiguous()
    (rows, width), each = block.shape, wanted.shape[1]
    greater, equal = torch.zeros((2, rows, each), dtype=torch.int32, device=block.device)
    for begin in range(0, each, SEVERAL):
        part = wanted[:, begin : begin + SEVERAL].contiguous()
        more, same = torch.zeros((2, *part.shape), dtype=torch.int32, device=block.device)
        size = max(2, triton.next_power_of_2(part.shape[1]))
        grid = rows, triton.cdiv(width, CHUNK)
        _count[grid](block, part, more, same, width, block.stride(0), part.shape[1], size, TILE, CHUNK)
        greater[:, begin : begin + SEVERAL], equal[:, begin : begin + SEVERAL] = more, same
    return greater, equal
