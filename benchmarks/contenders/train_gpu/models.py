"""The models that are trained on a GPU, their data, and how a step is timed: the same for all contenders."""

from __future__ import annotations

import itertools
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
import torch.nn.functional as F  # noqa: N812  # torch's own name
from torch import Tensor, nn

DEVICE = torch.device("cuda")
WARM, TIMED = 6, 20


class Block(nn.Module):  # type: ignore[misc]
    """Attention and two linear layers, each after a norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.ask, self.give = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, rows: Tensor) -> Tensor:
        many, length, width = rows.shape
        asked = self.ask(self.before(rows)).view(many, length, 3, self.heads, width // self.heads)
        query, key, value = (part.transpose(1, 2) for part in asked.unbind(2))
        seen = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        rows = rows + self.give(seen.transpose(1, 2).reshape(many, length, width))
        return rows + self.down(F.gelu(self.up(self.after(rows))))


class Gpt(nn.Module):  # type: ignore[misc]
    """A language model of 136 million parameters."""

    def __init__(self, words: int = 32_768, length: int = 512, width: int = 768, layers: int = 12) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, 12) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        return self.head(self.norm(self.blocks(self.words(tokens) + self.places(places))))


class Unit(nn.Module):  # type: ignore[misc]
    """A residual unit of a wide network, with group normalisation."""

    def __init__(self, wide: int, out: int, stride: int) -> None:
        super().__init__()
        self.first, self.second = nn.GroupNorm(16, wide), nn.GroupNorm(16, out)
        self.one = nn.Conv2d(wide, out, 3, stride, 1, bias=False)
        self.two = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(wide, out, 1, stride, bias=False) if stride > 1 or wide != out else None

    def forward(self, rows: Tensor) -> Tensor:
        ready = F.relu(self.first(rows))
        beside = rows if self.short is None else self.short(ready)
        return beside + self.two(F.relu(self.second(self.one(ready))))


class Wide(nn.Module):  # type: ignore[misc]
    """WRN-16-4 for pictures of 32 × 32."""

    def __init__(self) -> None:
        super().__init__()
        sizes, units = (16, 64, 128, 256), []
        for group, (wide, out) in enumerate(itertools.pairwise(sizes)):
            units += [Unit(wide, out, 1 if group == 0 else 2), Unit(out, out, 1)]
        self.begin = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.units, self.norm, self.head = nn.Sequential(*units), nn.GroupNorm(16, 256), nn.Linear(256, 10)

    def forward(self, rows: Tensor) -> Tensor:
        made = F.relu(self.norm(self.units(self.begin(rows))))
        return self.head(made.mean(dim=(2, 3)))


@final
@dataclass(frozen=True)
class Task:
    """A model to train: how it is made, its rows, how large a batch is, and how a step runs."""

    name: str
    make: Callable[[], nn.Module]
    batch: int
    rows: int
    half: bool

    def model(self) -> nn.Module:
        """The model, the same every time, on the GPU."""
        torch.manual_seed(0)
        return self.make().to(DEVICE)

    def data(self) -> tuple[Tensor, Tensor]:
        """Made-up rows: texts of tokens and what comes next, or pictures and labels."""
        torch.manual_seed(1)
        if self.name == "gpt":
            tokens = torch.randint(0, 32_768, (self.rows, 513), device=DEVICE)
            return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        pictures = torch.randn(self.rows, 3, 32, 32, device=DEVICE)
        return pictures, torch.randint(0, 10, (self.rows,), device=DEVICE)

    def losses(self, given: Tensor, labels: Tensor) -> Tensor:
        """The loss of each row."""
        if self.name == "gpt":
            return F.cross_entropy(given.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels).mean(dim=1)
        return F.cross_entropy(given, labels, reduction="none")

    def context(self) -> Any:
        """The precision that a forward pass runs at."""
        return torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.half)


TASKS = (Task("gpt", Gpt, 32, 512, half=True), Task("wrn", Wide, 1024, 8192, half=False))


def fast() -> None:
    """Lets matrices of single precision be multiplied as TF32, as users of such a GPU have it."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True


def time_steps(task: Task, way: str, step: Callable[[], None]) -> None:
    """Times steps, and prints milliseconds for the median one and gibibytes at most."""
    try:
        for _ in range(WARM):
            step()
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        times = []
        for _ in range(TIMED):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            step()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end))
        most = torch.cuda.max_memory_allocated() / 2**30
        facts = {"kind": "step", "case": task.name, "way": way, "ms": statistics.median(times), "gib": most}
    except torch.OutOfMemoryError:
        facts = {"kind": "step", "case": task.name, "way": way, "ms": None, "gib": None}
    print(json.dumps(facts), flush=True)
