"""`Online`: a factorization learned from one batch of samples after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from conicnmf.errors import IncompatibleError
from conicnmf.families.coding.batches import FORGETTING, ROUNDS, Lesson, Past, unlearnable
from conicnmf.families.coding.coded import no_penalties, only_products
from conicnmf.families.coding.coders import Coder
from conicnmf.families.coding.sample_codes import coding_of, find_codes
from conicnmf.families.coding.sparse_code import squared_norms
from conicnmf.model.base import BaseProblem
from conicnmf.model.problem import Problem
from conicnmf.model.terms.one_sample import of_one_sample
from conicnmf.results import Promises
from conicnmf.settings import Count, Weight
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.needs import LossWith, nonnegative_only, uncapped
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True, eq=False)
class Stream:
    """What is known of batches that were seen, and the random numbers that order them."""

    rng: np.random.Generator
    past: Past | None = None


@dataclass(frozen=True)
class Online(Solver[Problem, Stream]):
    """Learn W from batches of samples: codes of a batch, then W by sums over all batches so far.

    An iteration is a pass over all samples in random order, followed by codes of all samples, an update
    of W by these, and codes again. Of past batches only Σ h hᵀ and Σ v hᵀ are kept, and they fade,
    because old codes belong to outdated components; W is an average of what the last batches led to. W
    may have any constraint under which a solver can minimize squares, including your own CVXPY
    constraints; H may have any term on single samples, or a coder. `partial_fit` of estimators takes
    the same steps.

    Parameters
    ----------
    batch_size : int
    code : Coder, optional
        How samples are coded, for example ``coding.L0(0.02)``; by default H is found from its terms.
        With a coder, the columns of W should have unit norm.
    dictionary : Coder, optional
        What makes W sparse, for example ``coding.L0(0.1)``.
    rounds : int
        How many times the codes of a batch and W are updated.
    forgetting : float
        After batch t the past counts (1 − 1/t) to this power, less in the first hundred batches. At 0
        nothing is forgotten. Components are averaged with the same memory.

    References
    ----------
    Mairal, Bach, Ponce and Sapiro, Online learning for matrix factorization and sparse coding,
    JMLR 2010.
    Shamir and Zhang, Stochastic gradient descent for non-smooth optimization: convergence results and
    optimal averaging schemes, ICML 2013.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 600))
    >>> result = cn.factorize(V, 3).solve(cn.Online(), stop=3)
    >>> bool(result.objective < 1.02 * cn.factorize(V, 3).solve("HALS").objective)
    True
    """

    batch_size: Count = 100
    code: Coder | None = None
    dictionary: Coder | None = None
    rounds: Count = ROUNDS
    forgetting: Weight = FORGETTING

    solves: ClassVar[type[BaseProblem]] = Problem
    needs: ClassVar = (uncapped, LossWith(("quadratic",), "which sums over batches need"))
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(20) | RelDecrease(1e-3)

    @property
    def absolute(self) -> bool:  # type: ignore[override]
        """Whether coders have thresholds in the units of the data."""
        return self.code is not None or self.dictionary is not None

    @property
    def promises(self) -> Promises:
        """The best iterate by the stated objective; codes of a coder have none."""
        return Promises(False, self.code is None, "")

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why samples cannot be coded alone, or W not improved by sums."""
        found = super().mismatches(problem) or only_products(problem)
        if found or not isinstance(problem, Problem):
            return found
        W, H = problem.blocks
        terms = (*H.constraints, *H.penalties)
        tied = [term for term in terms if not of_one_sample(term)]
        found = [f"{term} on H links samples of many batches together" for term in tied]
        found += unlearnable(W)
        if self.code is not None:
            return [*found, *no_penalties(H), *nonnegative_only(H)]
        try:
            coding_of(H)
        except IncompatibleError as error:
            found.append(str(error))
        return found

    def start(self, problem: Problem, context: Context) -> Stream:
        """Begin without a past."""
        return Stream(context.rng)

    def sweep(self, problem: Problem, factors: Factors, memo: Stream) -> Sweep[Stream]:
        """Learn from all samples, and code them by what was learned."""
        V = problem.V.tocsc() if hasattr(problem.V, "tocsc") else problem.V
        block, past = problem.blocks[0], memo.past
        B = block.rows(factors)
        order = memo.rng.permutation(V.shape[1])
        for first in range(0, len(order), self.batch_size):
            batch = V[:, order[first : first + self.batch_size]]
            lesson = self._lesson(problem, batch)
            B, _, past = lesson.learned(batch, B, past, self.rounds)
        lesson = self._lesson(problem, V)
        # By codes of all samples W no longer hangs on which of them came last.
        sums = Past.of(V, lesson.code(np.ascontiguousarray(B.T)))
        found = block.put(factors, lesson.improved(sums, B))
        found["H"] = lesson.code(found["W"])
        return Sweep(found, replace(memo, past=past))

    def _lesson(self, problem: Problem, V: Data) -> Lesson:
        return Lesson(
            problem.blocks[0],
            lambda W: self._codes(problem, V, W),
            problem.V.shape[1],
            self.forgetting,
            self.dictionary,
        )

    def _codes(self, problem: Problem, V: Data, W: Array) -> Array:
        H = problem.blocks[1]
        if self.code is None:
            return find_codes(V, W, (*H.constraints, *H.penalties), problem.fits[0].loss)
        return self.code.code(W.T @ W, np.asarray((V.T @ W).T), squared_norms(V))

    def pack(self, memo: Stream) -> dict[str, Array]:
        """Return the sums over the past."""
        past = memo.past
        if past is None:
            return {}
        counts = np.array([past.count, past.seen, past.batches])
        sums = {"G": past.G, "C": past.C, "squares": past.squares, "counts": counts}
        return sums if past.latest is None else sums | {"latest": past.latest}

    def unpack(self, arrays: dict[str, Array], memo: Stream) -> Stream:
        """Return the sums of a checkpoint."""
        if "counts" not in arrays:
            return memo
        count, seen, batches = arrays["counts"]
        G, C, squares = (arrays[name] for name in ("G", "C", "squares"))
        sums = Past(G, C, squares, float(count), int(seen), int(batches), arrays.get("latest"))
        return replace(memo, past=sums)
