"""Drops rows without a value that all have: a count stands for the rows of a sum only if both are of the same rows.

Where a codebook says that a column is never missing, one count of all rows serves for every column: that saves noise.
The codebook may be wrong. A value that is missing all the same would then be in the count and not in the sum, as if it
were in the middle of its bounds. So rows without a value that all rows are said to have are left out, of everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.operators.record import always_there
from sfumato.query.nodes.questions import Count, Covariance, Mean, Moment, Question, Sum, Variance
from sfumato.query.nodes.relations import Where
from sfumato.query.plan.query_plan import QueryPlan


def drop_incomplete(plan: QueryPlan) -> QueryPlan:
    """Before: rows as they are. After: with every value that is added up and that, by the codebook, all rows have."""
    source = plan.question.source
    for of in gaps(plan.question):
        source = Where(source, call("not", call("is_null", of)))
    return replace(plan, question=replace(plan.question, source=source))


def gaps(question: Question) -> Sequence[Expression]:
    """What is added up and never missing by the codebook, but would be missing should the codebook be wrong."""
    added = (one for one in question.statistics if isinstance(one, Count | Sum | Mean | Variance | Covariance | Moment))
    operands = dict.fromkeys(of for one in added for of in one.operands)
    return [of for of in operands if not of.facts.nullable and not always_there(of)]
