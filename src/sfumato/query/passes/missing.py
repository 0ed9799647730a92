"""Missing values: a count stands for the rows of a sum only where both are of the same rows.

Where a codebook says that a column is never missing, one count of all rows serves for every column: that saves noise.
The codebook may be wrong. A value that is missing all the same would then be in the count and not in the sum, as if it
were in the middle of its bounds. So rows without a value that all rows are said to have are left out, of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.query.expressions import Call, Expression, Literal
from sfumato.query.operators import call
from sfumato.query.questions import Count, Covariance, Mean, Question, Sum, Variance
from sfumato.query.relations import Where


def without_gaps(question: Question) -> Question:
    """Gives the question of the rows that have every value which, by the codebook, all rows have and it adds up."""
    source = question.source
    for of in gaps(question):
        source = Where(source, call("not", call("is_null", of)))
    return replace(question, source=source)


def gaps(question: Question) -> Sequence[Expression]:
    """Gives what is added up, is never missing by the codebook, and is missing all the same should that be wrong."""
    added = (one for one in question.statistics if isinstance(one, Count | Sum | Mean | Variance | Covariance))
    found = dict.fromkeys(of for one in added for of in one.operands)
    return [of for of in found if not of.facts.nullable and not _always_there(of)]


def _always_there(of: Expression) -> bool:
    """Tells whether a value is there whatever the data is, also where a codebook is wrong about its columns."""
    match of:
        case Literal(value=value):
            return value is not None
        case Call(operator="is_null"):
            return True
        case Call(operator="coalesce" | "least" | "greatest", parts=parts):
            return any(map(_always_there, parts))
        case Call(operator="case", parts=parts):
            return all(map(_always_there, (*parts[1::2], parts[-1])))
        case Call(operator="to_int" | "to_float" | "clamp", parts=parts):
            return _always_there(parts[0])
    return False
