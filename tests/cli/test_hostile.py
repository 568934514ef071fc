"""Whatever is handed to the command line, it reads it and says how, or refuses it in a sentence."""

from __future__ import annotations

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp
from PIL import Image
from typer.testing import CliRunner

from conicnmf.cli import app

V = np.random.default_rng(0).random((4, 3)).round(3)


def npy(X, **options):
    stream = io.BytesIO()
    np.save(stream, X, **options)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def sparse(index):
    S = sp.csr_array(V)
    S.indices[0] = index
    stream = io.BytesIO()
    sp.save_npz(stream, S)
    return stream.getvalue()


def picture(kind="PNG", size=(3, 2)):
    stream = io.BytesIO()
    Image.new("L", size, 100).save(stream, kind)
    return stream.getvalue()


def mtx(S=None):
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, sp.coo_array(V) if S is None else S)
    return stream.getvalue()


SHEET = pd.DataFrame(V, columns=list("abc"))

READ = {
    "numbers.csv": "1,2,3\n4,5,6\n",
    "header.csv": "a,b,c\n1,2,3\n",
    "pandas.csv": SHEET.to_csv(),
    "pandas labels.csv": SHEET.set_axis(list("wxyz")).to_csv(),
    "pandas numbers above.csv": pd.DataFrame(V).to_csv(),
    "no line end.csv": "1,2\n3,4",
    "windows.csv": "1,2\r\n3,4\r\n",
    "old mac.csv": "1,2\r3,4\r",
    "bom.csv": "\ufeff1,2\n3,4\n",
    "utf16.csv": "a,b\n1,2\n".encode("utf-16"),
    "latin.csv": "größe,b\n1,2\n".encode("latin-1"),
    "minus.csv": "\N{MINUS SIGN}1,2\n3,4\n",
    "semicolons.csv": "1,5;2\n3;4\n",
    "tabs.tsv": "a\tb\n1\t2\n",
    "blanks.txt": "  1   2\n  3   4\n",
    "quoted.csv": '"1","2"\n"3","4"\n',
    "blank lines.csv": "\n\n1,2\n\n3,4\n\n",
    "one column.csv": "1\n2\n3\n",
    "one row.csv": "1,2,3\n",
    "one cell.csv": "1\n",
    "integers.npy": npy(np.arange(6).reshape(2, 3)),
    "half.npy": npy(V.astype(np.float16)),
    "bytes.npy": npy((V > 0.5).astype(np.uint8)),
    "fortran.npy": npy(np.asfortranarray(V)),
    "big endian.npy": npy(V.astype(">f8")),
    "named.npz": npz(V=V, other=V),
    "only.npz": npz(label=np.arange(3), anything=V),
    "sparse.npz": sparse(0),
    "dense.mtx": mtx(V),
    "sparse.mtx": mtx(),
    "upper.CSV": "1,2\n3,4\n",
}

REFUSED = {
    "empty.csv": "",
    "blank.csv": "\n \n\n",
    "words.csv": "hello,world\nfoo,bar\n",
    "typo.csv": "1.O,2\n3,4\n",
    "typo below.csv": "a,b\n1,2\n3,4o\n",
    "thousands.csv": '"1,000.5",2\n3,4\n',
    "thousands below.csv": 'a,b\n1,2\n"1,000",4\n',
    "unclear comma.csv": "1,500;2\n3;4\n",
    "both marks.csv": "1,5;2.5\n3;4\n",
    "blank in number.csv": "1 000;2\n3;4\n",
    "percent.csv": "5%,1\n7%,2\n",
    "currency.csv": "$5,1\n$7,2\n",
    "names and numbers.csv": "a,2\n3,4\n",
    "hexadecimal.csv": "0x10,2\n3,4\n",
    "wide digits.csv": "１,2\n3,4\n",
    "words below.csv": "a,b\n1,x\n2,y\n",
    "labels.csv": "x,1\ny,2\n",
    "ragged.csv": "1,2\n3,4,5\n",
    "short.csv": "1,2\n3\n",
    "holes.csv": "1,\n3,4\n",
    "nan.csv": "1,nan\n3,4\n",
    "infinite.csv": "1,inf\n3,4\n",
    "huge.csv": "1e400,1\n2,3\n",
    "quote.csv": '"1,2\n3,4\n',
    "zeros.csv": b"1,2\n\x00\x00\x00\n",
    "random.csv": np.random.default_rng(0).bytes(500),
    "json.csv": '{"a": [1, 2]}',
    "html.csv": "<html><body>1,2</body></html>",
    "picture.csv": picture(),
    "header alone.csv": "a,b\n",
    "nothing.npy": b"",
    "cut.npy": npy(V)[:-9],
    "cut header.npy": npy(V)[:20],
    "random.npy": np.random.default_rng(1).bytes(400),
    "other version.npy": b"\x93NUMPY\x09\x00" + npy(V)[8:],
    "objects.npy": npy(np.array([{}]), allow_pickle=True),
    "words.npy": npy(np.array([["a", "b"]])),
    "complex.npy": npy(V + 1j),
    "dates.npy": npy(np.array([["2020-01-01"]], dtype="datetime64[D]")),
    "records.npy": npy(np.zeros(3, dtype=[("a", float)])),
    "vector.npy": npy(np.arange(4.0)),
    "cube.npy": npy(np.zeros((2, 2, 2))),
    "no rows.npy": npy(np.zeros((0, 3))),
    "no columns.npy": npy(np.zeros((3, 0))),
    "not finite.npy": npy(np.array([[np.inf, 1.0]])),
    "too large.npy": npy(np.array([[1e300, 1.0]])),
    "pickle.npy": pickle.dumps(V),
    "zip.npy": npz(V=V),
    "nothing.npz": b"",
    "cut.npz": npz(V=V)[:-40],
    "flipped.npz": npz(V=V).replace(V[0, 0].tobytes(), V[0, 1].tobytes(), 1),
    "array.npz": npy(V),
    "no arrays.npz": npz(),
    "two arrays.npz": npz(a=V, b=V),
    "vectors.npz": npz(a=np.arange(3.0)),
    "objects.npz": None,
    "text.npz": "1,2\n3,4\n",
    "beyond.npz": sparse(10**7),
    "before.npz": sparse(-1),
    "half sparse.npz": npz(format=np.array("csr"), shape=np.array([2, 2]), data=np.ones(2)),
    "odd format.npz": npz(format=np.array("xyz"), shape=np.array([2, 2]), data=np.ones(2)),
    "nothing.mtx": "",
    "text.mtx": "1,2\n3,4\n",
    "cut.mtx": mtx()[:-30],
    "beyond.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 1\n9 9 1.0\n",
    "negative.mtx": "%%MatrixMarket matrix coordinate real general\n-2 2 1\n1 1 1.0\n",
    "letters.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 x 1.0\n",
    "complex.mtx": "%%MatrixMarket matrix array complex general\n1 1\n1.0 2.0\n",
    "vast.mtx": "%%MatrixMarket matrix array real general\n99999999999 99999999999\n1\n",
    "sheet.xlsx": b"PK\x03\x04",
    "no ending": "1,2\n3,4\n",
}


def fit(*arguments):
    outcome = CliRunner().invoke(app, ["fit", *map(str, arguments)])
    stray = outcome.exception
    assert stray is None or isinstance(stray, SystemExit), repr(stray)
    assert "Traceback" not in outcome.output
    return outcome


def written(tmp_path, name, content):
    path = tmp_path / name
    if content is None:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("V.npy", npy(np.array([[{}]]), allow_pickle=True))
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


QUICK = ("--rank", 1, "--max-iter", 2, "--no-certificate", "--solver", "HALS")


@pytest.mark.parametrize("name", READ)
def test_what_is_plain_is_read_and_it_is_said_how(name, tmp_path):
    outcome = fit(written(tmp_path, name, READ[name]), *QUICK)
    assert outcome.exit_code == 0, outcome.output
    said = [line for line in outcome.stderr.splitlines() if line.startswith("Read ")]
    assert len(said) == 1
    assert "features ×" in said[0]


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_is_refused_in_a_sentence(name, tmp_path):
    outcome = fit(written(tmp_path, name, REFUSED[name]), *QUICK)
    assert outcome.exit_code == 2, outcome.output
    assert not outcome.stdout
    assert ";" in outcome.stderr  # the rule and the value, then the remedy


OPTIONS = {
    "rank 0": ("--rank", 0),
    "negative rank": ("--rank", -3),
    "rank of words": ("--rank", "two"),
    "negative seed": ("--seed", -1),
    "no time": ("--time-limit", "nan"),
    "negative time": ("--time-limit", -1),
    "sparseness above one": ("--sparse-w", 1.5),
    "sparseness of nothing": ("--sparse-w", "nan"),
    "upside down": ("--sparse-w", 0.9, "--sparse-w-max", 0.1),
    "negative weight": ("--l1-h", -1),
    "no such solver": ("--solver", "nope"),
    "half a chain": ("--solver", "HALS+"),
    "image of words": ("--image-shape", "ax2"),
    "image of squares": ("--image-shape", "²x2"),
    "image of nothing": ("--image-shape", "0x0"),
    "image that does not fit": ("--image-shape", "7x7"),
    "no samples": ("--samples", 0),
    "too many samples": ("--samples", 99),
    "long delimiter": ("--delimiter", "ab"),
    "odd decimal": ("--decimal", "x"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_out_of_range_are_refused(name, tmp_path):
    path = written(tmp_path, "V.csv", "1,2,3\n4,5,6\n")
    outcome = fit(path, "--rank", 1, *OPTIONS[name])
    assert outcome.exit_code == 2, outcome.output


def test_folders_that_hold_no_pictures_are_refused(tmp_path):
    assert fit(tmp_path, *QUICK).exit_code == 2
    (tmp_path / "a.png").write_bytes(b"not a picture")
    assert fit(tmp_path, *QUICK).exit_code == 2
    (tmp_path / "a.png").write_bytes(picture()[:30])
    assert fit(tmp_path, *QUICK).exit_code == 2
    (tmp_path / "a.png").write_bytes(picture())
    (tmp_path / "b.png").mkdir()
    assert fit(tmp_path, *QUICK).exit_code == 2
    assert fit(tmp_path / "nowhere.csv", *QUICK).exit_code == 2
