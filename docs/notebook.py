# %% [markdown]
# # conicnmf in a notebook
# Factorize handwritten digits into sparse parts, look at them, and check the result.
# Install it with `pip install 'conicnmf[plot]'`.

# %%
import conicnmf as cn
from conicnmf.report import plot_basis

digits = cn.datasets.load("digits", n_samples=300)
problem = cn.factorize(digits.V, rank=9, W=[cn.NonNegative(), cn.Sparseness(min=0.8)])
print(problem)

# %% [markdown]
# `solve` picks a solver that fits the model; here we name one. The same seed gives the same answer.

# %%
result = problem.solve("HALS", seed=0, stop=100)
print(f"relative error {result.relative_error:.3f}")
print(cn.sparseness(result.W, axis=0).round(3))

# %% [markdown]
# Each part is a column of W. A sparse part uses few pixels.

# %%
figure = plot_basis(result, image_shape=digits.image_shape)

# %% [markdown]
# A certificate checks the result independently of the solver.

# %%
certificate = result.certificate()
print(certificate.proves)

# %% [markdown]
# How does the error grow with the sparseness that we ask for? `path` solves the model for each bound,
# starting from the previous result.

# %%
bounds = [0.5, 0.7, 0.9]


def at_least(bound):
    return cn.factorize(digits.V, 9, W=[cn.NonNegative(), cn.Sparseness(min=bound)])


for bound, model in zip(bounds, cn.path(at_least, bounds, cn.HALS(), stop=50).results, strict=True):
    print(f"sparseness at least {bound}: relative error {model.relative_error:.3f}")
