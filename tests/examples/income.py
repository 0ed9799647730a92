"""The income task of the book: files in the form of the UCI Adult data, encoded by what is public alone.

Categories are those of the data's own description (adult.names), and numbers are scaled by round figures that anybody
would name: an encoder that is fitted on private rows gives them away, unpaid, and one that is fitted again on test rows
encodes them in another way. Every row is then brought to length 1, which looks at that row alone.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

import torch
from torch import Tensor, nn

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
    "sex", "capital_gain", "capital_loss", "hours_per_week", "native_country", "income",
)  # fmt: skip

CATEGORIES: dict[str, tuple[str, ...]] = {
    "workclass": (
        "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay",
        "Never-worked",
    ),
    "education": (
        "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th",
        "12th", "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool",
    ),
    "marital_status": (
        "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
        "Married-AF-spouse",
    ),
    "occupation": (
        "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty",
        "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving",
        "Priv-house-serv", "Protective-serv", "Armed-Forces",
    ),
    "relationship": ("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
    "sex": ("Female", "Male"),
    "native_country": (
        "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany", "Outlying-US(Guam-USVI-etc)",
        "India", "Japan", "Greece", "South", "China", "Cuba", "Iran", "Honduras", "Philippines", "Italy", "Poland",
        "Jamaica", "Vietnam", "Mexico", "Portugal", "Ireland", "France", "Dominican-Republic", "Laos", "Ecuador",
        "Taiwan", "Haiti", "Columbia", "Hungary", "Guatemala", "Nicaragua", "Scotland", "Thailand", "Yugoslavia",
        "El-Salvador", "Trinadad&Tobago", "Peru", "Hong", "Holand-Netherlands",
    ),
}  # fmt: skip

SCALES = {"age": (40, 15), "capital_gain": (0, 10_000), "capital_loss": (0, 500), "hours_per_week": (40, 12)}


def read(lines: Iterable[str]) -> tuple[Tensor, Tensor]:
    """Twelve inputs of each row and its label: rows with something missing are left out."""
    rows, labels = [], []
    for line in lines:
        cells = dict(zip(COLUMNS, line.strip().rstrip(".").split(", "), strict=False))
        if len(cells) < len(COLUMNS) or "?" in cells.values():
            continue
        codes = [float(known.index(cells[name])) for name, known in CATEGORIES.items()]
        rows.append([*codes, *((float(cells[name]) - middle) / scale for name, (middle, scale) in SCALES.items())])
        labels.append([float(cells["income"] == ">50K")])
    return nn.functional.normalize(torch.tensor(rows).double()), torch.tensor(labels).double()


def made_up(rows: int, seed: int) -> list[str]:
    """Rows in the same form of people who do not exist: whose work is long, and who is no longer young, earns more."""
    drawn = random.Random(seed)
    lines = []
    for _ in range(rows):
        age, hours = drawn.randint(17, 80), drawn.randint(10, 70)
        rich = age + hours + drawn.gauss(0, 8) > 105
        cells = {name: drawn.choice(known[:6]) for name, known in CATEGORIES.items()}
        cells |= {"age": str(age), "hours_per_week": str(hours), "income": ">50K" if rich else "<=50K"}
        lines.append(", ".join(cells.get(name, "0") for name in COLUMNS))
    return lines


def network(seed: int = 0) -> nn.Module:
    """The book's network, 12 → 250 → 1, in double precision."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(12, 250), nn.ReLU(), nn.Linear(250, 1), nn.Sigmoid()).double()


def accuracy(model: nn.Module, data: tuple[Tensor, Tensor]) -> float:
    """How many rows are right, of all: a mean over batches would count the rows of a short last batch for more."""
    with torch.no_grad():
        return float(((model(data[0]) > 0.5) == (data[1] > 0.5)).double().mean())


def trained_plainly(data: tuple[Tensor, Tensor], *, batch: int, epochs: int, rate: float) -> nn.Module:
    """The same network without privacy."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(epochs):
        for chosen in torch.randperm(len(data[1])).split(batch):
            optimizer.zero_grad()
            nn.functional.binary_cross_entropy(model(data[0][chosen]), data[1][chosen]).backward()
            optimizer.step()
    return model
