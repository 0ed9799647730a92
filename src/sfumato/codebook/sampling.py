"""How the data was sampled, and what that saves: something only where theorems say so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, final

from sfumato.accounting.amplify.population import population_amplified
from sfumato.accounting.losses.measures import Approx, Pure
from sfumato.codebook.columns import Plain
from sfumato.codebook.entries import Entries
from sfumato.errors import BadCodebook
from sfumato.release.claim import Claim, claim

P = TypeVar("P", Pure, Approx)

SIMPLE = "simple random"
METHODS = ("census", SIMPLE, "stratified", "cluster", "systematic", "convenience", "other")


@final
@dataclass(frozen=True)
class Sampling:
    """How the units in the data were drawn from a population: the frame, the method, the numbers, and who knows.

    Only a simple random sample of units that is kept secret saves anything. Whole clusters save nothing here: whether a
    cluster was drawn shows in all of its units (`sf.accounting.cluster_amplified` says how little is left).
    """

    method: str
    frame: str = ""
    population: int | None = None
    sample: int | None = None
    secret: bool = False
    secrecy: str = ""
    description: str = ""

    @staticmethod
    def read(entries: Entries) -> Sampling:
        design = Sampling(
            method=entries.one_of("method", METHODS, usual="other"),
            frame=entries.text("frame"),
            population=entries.whole("population", least=1),
            sample=entries.whole("sample", least=0),
            secret=entries.truth("secret"),
            secrecy=entries.text("secrecy"),
            description=entries.text("description"),
        )
        entries.done()
        if design.population is not None and design.sample is not None and design.sample > design.population:
            entries.refuse(f"the sample ({design.sample}) is larger than its population ({design.population})")
        if design.secret and not design.secrecy:
            entries.refuse("a secret sample needs secrecy: say what keeps anyone from learning who is in it")
        return design

    @property
    def why_not(self) -> str | None:
        """Says why the design saves nothing; None where it saves something."""
        if self.method == "cluster":
            return "whole clusters were drawn, and whether one was shows in all of its units"
        if self.method != SIMPLE:
            return f"the method is {self.method!r}, and the theorem is about a simple random sample of units"
        if not self.secret:
            return "the sample is not secret, and whoever knows that a unit is in it gains all that there is"
        if self.population is None or self.sample is None:
            return "the numbers of the sample and of its population are not both given"
        return None

    def amplified(self, loss: P) -> P:
        """The loss towards the population; the loss itself where the design saves nothing.

        The given loss must be for the exchange of all that one unit has in the data, at a fixed number of units.

        >>> secret = Sampling("simple random", population=100, sample=10, secret=True, secrecy="known to two people")
        >>> round(float(secret.amplified(Pure(2)).epsilon), 5)
        0.49403
        """
        if self.why_not is not None or self.sample is None or self.population is None:
            return loss
        return population_amplified(loss, sample=self.sample, population=self.population)

    def claim(self) -> Claim:
        """The claim that a smaller loss rests on, for releases."""
        if self.why_not is not None:
            raise BadCodebook("sampling", f"it saves nothing: {self.why_not}")
        return claim(
            f"the data is a simple random sample of {self.sample} of {self.population} units, kept secret: "
            f"{self.secrecy}"
        )

    def tree(self) -> Plain:
        said = {key: getattr(self, key) for key in self.__dataclass_fields__}
        return {key: value for key, value in said.items() if value}
