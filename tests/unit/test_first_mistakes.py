"""The mistakes that people make first, and the exact message that each gets."""

from __future__ import annotations

import copy
import datetime
import math
import pickle

import polars as pl
import pytest

import sfumato as sf
from sfumato.query.nodes.expressions import Literal
from sfumato.query.nodes.kinds import Kind
from sfumato.query.nodes.operators import call
from sfumato.query.sql.alike import folded

MISTAKES = [
    (
        "sf.vector(float) >> sf.mean() >> sf.laplace(scale=1)",
        "UnboundedColumn",
        "mean() has no bounds on its values, so one unit could move it without limit. Put clamp(lower, "
        "upper) before mean(), with bounds from public knowledge and never from the data.",
    ),
    (
        "sf.vector(float) >> sf.sum()",
        "UnboundedColumn",
        "sum() has no bounds on its values, so one unit could move it without limit. Put clamp(lower, "
        "upper) before sum(), with bounds from public knowledge and never from the data.",
    ),
    (
        "sf.vector(float) >> sf.clamp(0, 100) >> sf.mean()",
        "UnknownSize",
        "mean() is not stable when the number of rows is unknown. Release sum() and count() and divide, or "
        "fix the number of rows with resize(size, constant), or declare a public size=… or least=… if "
        "every possible data set has it.",
    ),
    (
        "sf.vector(float) >> sf.clamp(100, 0)",
        "BadArgument",
        "bounds must be in order: the lower bound first; got (100, 0).",
    ),
    (
        "sf.vector(float) >> sf.clamp(0, math.nan)",
        "BadArgument",
        "the upper bound must be finite; got nan.",
    ),
    (
        "sf.vector(float) >> sf.clamp(0, math.inf)",
        "BadArgument",
        "the upper bound must be finite; got inf.",
    ),
    (
        "sf.vector(float) >> sf.laplace(scale=1)",
        "NotNoisable",
        "laplace() adds noise to one number, or to a vector under the L1 distance, and this is any number "
        "of floats under the add/remove distance. Put an aggregate before it, such as count(), sum() or "
        "mean(); for a vector, ask the aggregate for that norm (metric=sf.L1()).",
    ),
    (
        "sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=0)",
        "BadArgument",
        "scale must be greater than 0; got 0.",
    ),
    (
        "sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=-1)",
        "BadArgument",
        "scale must be greater than 0; got -1.",
    ),
    (
        "sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale='wide')",
        "BadArgument",
        "scale must be a finite number; got 'wide'.",
    ),
    (
        "sf.vector(float, size=0) >> sf.clamp(0, 1) >> sf.mean()",
        "BadArgument",
        "size must be at least 1 for mean(): no rows have no mean; got 0.",
    ),
    (
        "sf.vector('float')",
        "BadArgument",
        "the kind of value must be float, int, bool, str, a list of categories or a domain; got 'float'.",
    ),
    (
        "sf.vector(list)",
        "BadArgument",
        "the kind of value must be float, int, bool, str, a list of categories or a domain; got list.",
    ),
    (
        "sf.vector(str, between=(0, 1))",
        "BadArgument",
        "between must be given for float or int only; got a tuple of 2.",
    ),
    (
        "sf.vector(float, size=-1)",
        "BadArgument",
        "size must be a whole number of at least 0; got -1.",
    ),
    (
        "sf.vector(float, size=2.0)",
        "BadArgument",
        "size must be a whole number; got 2.0.",
    ),
    (
        "sf.vector(float, metric=sf.ChangeOne())",
        "SpaceMismatch",
        "the change-one distance is not a distance on any number of floats: rows can only be exchanged "
        "when the size of the data is public: give size=…, or resize(…) first.",
    ),
    (
        "sf.laplace(scale=1)([1, 2, 3])",
        "NotChainable",
        "laplace(scale=1) does not know yet what it works on. Put a space or a transformation on its left: "
        "space >> laplace(scale=1) gives something that can be called on data.",
    ),
    (
        "sf.clamp(0, 1)([1, 2, 3])",
        "NotChainable",
        "clamp(0, 1) does not know yet what it works on. Put a space or a transformation on its left: "
        "space >> clamp(0, 1) gives something that can be called on data.",
    ),
    (
        "(sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=1))([1.0, 2.0])",
        "NotInDomain",
        "the data is not in the declared domain 3 floats. Declare what holds for every possible data set, "
        "or put a transformation first that makes it so, such as clamp, resize or keep. Where values may "
        "be missing, declare sf.Floats(nan=True) and put impute_nan or drop_nan first.",
    ),
    (
        "(sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=1))([1.0, 2.0, math.nan])",
        "NotInDomain",
        "the data is not in the declared domain 3 floats. Declare what holds for every possible data set, "
        "or put a transformation first that makes it so, such as clamp, resize or keep. Where values may "
        "be missing, declare sf.Floats(nan=True) and put impute_nan or drop_nan first.",
    ),
    (
        "(sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=1))(['a', 'b', 'c'])",
        "NotInDomain",
        "the data is not in the declared domain 3 floats. Declare what holds for every possible data set, "
        "or put a transformation first that makes it so, such as clamp, resize or keep. Where values may "
        "be missing, declare sf.Floats(nan=True) and put impute_nan or drop_nan first.",
    ),
    (
        "sf.vector(float, size=3) >> (lambda x: x)",
        "NotChainable",
        "a plain function may only follow a measurement. Before one, sfumato must know how far the "
        "function can move neighbours apart: use map_rows(…) for a function of one row, or "
        "sf.transformation(…) with a claim.",
    ),
    (
        "sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> sf.laplace(scale=1) >> sf.laplace(scale=1)",
        "NotChainable",
        "a measurement has been made already: what follows can only be a plain function of its outcome. A "
        "second look at the data is a second measurement and has its own price.",
    ),
    (
        "sf.vector(float, size=3) >> sf.clamp(0, 1) >> sf.mean() >> 3",
        "NotChainable",
        "int is neither a component nor a function: it cannot stand in a chain.",
    ),
    (
        "(sf.scalar(int) >> sf.laplace(scale=1)).map(-1)",
        "BadArgument",
        "the distance must be at least 0; got -1.",
    ),
    (
        "(sf.scalar(int) >> sf.laplace(scale=1)).map(math.nan)",
        "BadArgument",
        "the distance must be finite; got nan.",
    ),
    (
        "(sf.vector(int) >> sf.count()).map(0.5)",
        "BadArgument",
        "the distance must be a whole number of rows; got 0.5.",
    ),
    (
        "sf.Pure(1) <= sf.ZCDP(1)",
        "NoProvenRoute",
        "Pure and ZCDP are different kinds of privacy loss and cannot be compared or added. Turn both "
        "into one kind first, where theorems allow it: sf.convert(loss, sf.ZCDP), or sf.convert(loss, sf.Approx, "
        "delta=1e-6).",
    ),
    (
        "sf.Pure(-1)",
        "BadArgument",
        "epsilon must be at least 0; got -1.",
    ),
    (
        "sf.Approx(1, 2)",
        "BadArgument",
        "delta must be between 0 and 1; got 2.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1, loss=sf.Pure(0))",
        "CannotCalibrate",
        "a loss of nothing leaves room for no answer that depends on the data; ask for more than 0.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1, loss=1.0)",
        "BadArgument",
        "loss must be a privacy loss: write epsilon=1.0, or loss=sf.Pure(1.0); got 1.0.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.gaussian(scale=s), d_in=1, loss=sf.Pure(1))",
        "NoProvenRoute",
        "no theorem leads from ZCDP to Pure. Conversions go from a stronger promise to a weaker one: ZCDP implies "
        "Renyi, PLD, Approx, ApproxZCDP, Profile, TradeOff; Pure follows from BoundedRange. Account for the mechanisms "
        "as Pure from the start, or ask for a kind that follows.",
    ),
    (
        "sf.transformation(sf.scalar(int), sf.scalar(int), function=abs, map=lambda d: d)",
        "ClaimRequired",
        "the stability of a user-defined transformation cannot be checked by sfumato. If you vouch for it, "
        "pass claim=sf.claim('why it holds'); the claim is recorded and printed with every release.",
    ),
    (
        "sf.vector(['a', 'a'])",
        "BadArgument",
        "categories must be distinct: a value listed twice would be counted as two; got a tuple of 2.",
    ),
    (
        "sf.scalar(['yes','no']) >> sf.randomized_response()",
        "BadArgument",
        "randomized_response() must be given either p or epsilon; got (None, None).",
    ),
    (
        "sf.scalar(['yes','no']) >> sf.randomized_response(p=0.75, epsilon=1)",
        "BadArgument",
        "randomized_response() must be given either p or epsilon; got (0.75, 1).",
    ),
    (
        "(sf.scalar(['yes','no']) >> sf.randomized_response(p=0.75))('maybe')",
        "NotInDomain",
        "the data is not in the declared domain {'yes', 'no'}. Declare what holds for every possible data "
        "set, or put a transformation first that makes it so, such as clamp, resize or keep.",
    ),
    (
        "sf.vector(['a','b']) >> sf.count_by(['a','b']) >> sf.gaussian(scale=1)",
        "NotNoisable",
        "gaussian() adds noise to one number, or to a vector under the L2 distance, and this is 2 integers "
        "under the L1 distance. Put an aggregate before it, such as count(), sum() or mean(); for a "
        "vector, ask the aggregate for that norm (metric=sf.L2()).",
    ),
    (
        "sf.vector(float) >> sf.quantile(0.5, between=(0, 1), temperature=0)",
        "BadArgument",
        "temperature must be greater than 0; got 0.",
    ),
    (
        "sf.vector(float) >> sf.quantile(1.5, between=(0, 1), temperature=1)",
        "BadArgument",
        "alpha must be between 0 and 1; got 1.5.",
    ),
    (
        "sf.vector(float) >> sf.quantile(0.5, between=(1, 0), temperature=1)",
        "BadArgument",
        "bounds must be in order: the lower bound first; got (1, 0).",
    ),
    (
        "sf.vector(float) >> sf.median(temperature=1)",
        "UnboundedColumn",
        "quantile() has no bounds on its values, so one unit could move it without limit. Put clamp(lower, "
        "upper) before quantile(), with bounds from public knowledge and never from the data.",
    ),
    (
        "sf.frame({'age': int}) >> sf.select('agee')",
        "BadArgument",
        "column must be one of age; got 'agee'.",
    ),
    (
        "sf.entropy.ReplayEntropy(None)",
        "BadArgument",
        "seed must be a whole number; got None.",
    ),
    (
        "sf.vector(float) >> sf.map_rows(lambda x: x + 1, float, default=0.0)",
        "ClaimRequired",
        "that a function of your own depends on one row at a time cannot be checked by sfumato. If you "
        "vouch for it, pass claim=sf.claim('why it holds'); the claim is recorded and printed with every "
        "release.",
    ),
    (
        "sf.textbook.classical_sigma(epsilon=10, delta=1e-5)",
        "BadArgument",
        "epsilon must be at most 1 for the classical formula; analytic_sigma holds for every ε; got 10.",
    ),
    (
        "sf.textbook.dp_mean([1.0, 2.0], between=(0, 10), epsilon=0)",
        "CannotCalibrate",
        "a loss of nothing leaves room for no answer that depends on the data; ask for more than 0.",
    ),
    (
        "sf.scalar(['a', 'b', 'c', 'd']) >> sf.randomized_response(p=0.1)",
        "BadArgument",
        "p must be at least 1/4: the truth must be no rarer than another answer; got 1/10.",
    ),
    (
        "sf.vector(float) >> sf.clamp(0, 10) >> sf.resize(0, constant=50)",
        "BadArgument",
        "the constant must be a row of any number of floats in [0, 10]; got 50.",
    ),
    (
        "sf.matrix(2) >> sf.transforms.vector_sum() >> sf.gaussian(scale=1)",
        "UnboundedColumn",
        "vector_sum() has no bounds on its values, so one unit could move it without limit. Put "
        "clamp(lower, upper) before vector_sum(), with bounds from public knowledge and never from the "
        "data.",
    ),
    (
        "sf.vector(float) >> sf.count() >> sf.laplace(0.0)",
        "BadArgument",
        "scale must be greater than 0; got 0.0.",
    ),
    (
        "sf.vector(int) >> sf.on_poisson_sample(sf.count() >> sf.gaussian(scale=1), rate=0.1)",
        "NoProvenRoute",
        "no theorem says what on_poisson_sample() costs in ZCDP. Restate the loss of the measurement first: "
        "sf.convert_measure(measurement, sf.Renyi), or sf.Approx with a delta.",
    ),
    (
        "sf.vector(int, size=9) >> sf.on_poisson_sample(sf.count() >> sf.laplace(scale=1), rate=0.1)",
        "BadArgument",
        "what on_poisson_sample() works on must be rows of unknown number under sf.AddRemove(), for a random "
        "sample may have any number of them; got '9 integers under the change-one distance'.",
    ),
    (
        "sf.combinators.amplified_by_known_sample(sf.count() >> sf.laplace(scale=1), population=1000)",
        "ClaimRequired",
        "that the data is a secret, uniformly random sample of the population cannot be checked by sfumato. If you "
        "vouch for it, pass claim=sf.claim('why it holds'); the claim is recorded and printed with every release.",
    ),
    (
        "sf.best_of(sf.count() >> sf.laplace(scale=1))",
        "BadArgument",
        "how often to run must be given once: stop=0.01, or runs=sf.events.PoissonRuns(10); got (None, None).",
    ),
    (
        "sf.calibrate(lambda s: sf.vector(str, size=9, metric=sf.AddRemove()) >> sf.count(sf.is_in(['a'])) >> "
        "sf.laplace(s), d_in=1, loss=sf.Pure(1))",
        "BadArgument",
        "d_in must be at least 2: the number of rows is public, so none differ by one row added or removed, and no "
        "noise would be needed. Declare the data under sf.ChangeOne(), where 1 is one row changed; got 1.",
    ),
    (
        "sf.Codebook.read({'codebook': 1, 'title': 'A', 'unit': {'protects': 'a student'}, 'tables': {'t': {'columns': "
        "{'age': {'type': 'int', 'betwen': [0, 120]}}}}})",
        "BadCodebook",
        "codebook, table 't', column 'age': there is no entry 'betwen'; did you mean 'between'?",
    ),
    (
        "sf.Codebook.read({'codebook': 1, 'title': 'A', 'unit': {'protects': 'a student'}, 'tables': {'t': {'columns': "
        "{'age': {'type': 'int', 'between': [0, 120]}}}}})",
        "BadCodebook",
        "codebook, table 't', column 'age': source is missing: say where its values are known from. A bound or a list "
        "that was read off the private data shows it, and one unit can move it. Take it from what is known about "
        "anyone (an age is in [0, 120]) or from public data, and say from where; or spend a little on it first, such "
        "as a tenth of the limit on two private quantiles (sf.split, sf.quantile) or on sf.stats.bounds_by_histogram, "
        "and name that release as the source.",
    ),
    (
        "sf.col('pages') > 0 and sf.col('minutes') < 5",
        "NoTruthValue",
        "(col('pages') > 0) has a value for each row, so it is neither true nor false by itself. Join conditions with "
        "& and |, turn one round with ~, in brackets: (t.a > 0) & (t.b < 5); ask with is_in([…]) and between(low, "
        "high).",
    ),
    (
        "sf.KeySet.of(site='north')",
        "BadArgument",
        "keys of 'site' must be a list of values; got 'north'.",
    ),
    (
        "sf.dp.mean([1, 2, 3], epsilon=1)",
        "BadArgument",
        "between must be given: without bounds one entry could move the mean without limit. Write between=(lower, "
        "upper), from what anybody knows and never from the data, such as between=(0, 120) for ages; got None.",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=(100, 0), epsilon=1)",
        "BadArgument",
        "bounds must be in order: the lower bound first; got (100, 0).",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=(5, 5), epsilon=1)",
        "BadArgument",
        "bounds must be apart: between equal ones there is nothing to find out; got 'floats in [5, 5]'.",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=100, epsilon=1)",
        "BadArgument",
        "bounds must be a pair (lower, upper); got 100.",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=(0, math.inf), epsilon=1)",
        "BadArgument",
        "the upper bound must be finite; got inf.",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=(0, 100), epsilon=0)",
        "BadArgument",
        "epsilon must be greater than 0; got 0.",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=(0, 100), epsilon=math.nan)",
        "BadArgument",
        "epsilon must be finite; got nan.",
    ),
    (
        "sf.dp.mean(['12', '30'], between=(0, 100), epsilon=1)",
        "BadArgument",
        "values must be numbers: of texts, sf.dp.count_by and sf.dp.top_k can be asked; got 'texts'.",
    ),
    (
        "sf.dp.mean('ages', between=(0, 100), epsilon=1)",
        "BadArgument",
        "values must be one column of entries: a list, an array, or a column such as frame['age']; got 'str'.",
    ),
    (
        "sf.dp.mean({'age': [1, 2]}, between=(0, 100), epsilon=1)",
        "BadArgument",
        "values must be one column of entries: a list, an array, or a column such as frame['age']; got 'dict'.",
    ),
    (
        "sf.dp.mean([1, 2, 3], between=(0, 100), epsilon=1, confidence=95)",
        "BadArgument",
        "confidence must be between 0 and 1; got 95.",
    ),
    (
        "sf.dp.variance([1, 2, 3], between=(0, 100), epsilon=1, ddof=2)",
        "BadArgument",
        "ddof must be 0 or 1; got 2.",
    ),
    (
        "sf.dp.quantile([1, 2, 3], 90, between=(0, 100), epsilon=1)",
        "BadArgument",
        "at must be between 0 and 1; got 90.",
    ),
    (
        "sf.dp.quantiles([1, 2, 3], [0.9, 0.1], between=(0, 100), epsilon=1)",
        "BadArgument",
        "alphas must be in increasing order, each once; got a list of 2.",
    ),
    (
        "sf.dp.histogram([1, 2, 3], epsilon=1)",
        "BadArgument",
        "between must be given, where bins are numbered: between=(0, 120); or list their edges instead: [0, 18, "
        "65, 120]; got None.",
    ),
    (
        "sf.dp.histogram([1, 2, 3], [0, 20, 10], epsilon=1)",
        "BadArgument",
        "bins must be a number of bins, or two or more edges in rising order; got a list of 3.",
    ),
    (
        "sf.dp.histogram([1, 2, 3], [0, 10], between=(0, 10), epsilon=1)",
        "BadArgument",
        "between must be left out, where the edges of all bins are listed; got a tuple of 2.",
    ),
    (
        "sf.dp.count_by(['a', 'b'], epsilon=1)",
        "BadArgument",
        "delta must be given, where keys are not listed: which of them occur is private as well. Write delta=1e-6 "
        "(much less than 1 over the number of entries), or list the keys: keys=[…]; got None.",
    ),
    (
        "sf.dp.count_by(['a', 'b'], ['a', 'a'], epsilon=1)",
        "BadArgument",
        "categories must be distinct: a value listed twice would be counted as two; got a tuple of 2.",
    ),
    (
        "sf.dp.count_by(['a', 'b'], ['a', 'b'], epsilon=1, delta=1e-6)",
        "BadArgument",
        "delta must be left out, where keys are listed: counting them needs none; got 1e-06.",
    ),
    (
        "sf.dp.count_by([('a', 2)], epsilon=1, delta=1e-6)",
        "BadArgument",
        "values must be texts, numbers, truth values, days or times, where keys are not listed; got 'others'.",
    ),
    (
        "sf.dp.top_k(['a', 'b'], 3, keys=['a', 'b'], epsilon=1)",
        "BadArgument",
        "k must be at most 2, which is how many keys are listed; got 3.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1)",
        "BadArgument",
        "loss must be given: epsilon=0.5, or loss=sf.Pure(0.5); got None.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1, loss=sf.Pure(1), epsilon=1)",
        "BadArgument",
        "loss and epsilon must be one of them: loss=…, or epsilon=… (and delta=…); got (Pure(epsilon=1.0), 1).",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1, delta=1e-6)",
        "BadArgument",
        "epsilon must be given beside delta: epsilon=1, delta=1e-6; got None.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1, epsilon=1, delta=2)",
        "BadArgument",
        "delta must be between 0 and 1; got 2.",
    ),
    (
        "sf.calibrate(lambda s: sf.scalar(int) >> sf.laplace(scale=s), d_in=1, loss='1')",
        "BadArgument",
        "loss must be a privacy loss such as loss=sf.Pure(0.5), or epsilon=0.5; got '1'.",
    ),
    (
        "(sf.vector(str) >> sf.count() >> sf.laplace())(['a'])",
        "NotChainable",
        "laplace() has no scale yet. Say what may be spent, chain.with_loss(sf.Pure(1)), or how near to come, "
        "chain.with_accuracy(5); or write laplace(scale=…).",
    ),
    (
        "(sf.vector(str) >> sf.count() >> sf.laplace()).map(1)",
        "NotChainable",
        "laplace() has no scale yet. Say what may be spent, chain.with_loss(sf.Pure(1)), or how near to come, "
        "chain.with_accuracy(5); or write laplace(scale=…).",
    ),
    (
        "(sf.count() >> sf.laplace()).with_loss(sf.Pure(1))",
        "NotChainable",
        "laplace() does not know yet what it works on. Put a space on its left: space >> … >> laplace().",
    ),
    (
        "(sf.vector(str) >> sf.count() >> sf.laplace()).with_loss(0.5)",
        "BadArgument",
        "loss must be a privacy loss: write epsilon=0.5, or loss=sf.Pure(0.5); got 0.5.",
    ),
    (
        "(sf.vector(str) >> sf.count() >> sf.gaussian()).with_loss(epsilon=1)",
        "NoProvenRoute",
        "gaussian() noise keeps no pure ε, however large it is: its tails are too thin. Allow a δ, "
        "with_loss(epsilon=1, delta=1e-6), or add noise that does: laplace().",
    ),
    (
        "sf.Dataset([1.5, 2.5], name='x', space=sf.vector(float)).session(limit=3, ledger='memory:')",
        "BadArgument",
        "limit must be a privacy loss: write epsilon=3, or limit=sf.Pure(3); got 3.",
    ),
    (
        "sf.Dataset([1.5, 2.5], name='x', space=sf.vector(float)).session(epsilon=3)",
        "BadArgument",
        "ledger must be given: where charges are written down, such as 'sqlite:///spent.db' ('memory:' forgets "
        "them); got None.",
    ),
    (
        "sf.Dataset(['a'], name='x', space=sf.vector(str)).session(epsilon=3, ledger='memory:').run(sf.count() >> "
        "sf.laplace())",
        "BadArgument",
        "loss must be given: it decides the scale of the noise, which has none yet: session.run(question, "
        "epsilon=0.5); got None.",
    ),
    (
        "sf.Dataset(['a'], name='x', space=sf.vector(str)).session(epsilon=3, ledger='memory:').run(sf.count() >> "
        "sf.laplace(1), loss=2)",
        "BadArgument",
        "loss must be a privacy loss: write epsilon=2, or loss=sf.Pure(2); got 2.",
    ),
    (
        "sf.Dataset([{'id': 1, 'age': 30}])",
        "BadArgument",
        "unit must be the column that says whose a row is, unit='user_id'; or, where each row is somebody of their "
        "own, unit=sf.Unit('a patient', sf.AddRemove(), bound=1); got None.",
    ),
    (
        "sf.Dataset({'id': [1], 'age': [30]}, unit='ID')",
        "BadArgument",
        "unit must be about columns that there are: id, age; did you mean 'id'?; got 'ID'.",
    ),
    (
        "sf.Dataset({'id': [1], 'age': [30]}, unit='id', between={'aeg': (0, 120)})",
        "BadArgument",
        "between must be about columns that there are: id, age; did you mean 'age'?; got 'aeg'.",
    ),
    (
        "sf.Dataset([{'id': 1, 'age': 30}], unit='id', between={'age': (120, 0)})",
        "BadCodebook",
        "codebook, table 'data', column 'age': between must have its lower bound first, and some room: 120 is not "
        "below 0.",
    ),
    (
        "sf.Dataset([{'id': 1, 'age': 30}], unit='id', between={'age': 120})",
        "BadArgument",
        "between of age must be a pair (lower, upper); got 120.",
    ),
    (
        "sf.Dataset([{'id': 1, 'age': 30}], unit='id', between={'age': (0, 120)}, categories={'age': [30]})",
        "BadArgument",
        "between and categories must be about different columns; got a list of 1.",
    ),
    (
        "sf.Dataset([1, 2, 3], unit='id')",
        "BadArgument",
        "data must be a path, a data frame (of pandas, Polars, Arrow or another library), a list of rows, or "
        "columns of arrays; got 'list'.",
    ),
    (
        "sf.Dataset({'id': [1], 'age': [30]}, unit='id').session(epsilon=1, ledger='memory:').sql('SELECT AVG(age) "
        "FROM data', epsilon=1)",
        "QueryRefused",
        "mean takes numbers; got text. If all values of age are numbers, say so in the codebook, age: {type: "
        "float, between: [lower, upper], source: …}, or where the data is opened, between={'age': (lower, "
        "upper)}.",
    ),
    (
        "sf.Dataset([{'id': 1, 'age': 30}], unit='id').session(epsilon=1, ledger='memory:').sql('SELECT COUNT(*) "
        "FROM data')",
        "BadArgument",
        "loss or accuracy must be given, one of them: what to pay, epsilon=0.1 or loss=sf.Pure(0.1), or how near "
        "to come, accuracy=(50, 0.95); got (None, None).",
    ),
    (
        "sf.Dataset([{'id': 1, 'age': 30}], unit='id').session(epsilon=1, ledger='memory:').sql('SELECT COUNT(*) "
        "FROM data', loss=0.5)",
        "BadArgument",
        "loss must be a privacy loss: write epsilon=0.5, or loss=sf.Pure(0.5); got 0.5.",
    ),
    (
        "sf.split(sf.Pure(1), 0)",
        "BadArgument",
        "the number of parts must be a whole number of at least 1; got 0.",
    ),
    (
        "sf.Codebook.read(sf.Codebook.draft([{'id': 1, 'age': 30}], unit='id'))",
        "BadCodebook",
        "codebook, the draft: fill in what is marked, and remove each mark (or the mark alone, where there is "
        "nothing to say): line 8, protects: who is protected, in words that are printed with every release, such "
        "as a person.",
    ),
    (
        "sf.Codebook.draft([{'id': 1, 'age': 30}], unit='who')",
        "BadArgument",
        "id must be a column of data; got 'who'.",
    ),
    (
        "sf.Dataset({'id': [1], 'k': ['a']}, unit='id', categories={'k': 'abc'})",
        "BadArgument",
        "categories of k must be a list of values; got 'abc'.",
    ),
    (
        "sf.Dataset({'my.id': [1], 'k': ['a']}, unit='my.id').session(epsilon=1, ledger='memory:').sql('SELECT "
        "COUNT(DISTINCT my.id) FROM data', epsilon=1)",
        "QueryRefused",
        'my.id has a point in its name: write "my.id", in double quotes.',
    ),
    (
        "sf.Dataset({'my-data': {'id': [1]}}, unit='id').session(epsilon=1, ledger='memory:').sql('SELECT COUNT(*) "
        "FROM my-data', epsilon=1)",
        "QueryRefused",
        "the text cannot be read: line 1, column 24: did not expect '-'. A name with such a sign in it stands in "
        "double quotes.",
    ),
    (
        "sf.train.private(None, 'rows.csv', noise_multiplier=1, batch=10, steps=1)",
        "BadArgument",
        "data must be a tuple of tensors or arrays such as (X, y), or a torch Dataset; got 'str'.",
    ),
    (
        "sf.train.Classifier(epsilon=1, between=(0, 1), classes=[0, 1]).fit([[0.5]], [1])",
        "BadArgument",
        "loss must be one that Gaussian noise keeps, with a δ: epsilon=1, delta=1e-6, or loss=sf.Approx(1, 1e-6). For "
        "a pure ε, sf.learn.LogisticRegression and sf.learn.HuberRegressor fit linear models; got Pure(epsilon=1.0).",
    ),
    (
        "sf.train.Classifier(epsilon=1, delta=1e-6, between=(0, 1)).fit([[0.5]], [1])",
        "BadArgument",
        "classes must be given, all that there can be, from what anybody knows: classes=['no', 'yes']; got None.",
    ),
    (
        'sf.local.frequencies(["yes"], loss=1, users=100)',
        "BadArgument",
        "values must be at least two: of a single one there is nothing to report; got 1.",
    ),
    (
        "sf.local.frequencies(10, loss=1, users=100)",
        "BadArgument",
        "values must be a list or a range of all values that people may have; got 10.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=0, users=100)',
        "BadArgument",
        "the epsilon of a report must be above 0 (at least 1e-9), where reports tell something, and at most 24, where "
        "they hide it; got 0.0.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=sf.Approx(1, 1e-6), users=100)',
        "BadArgument",
        "loss must be a pure loss such as sf.Pure(1): a report on a device has no δ; got Approx(epsilon=1.0, "
        "delta=1e-06).",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=None, users=100)',
        "BadArgument",
        "loss must be given: epsilon=0.5, or loss=sf.Pure(0.5); got None.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=0)',
        "BadArgument",
        "users must be a whole number of at least 1; got 0.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).randomize("maybe")',
        "BadArgument",
        "the value must be one of the listed values (or state other=…, the value that stands for the rest); "
        "got something else.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).randomize_many({"yes": 3, "no": 6})',
        "BadArgument",
        "values must be one value of each person: a list, an array, or one column of a table; got 'dict'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).randomize_many("yes")',
        "BadArgument",
        "values must be one value of each person: a list, an array, or one column of a table; got 'str'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).randomize_many(pl.DataFrame({"answer": ["yes"]}))',
        "BadArgument",
        "values must be one value of each person: a list, an array, or one column of a table; got 'DataFrame'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).aggregate(["yes", "no"])',
        "BadArgument",
        "reports must be messages (bytes), or what randomize_many() gave; got 'str'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).aggregate(b"report")',
        "BadArgument",
        "reports must be a list of messages (a single one too), or what randomize_many() gave; got 'bytes'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).aggregate(9)',
        "BadArgument",
        "reports must be a list of messages (a single one too), or what randomize_many() gave; got 'int'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).aggregate(sf.local.frequencies(["yes", "no"], '
        'loss=2, users=9).randomize_many(["yes"]))',
        "BadArgument",
        "the reports must be of the same protocol, with the same parameters; got 'those of another'.",
    ),
    (
        'sf.local.frequencies(["yes", "no"], loss=1, users=9).aggregate([]).plot()',
        "BadArgument",
        "the estimate must be of one report at least, to be drawn; got 0.",
    ),
    (
        "sf.local.shuffled(sf.Pure(1), users=9)",
        "BadArgument",
        "protocol must be a local protocol, such as sf.local.frequencies(…) gives; got Pure(epsilon=1.0).",
    ),
    (
        "sf.local.compare(sizes=[2, 10], loss=[1, 2], users=9)",
        "BadArgument",
        "sizes and loss must be several of one and a single one of the other; got '2 sizes, 2 losses'.",
    ),
    (
        'sf.local.CoinSurvey("Did you?", truth=1.2)',
        "BadArgument",
        "truth must be between 0 and 1; got 1.2.",
    ),
    (
        'sf.local.CoinSurvey("Did you?", truth=1)',
        "BadArgument",
        "truth must be less than 1, or answers hide nothing; got 1.",
    ),
    (
        'sf.local.CoinSurvey("Did you?").answer("yes")',
        "BadArgument",
        "the true answer must be True or False; got something else.",
    ),
    (
        'sf.local.CoinSurvey("Did you?").estimate(yes=0.4, answers=1000)',
        "BadArgument",
        "yes must be a whole number; got 0.4.",
    ),
    (
        'sf.local.CoinSurvey("Did you?").estimate(yes=500, answers=400)',
        "BadArgument",
        "yes must be at most the number of answers, 400; got 500.",
    ),
    (
        'sf.local.CoinSurvey("Did you?").people_for(error=5)',
        "BadArgument",
        "error must be less than 1/2: every share is that near to a half; got 5.",
    ),
    (
        'sf.local.ChoiceSurvey("How?", "by bus")',
        "BadArgument",
        "choices must be a list of at least two texts; got 'by bus'.",
    ),
    (
        'sf.local.Questionnaire.within(sf.Pure("0.01"), ["A?", "B?", "C?"], paper=True)',
        "CannotCalibrate",
        "an answer that keeps ε = 0.00333 is the truth too rarely for the coins here. Allow a larger loss, "
        "or ask fewer questions.",
    ),
    (
        "sf.Dataset(pl.DataFrame({'age': [1]}), unit='row')",
        "BadArgument",
        "unit must be about columns that there are: age; where each row is somebody of their own, it is "
        "unit=sf.Unit('a patient', sf.AddRemove(), bound=1); got 'row'.",
    ),
    (
        "sf.Dataset([{'age': 1}], unit=sf.Unit('a patient', sf.AddRemove(), bound=1))",
        "BadArgument",
        "between and categories must be given for the columns that will be asked about: a list of dictionaries has no "
        "others than are stated, for which keys a row has is its own; or turn it into a data frame; got None.",
    ),
    (
        "session(pl.DataFrame({'id': [1]})).sql('SELECT COUNT(*) FROM visits', epsilon=1, max_rows=1)",
        "QueryRefused",
        "there is no table 'visits'; there are: data. So is called what was opened without a name: sf.Dataset(…, "
        "name='visits') gives it one.",
    ),
    (
        "session(pl.DataFrame({'id': [1]})).sql('SELECT COUNT(*) FROM data', 1, max_rows=1)",
        "BadArgument",
        "parameters must be a list of values, or a mapping from names to values; what to pay is named: epsilon=…, or "
        "loss=…; got 1.",
    ),
    (
        "session(pl.DataFrame({'id': [1], 'delay': ['5']})).sql('SELECT COUNT(*) FROM data WHERE delay > 60', "
        "epsilon=1, max_rows=1)",
        "QueryRefused",
        "delay is a text and 60 is a number: they cannot be compared. Where it holds numbers, as a column of a text "
        "file may, state so where the data is opened, between={'delay': (lower, upper)}, or its type in the codebook; "
        "or write CAST(delay AS INT), or AS DOUBLE. Where it holds texts, put constants in quotes.",
    ),
    (
        "sf.audit.exact(sf.scalar(int) >> sf.laplace(scale=2), 0, 1, pairs=[(0, 1)])",
        "BadArgument",
        "pairs must be left out where two neighbours are given; got 'both'.",
    ),
]


def session(data: object) -> sf.Session:
    return sf.Dataset(data, unit="id").session(epsilon=1, ledger="memory:")


@pytest.mark.parametrize(("code", "kind", "message"), MISTAKES, ids=[code for code, _, _ in MISTAKES])
def test_first_mistakes(code: str, kind: str, message: str) -> None:
    with pytest.raises(getattr(sf.errors, kind)) as caught:
        eval(code, {"sf": sf, "math": math, "pl": pl, "session": session})
    assert str(caught.value) == message


def test_every_message_ends_like_a_sentence_and_every_error_is_ours() -> None:
    for _, kind, message in MISTAKES:
        assert message.endswith((".", ")", "?"))
        assert issubclass(getattr(sf.errors, kind), sf.errors.SfumatoError)


def test_the_tree_in_the_docstring_is_complete() -> None:
    drawn = str(sf.errors.__doc__)
    kinds = [name for name, kind in vars(sf.errors).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert [name for name in kinds if name not in drawn] == []


def test_columns_may_stand_under_the_name_of_the_only_table() -> None:
    made = sf.datasets.students()
    nested, flat = (
        sf.Dataset(data, codebook=made.codebook) for data in ({made.table: dict(made.columns)}, dict(made.columns))
    )
    assert (nested.name, nested.space, nested.unit) == (flat.name, flat.space, flat.unit)
    asked = nested.session(epsilon=1, ledger="memory:").sql("SELECT COUNT(*) FROM students", epsilon=1)
    assert abs(float(asked) - len(next(iter(made.columns.values())))) < 60
    with pytest.raises(sf.errors.NotInDomain):
        sf.Dataset({"pupils": dict(made.columns)}, codebook=made.codebook)


def test_days_are_bounds_of_moments_from_the_first_to_the_last_of_them() -> None:
    moments = pl.DataFrame({"id": [1], "at": [datetime.datetime(2013, 1, 1, 23, 30)]})
    data = sf.Dataset(moments, unit="id", between={"at": ("2013-01-01", datetime.date(2013, 1, 2))})
    assert data.codebook is not None
    ends = next(one for one in data.codebook.table().columns if one.name == "at").between
    assert ends == (datetime.datetime(2013, 1, 1), datetime.datetime(2013, 1, 2, 23, 59, 59, 999_999))


def test_a_comparison_read_from_right_to_left_is_the_same_question() -> None:
    rows = {"id": [1, 2], "minutes": [5, 50]}
    asks = sf.Dataset(rows, name="visits", unit="id", between={"minutes": (0, 60)}).session(epsilon=9, ledger="memory:")
    pairs = [("1 < minutes", "minutes > 1"), ("2 >= minutes", "minutes <= 2"), ("3 = minutes", "minutes = 3")]
    for turned, usual in [*pairs, ("4 <> minutes", "minutes <> 4"), ("5 <= minutes", "minutes >= 5")]:
        first = asks.sql(f"SELECT COUNT(*) FROM visits WHERE {turned}", epsilon=1, max_rows=1)
        spent = asks.spent
        again = asks.sql(f"SELECT COUNT(*) FROM visits WHERE {usual}", epsilon=1, max_rows=1)
        assert (asks.spent, again.receipt) == (spent, first.receipt)
    asks.sql("SELECT COUNT(*) FROM visits WHERE minutes < 1", epsilon=1, max_rows=1)
    assert asks.spent != spent


def test_two_neighbours_are_audited_as_the_pair_they_are() -> None:
    noisy = sf.scalar(int) >> sf.laplace(scale=2)
    assert sf.audit.exact(noisy, 0, 1) == sf.audit.exact(noisy, pairs=[(0, 1)])
    with pytest.raises(sf.errors.BadArgument, match="at most d_in apart"):
        sf.audit.exact(noisy, 0, 5)


def test_groups_say_how_they_are_asked() -> None:
    groups = session(pl.DataFrame({"id": [1]})).table().group_by("id")
    with pytest.raises(AttributeError, match=r"groups have no method 'count'\. Ask of a table"):
        groups.count()  # type: ignore[attr-defined]


def test_sessions_and_releases_know_what_others_call_things() -> None:
    asks = session(pl.DataFrame({"id": [1, 2]}))
    release = asks.sql("SELECT COUNT(*) FROM data", epsilon=1, max_rows=1)
    for name, message in {
        "query": "a session has no 'query'. Did you mean 'sql'?",
        "budget": "a session has no 'budget'. Did you mean 'left'?",
        "seed": "a session has no 'seed'",
        "_vault": "a session has no '_vault'",
    }.items():
        with pytest.raises(AttributeError) as caught:
            getattr(asks, name)
        assert str(caught.value) == message
    for name, message in {
        "df": "a release has no 'df': write to_pandas()",
        "to_csv": "a release has no 'to_csv': write to_pandas(intervals=True), which has it",
        "shape": "a release has no 'shape'",
    }.items():
        with pytest.raises(AttributeError) as caught:
            getattr(release, name)
        assert str(caught.value) == message
    assert copy.deepcopy(release).loss == pickle.loads(pickle.dumps(release)).loss == release.loss


def test_days_between_two_constants_are_left_to_the_engine() -> None:
    day = Literal(datetime.date(2024, 2, 29), Kind.DATE)
    assert folded(call("sub", day, day)) == call("sub", day, day)
    assert folded(call("add", Literal(1, Kind.INT), Literal(2, Kind.INT))) == Literal(3, Kind.INT)
