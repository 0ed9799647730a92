"""Tests of normal numbers that are made on a device, run on the processor: the same tensors, the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms

from sfumato.entropy import ReplayEntropy
from sfumato.train import device_noise
from sfumato.train.device_noise import normals, stream


@pytest.mark.parametrize("first", [0, 5, 2**31 - 2])
def test_the_stream_is_that_of_the_cipher(first: int) -> None:
    key = bytes(range(1, 33))
    begin = torch.tensor(first, dtype=torch.int32)
    words = torch.stack(stream(torch.from_numpy(np.frombuffer(key, dtype="<i4").copy()), begin, 4), dim=1)
    nonce = first.to_bytes(4, "little") + bytes(12)
    encryptor = Cipher(algorithms.ChaCha20(key, nonce), mode=None).encryptor()
    assert words.numpy().astype("<i4").tobytes() == encryptor.update(bytes(256))


def test_numbers_are_normal_and_no_other_scale_passes() -> None:
    from scipy.stats import kstest

    drawn = normals(200_001, 3.0, ReplayEntropy(7), torch.device("cpu")).double().numpy()
    assert len(drawn) == 200_001
    assert kstest(drawn / 3.0, "norm").pvalue > 1e-3
    assert kstest(drawn / 3.09, "norm").pvalue < 1e-6
    halves = drawn[:200_000].reshape(2, -1)
    assert abs(np.corrcoef(halves)[0, 1]) < 5 / 300


def test_pieces_go_on_where_the_last_one_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = normals(16 * 12, 1.0, ReplayEntropy(3), torch.device("cpu")).sort().values
    monkeypatch.setattr(device_noise, "AT_ONCE", 4)
    parts = normals(16 * 12, 1.0, ReplayEntropy(3), torch.device("cpu")).sort().values
    assert torch.equal(whole, parts) and len(whole.unique()) == 16 * 12


def test_every_step_has_a_key_of_its_own() -> None:
    entropy = ReplayEntropy(1)
    first, second = (normals(64, 1.0, entropy, torch.device("cpu")) for _ in range(2))
    assert not torch.equal(first, second)
    assert torch.equal(first, normals(64, 1.0, ReplayEntropy(1), torch.device("cpu")))
