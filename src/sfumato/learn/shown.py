"""How a fitted model shows itself: as text, in notebooks, as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted

from sfumato.learn.columns import Column
from sfumato.learn.drawing import drawn
from sfumato.release.record import Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.release.render.sheet import sheet
from sfumato.release.render.words import clean

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart


class ShownModel(Displayed):
    """A model that says what it is, what it cost and how it was made; before it is fitted, its parameters alone."""

    columns_: tuple[Column, ...]
    target_: Column | None
    release_: Release

    def _told(self) -> tuple[Table, ...]:
        """What the model says of itself when it is printed, such as its coefficients; nothing, unless it says so."""
        return ()

    @property
    def link(self) -> str:
        """What coefficients and curves add up to, where that is not the target itself: "log", its logarithm."""
        return ""

    @property
    def about(self) -> str:
        """What the model is of, in words: its class, the target and the features."""
        names = ", ".join(column.name for column in self.columns_)
        of = f"of {names}" if self.target_ is None else f"of {self.target_.name} on {names}"
        return clean(f"{type(self).__name__} {of}", most=200)

    def document(self) -> Document:
        """The model, its loss and how it was made, for any form: `print` shows it as text, notebooks as HTML."""
        check_is_fitted(self, "release_")
        loss = f"{self.release_.loss} for {self.release_.unit}"
        tables = (*self._told(), *sheet(self.release_).tables)
        return Document(type(self).__name__, f"{self.about}:", loss, tables=tables)

    def plot(self, what: str | None = None, **options: Any) -> Chart:
        """Draws the model: its coefficients, or what each column does to what it predicts; see `learn.drawing`.

        ``what`` is "coefficients", "dependence" or "components"; left out, what says most of the model. It costs
        nothing: only what was released is drawn.
        """
        check_is_fitted(self, "release_")
        return drawn(self, what, **options)

    def __str__(self) -> str:
        return self.to_text() if hasattr(self, "release_") else repr(self)

    def __repr__(self, *arguments: Any, **options: Any) -> str:
        return str(BaseEstimator.__repr__(self, *arguments, **options))

    def _repr_html_(self) -> str:
        return self.to_html() if hasattr(self, "release_") else str(estimator_html_repr(self))

    def _repr_mimebundle_(self, *arguments: Any, **options: Any) -> dict[str, str]:
        if hasattr(self, "release_"):
            return Displayed._repr_mimebundle_(self, *arguments, **options)
        return {"text/plain": repr(self), "text/html": self._repr_html_()}
