"""Releases of kinds that statistics offices publish: lists, shares, hierarchies of places, flows, series, dashboards.

A template says which questions a product needs, shares the loss among them, and makes tables of the answers that fit
together: whole numbers, none below 0, parts that add up to their sums. It looks at nothing but answers.
"""

from sfumato.templates.dashboard import Dashboard
from sfumato.templates.flows import Flows
from sfumato.templates.geography import Geography
from sfumato.templates.series import Series
from sfumato.templates.shares import Shares
from sfumato.templates.template import Asked, Product, Template
from sfumato.templates.top_list import TopList

__all__ = ["Asked", "Dashboard", "Flows", "Geography", "Product", "Series", "Shares", "Template", "TopList"]
