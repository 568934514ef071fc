"""Who watches a solve: the user's callback, and a monitor such as a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from conicnmf.results import Iteration
from conicnmf.solve.guard import in_words
from conicnmf.solve.run_state import Run
from conicnmf.types import Array, Factors


@runtime_checkable
class Monitor(Protocol):
    """Something that watches a solve, such as a progress bar."""

    def update(self, iteration: Iteration) -> None:
        """See one iteration."""

    def close(self) -> None:
        """See the end."""


@dataclass(eq=False)
class Watchers:
    """The callback, which may end the solve, and the monitor, which may not disturb it."""

    run: Run
    callback: Callable[[Iteration, Factors], Any] | None = None
    monitor: Monitor | None = None
    around: Context = field(default_factory=copy_context)
    """What holds outside the iterations, such as how NumPy warns: the callback is called there."""

    def show(self, iteration: Iteration) -> None:
        """Show the monitor an iteration; one that raises is left out from then on."""
        if self.monitor is not None:
            try:
                self.monitor.update(iteration)
            except Exception as error:
                self.run.remark(f"the monitor raised {in_words(error)}, and was switched off")
                self.close()
                self.monitor = None

    def asked_to_stop(self, iteration: Iteration, factors: Factors) -> bool:
        """Call the callback with factors that it cannot change; return whether it wants to stop."""
        if self.callback is None:
            return False
        self.run.at = "the callback"
        stated = self.run.stated(factors)
        locked = {name: _locked(X) for name, X in stated.items()}
        return bool(self.around.run(self.callback, iteration, locked))

    def close(self) -> None:
        """Tell the monitor that it is over."""
        if self.monitor is not None:
            try:
                self.monitor.close()
            except Exception as error:
                self.run.remark(f"the monitor raised {in_words(error)} when it was closed")


def _locked(X: Array) -> Array:
    if not hasattr(X, "flags"):  # strips are never changed
        return X
    view = X.view()
    view.flags.writeable = False
    return view
