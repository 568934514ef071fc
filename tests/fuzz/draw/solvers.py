"""Solvers as the text that is evaluated to make them, with how often each is drawn."""

from __future__ import annotations

EVERY = {
    "None": 10,
    "cn.TangentPlane()": 3,
    "cn.SparsityMaximization()": 3,
    "cn.HALS()": 4,
    "'hals'": 1,
    "cn.HALS(sweeps=1)": 1,
    "cn.HALS(extrapolate=False)": 2,
    "cn.ANLS()": 5,
    "cn.ProjectedGradient()": 3,
    "cn.ProjectedGradient(free='multiplicative')": 4,
    "cn.Multiplicative()": 4,
    "cn.CyclicNewton()": 2,
    "cn.AcceleratedMultiplicative()": 2,
    "'Splitting'": 1,
    "cn.Coded()": 2,
    "cn.KSVD()": 1,
    "cn.Coded(cn.coding.OMP(max_atoms=2))": 1,
    "cn.Coded(cn.coding.L0({price!r}))": 1,
    "cn.Coded(cn.coding.Lasso({slope!r}), cn.coding.Threshold({entry!r}))": 0.5,
    "cn.Chain((cn.HALS(), cn.ProjectedGradient()))": 1,
    "cn.Chain((cn.ANLS(), cn.Multiplicative()), patience=1)": 1,
    "cn.Race((cn.HALS(), cn.Multiplicative()), starts=2, laps=2)": 1,
    "cn.JointNLP()": 0.3,
}
BY_COMPONENT = {
    "None": 12,
    "cn.TangentPlane()": 6,
    "'tangent-plane'": 0.5,
    "cn.TangentPlane(upper='cuts')": 1,
    "cn.SparsityMaximization()": 5,
    "cn.SparsityMaximization(rounds=3)": 1,
    "cn.SparsityMaximization(form='taylor')": 5,
    "cn.HALS()": 6,
    "cn.HALS(extrapolate=False)": 2,
    "cn.ProjectedGradient()": 4,
    "cn.ProjectedGradient(free='multiplicative')": 4,
    "cn.ProjectedGradient(max_halvings=2)": 0.5,
    "cn.Chain((cn.TangentPlane(), cn.HALS()))": 2,
    "cn.Race((cn.HALS(),), starts=3, laps=1)": 1.5,
    "cn.Race((cn.Chain((cn.TangentPlane(), cn.HALS())), cn.HALS()), starts=2, laps=3)": 1,
    "cn.Chain((cn.HALS(), cn.ProjectedGradient()))": 1,
    "cn.Multiplicative()": 0.5,
    "cn.JointNLP()": 0.3,
}
CONIC = {
    "None": 30,
    "cn.TangentPlane()": 10,
    "cn.TangentPlane(engine='conic')": 1,
    "cn.TangentPlane(engine='conic', backend='ECOS')": 0.5,
    "cn.TangentPlane(engine='conic', backend='PIQP')": 0.5,
    "cn.TangentPlane(rounds=1, linearizations=2)": 2,
    "cn.SparsityMaximization()": 6,
    "cn.SparsityMaximization(form='taylor')": 5,
    "cn.SparsityMaximization(engine='conic')": 1,
    "cn.ProjectedGradient()": 2,
    "'Splitting'": 2,
    "cn.HALS()": 1,
    "cn.Race((cn.TangentPlane(), cn.SparsityMaximization()), starts=2, laps=2)": 1,
    "cn.JointNLP()": 0.3,
}
MISFITS = {
    "cn.ANLS()": 2,
    "cn.Multiplicative()": 2,
    "cn.Coded()": 2,
    "cn.HALS()": 1,
    "cn.ProjectedGradient()": 1,
    "cn.SparsityMaximization()": 1,
    "cn.one_factor.ProjectionRule()": 1,
    "cn.one_factor.ConeAscent()": 1,
    "cn.autoencoders.SCFC()": 1,
    "cn.Chain((cn.one_factor.Oja(), cn.HALS()))": 1,
    "cn.Race((cn.HALS(), cn.one_factor.Oja()))": 1,
}
"""Solvers that often do not fit; an `IncompatibleError` must say so."""
WRONG = {"'HAL'": 1, "cn.HALS": 1, "3": 1, "cn.MaxIter(3)": 0.5}
"""What is no solver at all."""
SOLVERS = {"plain": EVERY, "components": BY_COMPONENT, "any": CONIC}
"""Solvers for each style of case: mostly some that fit, now and then one that does not."""
MONOTONE = (
    "HALS",
    "ANLS",
    "CyclicNewton",
    "AcceleratedMultiplicative",
    "Multiplicative",
    "SparsityMaximization",
    "ProjectedGradient",
)
"""The solvers that say that the objective never rises."""
