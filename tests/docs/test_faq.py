"""The error messages shown in the documentation are those users get."""

import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import conicnmf as cn

PAGE = (Path(__file__).parents[2] / "docs/faq.md").read_text(encoding="utf-8")
SHOWN = re.findall(
    r"^```python raises\n(.*?)^```\n```text\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL
)


def one_line(text):
    return " ".join(text.split())


def test_every_failing_block_shows_its_message():
    assert len(SHOWN) == PAGE.count("python raises") >= 12


@pytest.mark.parametrize(("code", "message"), SHOWN, ids=[one_line(m)[:40] for _, m in SHOWN])
def test_code_raises_the_message_shown(code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cn.ConicNMFError) as caught:
        exec(code, {"cn": cn, "cp": cp, "np": np})
    assert one_line(message) in one_line(str(caught.value))
