# %% [markdown]
# # conicnmf in a notebook
# Factorize handwritten digits into sparse parts, look at them, and check the result.
# From a clone, install it with `pip install '.[plot]'`. Problems, results, certificates, comparisons
# and figures are shown when they are the last line of a cell; no magic command is needed.

# %%
import pandas as pd

import conicnmf as cn

digits = cn.datasets.load("digits", n_samples=300)
problem = cn.factorize(digits.V, rank=9, W=[cn.NonNegative(), cn.Sparseness(min=0.8)])
problem

# %% [markdown]
# `solve` picks a solver that fits the model; here we name one. The same seed gives the same answer, and
# `progress=True` shows progress: a bar where `ipywidgets` is installed, else lines.

# %%
result = problem.solve("HALS", seed=0, stop=100)
print(f"relative error {result.relative_error:.3f}")
print(cn.sparseness(result.W, axis=0).round(3))
result

# %% [markdown]
# Each part is a column of W. A sparse part uses few pixels.

# %%
result.plot(image_shape=digits.image_shape)

# %% [markdown]
# A certificate checks the result independently of the solver.

# %%
certificate = result.certificate()
print(certificate.proves)
certificate

# %% [markdown]
# Is another solver better? `compare` runs all of them from the same starts.

# %%
cn.compare(problem, ["HALS", "ProjectedGradient"], seeds=range(2), stop=50)

# %% [markdown]
# How does the error grow with the sparseness that we ask for? `path` solves the model for each bound,
# starting from the previous result.

# %%
bounds = [0.5, 0.7, 0.9]


def at_least(bound):
    return cn.factorize(digits.V, 9, W=[cn.NonNegative(), cn.Sparseness(min=bound)])


path = cn.path(at_least, bounds, cn.HALS(), stop=50)
for bound, model in zip(bounds, path.results, strict=True):
    print(f"sparseness at least {bound}: relative error {model.relative_error:.3f}")
path.plot()

# %% [markdown]
# Data with names keep them: results list words, genes or bands instead of row numbers.

# %%
pixels = [f"row {i // 8} column {i % 8}" for i in range(64)]
frame = pd.DataFrame(digits.V, index=pixels)
cn.factorize(frame, rank=3, W=["nonnegative", cn.Sparseness(min=0.8)]).solve("HALS").top(4)
