"""Every script in examples/ runs, is short, and saves a picture."""

import re
import runpy
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from conicnmf.datasets import _load, local, openml
from conicnmf.datasets.catalog import STORED
from conicnmf.testing import check_constraint

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
LONGEST = {
    "audio_starts.py": 75,
    "consensus_genes.py": 70,
    "topic_coherence.py": 80,
    "unmixing_scene.py": 130,
    "missing_entries.py": 60,
    "piano_notes.py": 62,
    "coupled_views.py": 75,
    "ratings.py": 120,
    "robust_unmixing.py": 85,
    "topics_of_counts.py": 70,
    "words_beyond_chance.py": 65,
}
OWN = "custom_*.py"  # a whole term or solver, and its use
NEEDS = {
    "audio_starts.py": "piano",
    "consensus_genes.py": "all_aml",
    "topic_coherence.py": "reuters_395",
    "unmixing_scene.py": "jasper_ridge",
    "topics.py": "reuters_395",
    "topics_of_counts.py": "reuters_395",
    "piano_notes.py": "piano",
    "sparse_spectra.py": "piano",
    "smooth_activations.py": "piano",
    "large_text.py": "tdt2",
    "robust_unmixing.py": "jasper_ridge",
    "words_beyond_chance.py": "newsgroups_w100",
}


SHARES = r"RMSE of shares ([\d.]+)"
CLAIMS = {  # what the pages by field say of the figures that are printed
    "unmixing_scene.py": (SHARES, lambda vca, nmf, ours: ours <= min(vca, nmf)),
    "robust_unmixing.py": (SHARES, lambda vca, squares, huber, ours: ours <= vca),
    "topic_coherence.py": (
        r"mean NPMI ([\d.]+)",
        lambda theirs, ours, sparse: max(ours, sparse) >= theirs,
    ),
    "missing_entries.py": (
        r"relative error ([\d.]+)",
        lambda mean, theirs, ours: ours <= min(mean, theirs),
    ),
}


@pytest.fixture(autouse=True)
def quiet_pictures(monkeypatch):
    mpl.use("Agg")
    yield
    plt.close("all")


def run(script, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [str(script), *map(str, arguments)])
    return runpy.run_path(str(script), run_name="__main__")


def is_picture(path):
    pixels = plt.imread(path)
    return pixels[..., :3].std() > 0.01  # not a blank page


def test_there_are_examples():
    assert len(SCRIPTS) >= 6


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_runs_and_saves_its_picture(script, tmp_path, monkeypatch, capsys):
    stored = STORED.get(NEEDS.get(script.name, ""))
    if stored is not None and local.find(stored) is None:
        pytest.skip(f"{stored.file} is not on this machine; set {local.VARIABLE}")
    output = tmp_path / "picture.png"
    run(script, monkeypatch, output)
    assert is_picture(output)
    said = capsys.readouterr().out
    assert str(output) in said
    if script.name in CLAIMS:
        pattern, holds = CLAIMS[script.name]
        assert holds(*map(float, re.findall(pattern, said)))


@pytest.mark.parametrize("name", NEEDS)
def test_example_says_which_data_are_missing(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_load, "find", lambda stored: None)
    monkeypatch.setattr(openml, "DOWNLOADS", {})
    run(EXAMPLES / name, monkeypatch, tmp_path / "picture.png")
    said = capsys.readouterr().out
    assert STORED[NEEDS[name]].file in said
    assert local.VARIABLE in said
    assert "picture:" not in said


def test_ratings_without_a_connection_are_generated(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_load, "find", lambda stored: None)
    monkeypatch.setattr(openml, "DOWNLOADS", {})
    V = runpy.run_path(str(EXAMPLES / "ratings.py"))["ratings"]()
    assert "generated ratings" in capsys.readouterr().out
    assert set(V.data) <= {k / 2 for k in range(1, 11)}


def test_example_without_a_path_saves_to_a_temporary_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run(EXAMPLES / "custom_constraint.py", monkeypatch)
    (saved,) = tmp_path.glob("*/custom_constraint.png")
    assert is_picture(saved)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_example_is_short(script):
    code = script.read_text().split('"""', 2)[2]  # the story above it may take what it needs
    longest = 75 if script.match(OWN) else LONGEST.get(script.name, 58)
    assert len(code.splitlines()) < longest


def test_constraint_of_the_example_is_what_it_says_it_is():
    check_constraint(runpy.run_path(str(EXAMPLES / "custom_constraint.py"))["Rising"])
