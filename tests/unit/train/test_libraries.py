"""Private training with other libraries' trainers, where they are installed; and losses of rows, which need none."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, MissingExtra
from sfumato.train.row_losses import losses_of_rows, sequence_losses

HUGGING = find_spec("transformers") is not None and find_spec("accelerate") is not None
LIGHTNING = find_spec("lightning") is not None
EXACT: dict[str, Any] = {"noise_multiplier": 1e-12, "clip": 1e6, "entropy": ReplayEntropy(1)}


@pytest.mark.skipif(HUGGING, reason="transformers is installed")
def test_without_the_library_it_says_what_to_install() -> None:
    with pytest.raises(MissingExtra, match="pip install transformers accelerate"):
        sf.train.PrivateTrainer(privacy={})


def test_the_loss_of_a_row_is_that_of_its_own_tokens() -> None:
    torch.manual_seed(0)
    outputs, labels = torch.randn(3, 5, 7), torch.randint(0, 7, (3, 5))
    labels[0, 3:] = -100
    labels[1, 2] = 7  # no word: counts as none
    for shifted in (False, True):
        made = sequence_losses(outputs, labels, shifted=shifted)
        for row in range(3):
            given, wanted = (outputs[row, :-1], labels[row, 1:]) if shifted else (outputs[row], labels[row])
            known = (wanted >= 0) & (wanted < 7)
            plain = nn.functional.cross_entropy(given[known], wanted[known])
            torch.testing.assert_close(made[row], plain)
    assert sequence_losses(outputs, torch.full((3, 5), -100)).tolist() == [0, 0, 0]


def test_losses_follow_from_shapes_and_others_are_refused() -> None:
    torch.manual_seed(0)
    outputs = torch.randn(4, 3)
    functional = nn.functional
    classes, several, number = torch.tensor([0, 2, 1, -100]), torch.rand(4, 3), torch.rand(4)
    plain = functional.cross_entropy(outputs, classes, reduction="none")
    torch.testing.assert_close(losses_of_rows(outputs, classes), plain)
    made = functional.binary_cross_entropy_with_logits(outputs, several, reduction="none").mean(dim=1)
    torch.testing.assert_close(losses_of_rows(outputs, several), made)
    torch.testing.assert_close(losses_of_rows(outputs[:, :1], number), (outputs[:, 0] - number) ** 2)
    torch.testing.assert_close(losses_of_rows(outputs[:, :1], number[:, None]), (outputs[:, 0] - number) ** 2)
    with pytest.raises(BadArgument, match="row_loss"):
        losses_of_rows(outputs, number)


def language_model() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2}
    still = {"resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0, "bos_token_id": 0, "eos_token_id": 0}
    return GPT2LMHeadModel(GPT2Config(**sizes, **still))


def classifier() -> Any:
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(0)
    sizes = {"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "num_labels": 3}
    more = {"intermediate_size": 32, "max_position_embeddings": 16}
    still = {"hidden_dropout_prob": 0, "attention_probs_dropout_prob": 0}
    return BertForSequenceClassification(BertConfig(**sizes, **more, **still))


def sentences(*, language: bool) -> list[dict[str, Tensor]]:
    torch.manual_seed(1)
    words, seen = torch.randint(0, 50, (12, 8)), torch.ones(8, dtype=torch.long)
    return [
        {"input_ids": row, "attention_mask": seen, "labels": row if language else torch.tensor(place % 3)}
        for place, row in enumerate(words)
    ]


def trainer(model: Any, data: Any, folder: Any, **privacy: Any) -> Any:
    from transformers import TrainingArguments, default_data_collator

    args = TrainingArguments(
        output_dir=str(folder), per_device_train_batch_size=5, gradient_accumulation_steps=2, max_steps=3, use_cpu=True,
        report_to=[], optim="sgd", learning_rate=0.5, lr_scheduler_type="linear", disable_tqdm=True,
    )  # fmt: skip
    return sf.train.PrivateTrainer(
        model=model, args=args, train_dataset=data, data_collator=default_data_collator, privacy=privacy
    )


@pytest.mark.skipif(not HUGGING, reason="transformers and accelerate are not installed")
@pytest.mark.parametrize("language", [True, False], ids=["GPT-2", "BERT"])
def test_without_noise_and_clipping_hugging_faces_models_train_as_they_do_plainly(
    language: bool, tmp_path: Any
) -> None:
    from transformers import default_data_collator

    make, data = (language_model if language else classifier), sentences(language=language)
    ours, plain = make(), make()
    training = trainer(ours, data, tmp_path, batches=sf.train.PoissonBatches(1, 3, 12), **EXACT)  # type: ignore[arg-type]
    assert training.train().global_step == training.state.global_step == 3
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.5)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0, 1 - step / 3))
    for _ in range(3):
        optimizer.zero_grad()
        plain(**default_data_collator(data)).loss.backward()
        optimizer.step()
        schedule.step()
    for one, other in zip(ours.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.skipif(not HUGGING, reason="transformers and accelerate are not installed")
def test_hugging_faces_trainer_plans_by_its_arguments_and_refuses_what_it_cannot_do(tmp_path: Any) -> None:
    data = sentences(language=True)
    training = trainer(language_model(), data, tmp_path, loss=sf.Approx(3, 1e-5))
    plan = training.prepare_private().plan
    assert plan.steps == 3 and plan.batches.expected == 10 and plan.account(delta=1e-5).epsilon <= 3
    with pytest.raises(BadArgument, match="without arguments"):
        training.train(resume_from_checkpoint=True)
    with pytest.raises(BadArgument, match="labels"):
        trainer(language_model(), [{"input_ids": data[0]["input_ids"]}], tmp_path, **EXACT).train()


class Stepping(nn.Module):
    """What `fit_lightning` asks of a module."""

    reduction = "none"

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 2)

    def forward(self, rows: Tensor) -> Tensor:
        return self.layer(rows)  # type: ignore[no-any-return]

    def training_step(self, batch: Any, batch_idx: int) -> Any:
        rows, labels = batch
        return {"loss": nn.functional.cross_entropy(self(rows), labels, reduction=self.reduction)}

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.SGD(self.parameters(), lr=0.5)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)}


def modules() -> list[type[nn.Module]]:
    """Modules with Lightning's methods, and its own where it is installed."""
    if not LIGHTNING:
        return [Stepping]
    import lightning

    return [Stepping, type("Module", (Stepping, lightning.LightningModule), {})]


@pytest.mark.parametrize("kind", modules())
def test_lightning_modules_train_by_their_own_step_and_schedule(kind: Any) -> None:
    rows = torch.randn(10, 3)
    labels = (rows[:, 0] > 0).long()
    module, plain = kind(), nn.Linear(3, 2)
    plain.load_state_dict(module.layer.state_dict())
    sf.train.fit_lightning(module, (rows, labels), batches=sf.train.PoissonBatches(1, 4, 10), largest=3, **EXACT)  # type: ignore[arg-type]
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.5)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for _ in range(4):
        optimizer.zero_grad()
        nn.functional.cross_entropy(plain(rows), labels).backward()
        optimizer.step()
        schedule.step()
    torch.testing.assert_close(module.layer.weight, plain.weight, rtol=1e-5, atol=1e-6)
    averaging = kind()
    averaging.reduction = "mean"
    with pytest.raises(BadArgument, match="for each row"):
        sf.train.fit_lightning(averaging, (rows, labels), noise_multiplier=1, batch=5, steps=2)
    with pytest.raises(BadArgument, match="LightningModule"):
        sf.train.fit_lightning(nn.Linear(3, 2), (rows, labels), noise_multiplier=1, batch=5, steps=2)
