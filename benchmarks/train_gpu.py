"""Compares private training with plain training and with Opacus, on a GPU.

Run it with `python benchmarks/train_gpu.py` on a machine with an NVIDIA GPU, in an environment that has sfumato,
PyTorch for CUDA and Opacus. Two models: one for language (136 million parameters, 32 texts of 512 words a step, half
precision) and a wide residual network for pictures (1,024 of 32 × 32 a step). The last line gives the time of a step
over that of plain training and the memory over its memory, `wrn_gib` in gibibytes, and the time over that of Opacus in
its faster mode. Batches have one size, drawn by us without replacement; steps include drawing, noise and the optimizer.
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

from side_by_side.contest import Contender, Contest, Facts, hold, ratios_line

PLAIN, OURS, OPACUS = "plain", "sfumato", "opacus"


def contenders(model: str | None) -> list[Contender]:
    """Everybody who trains, in this environment."""
    arguments = () if model is None else (model,)
    return [Contender(name, f"train_gpu/{name}.py", arguments=arguments) for name in (PLAIN, OURS, OPACUS)]


def label(facts: Facts) -> str:
    """Says in a few words what was just measured."""
    return f"{facts['case']}, {facts['way']}"


def least(contest: Contest, what: str, **facts: object) -> float | None:
    """The least of what was measured, None where nothing was."""
    return min((each[what] for each in contest.where(**facts) if each[what] is not None), default=None)


def over(one: float | None, other: float | None) -> float | None:
    """One number over another, where both are known."""
    return None if one is None or other is None else one / other


def table(contest: Contest) -> Table:
    """All measurements."""
    made = Table("who", "model", "how", "ms a step", "GiB")
    for facts in contest.measurements:
        known = [f"{facts[what]:.1f}" if facts[what] is not None else "no memory" for what in ("ms", "gib")]
        made.add_row(facts["contender"], facts["case"], facts["way"], *known)
    return made


def main() -> None:
    """Holds the contest."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["gpt", "wrn"], help="only this model")
    console = Console()
    contest = hold(contenders(parser.parse_args().model), console=console, label=label)
    console.print(table(contest))

    def of(name: str, case: str, what: str = "ms", way: str | None = "eager") -> float | None:
        return least(contest, what, contender=name, case=case, **({} if way is None else {"way": way}))

    for case in ("gpt", "wrn"):
        compiled = over(of(OURS, case, way="compiled"), of(PLAIN, case, way="compiled"))
        console.print(f"{case}, compiled over compiled: {'?' if compiled is None else format(compiled, '.2f')}")
    ratios = {
        "gpt_vs_plain": over(of(OURS, "gpt"), of(PLAIN, "gpt")),
        "gpt_memory": over(of(OURS, "gpt", "gib"), of(PLAIN, "gpt", "gib")),
        "wrn_vs_plain": over(of(OURS, "wrn"), of(PLAIN, "wrn")),
        "wrn_gib": of(OURS, "wrn", "gib"),
        "gpt_vs_opacus": over(of(OURS, "gpt"), of(OPACUS, "gpt", way=None)),
        "wrn_vs_opacus": over(of(OURS, "wrn"), of(OPACUS, "wrn", way=None)),
    }
    print(ratios_line(ratios))


if __name__ == "__main__":
    main()
