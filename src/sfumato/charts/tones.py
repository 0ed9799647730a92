"""Pictures in tones, side by side: each is one image inside the chart, so that thousands of pixels cost nothing."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.charts.canvas import INK, MUTED, Chart, altair, finished, table, titled
from sfumato.errors import BadArgument

DARK, LIGHT = (38, 26, 20), (250, 238, 212)
"""The colours of tone 0 and tone 1: umber and old paper."""

ENLARGED = 3
"""Each pixel becomes so many along each side, so that no renderer smooths it."""

GAP, LINE = 14.0, 17.0
"""The space between pictures, and the height of a line of words; in pixels."""


@final
@dataclass(frozen=True)
class Captioned:
    """A picture, tones from 0 to 1 row by row (others are cut), with words below it."""

    tones: NDArray[np.float64]
    words: str = ""


def tone_gallery(
    first: Captioned,
    rows: Sequence[tuple[str, Sequence[Captioned]]],
    *,
    heads: Sequence[str],
    title: str,
    subtitle: Sequence[str] = (),
    width: float = 128,
) -> Chart:
    """Draws a picture, larger, and rows of others beside it, each row with its words and each column with its head."""
    if not rows or any(len(pictures) != len(heads) for _, pictures in rows):
        raise BadArgument("rows", f"at least one, each with a picture for each of the {len(heads)} heads", len(rows))
    height = width * first.tones.shape[0] / first.tones.shape[1]
    row_height = height + 2 * LINE + GAP
    whole = len(rows) * row_height + LINE
    large = min(2.9, (whole - 3 * LINE) / height) * width
    left = large + 2.5 * GAP
    images = [_image(first, 0.0, 2 * LINE, large, "large")]
    texts = [_text(0.0, 2 * LINE - 8, first.words, bold=True)]
    for line, (words, pictures) in enumerate(rows):
        top = line * row_height + 2 * LINE
        texts.append(_text(left, top - 8, words, bold=True))
        for place, (head, picture) in enumerate(zip(heads, pictures, strict=True)):
            across = left + place * (width + GAP)
            images.append(_image(picture, across, top, width, f"{words}, {head}"))
            texts.append(_text(across, top + height + 11, f"{head}{', ' * bool(picture.words)}{picture.words}"))
    return finished(
        titled(_laid(images, texts, left + len(heads) * (width + GAP) - GAP, whole), title, subtitle=subtitle)
    )


def tone_image(tones: NDArray[np.float64]) -> bytes:
    """Writes a picture as PNG, in the colours of old paint."""
    if tones.ndim != 2 or not tones.size or not np.isfinite(tones).all():
        raise BadArgument("tones", "a table of finite numbers", tones.shape)
    share = np.clip(tones, 0, 1)[:, :, None]
    colours = np.rint(np.array(DARK) * (1 - share) + np.array(LIGHT) * share).astype(np.uint8)
    pixels = colours.repeat(ENLARGED, axis=0).repeat(ENLARGED, axis=1)
    lines = np.concatenate([np.zeros((len(pixels), 1), dtype=np.uint8), pixels.reshape(len(pixels), -1)], axis=1)
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    parts = (b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), 6)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(kind, content) for kind, content in parts)


def _part(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _image(picture: Captioned, x: float, y: float, width: float, name: str) -> dict[str, object]:
    address = "data:image/png;base64," + base64.b64encode(tone_image(picture.tones)).decode()
    height = width * picture.tones.shape[0] / picture.tones.shape[1]
    return {"name": name, "x": x + width / 2, "y": y + height / 2, "width": width, "height": height, "image": address}


def _text(x: float, y: float, words: str, *, bold: bool = False) -> dict[str, object]:
    return {"x": x, "y": y, "words": words, "bold": bold}


def _laid(images: Sequence[dict[str, object]], texts: Sequence[dict[str, object]], width: float, height: float) -> Any:
    """Places images and words on a plane of pixels, downward."""
    alt = altair()
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[0, width], nice=False, zero=False))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False, zero=False))
    layers: list[Any] = []
    for size in dict.fromkeys((each["width"], each["height"]) for each in images):
        some = [each for each in images if (each["width"], each["height"]) == size]
        drawn = alt.Chart(table(f"pictures {len(layers)}", some)).mark_image(width=size[0], height=size[1])
        layers.append(drawn.encode(x=x, y=y, url="image:N"))
    for bold, name in ((True, "titles"), (False, "captions")):
        some = [each for each in texts if each["bold"] is bold]
        weight = {"fontWeight": "bold", "color": INK, "fontSize": 12.5} if bold else {"color": MUTED, "fontSize": 11}
        marked = alt.Chart(table(name, some)).mark_text(align="left", baseline="middle", **weight)
        layers.append(marked.encode(x=x, y=y, text="words:N"))
    return alt.layer(*layers).properties(width=width, height=height)
