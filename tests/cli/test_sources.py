"""What users bring: sheets of every kind, folders of pictures, and what is wrong with them."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from typer.testing import CliRunner

import conicnmf as cn
from conicnmf.cli import app
from conicnmf.cli.cells import Layout
from conicnmf.cli.data import Reading, read_data
from conicnmf.cli.delimited import read_sheet

V = np.random.default_rng(0).random((5, 4)).round(6)
NAMED = pd.DataFrame(V, columns=list("abcd"))
LABELED = NAMED.assign(gene=list("vwxyz"))[["gene", *"abcd"]]


def refused(*arguments):
    outcome = CliRunner().invoke(app, ["fit", *map(str, arguments), "--rank", "1"])
    assert outcome.exit_code == 2, outcome.output
    assert not outcome.stdout
    assert "Traceback" not in outcome.stderr
    return outcome.stderr


def sheet(tmp_path, text, name="data.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_sheet(path, Layout(**options))


@pytest.mark.parametrize(
    "options",
    [
        {"index": False},
        {"index": False, "header": False},
        {"index": False, "sep": ";"},
        {"index": False, "sep": ";", "decimal": ","},
        {"index": False, "sep": "\t", "decimal": ","},
        {"index": False, "sep": " ", "header": False},
        {"index": False, "encoding": "utf-8-sig", "lineterminator": "\r\n"},
    ],
)
def test_sheets_of_numbers_are_read_however_they_are_separated(tmp_path, options):
    path = tmp_path / "data.csv"
    NAMED.to_csv(path, **options)
    found = read_sheet(path)
    np.testing.assert_array_equal(found.values, V)
    assert found.columns == (None if options.get("header") is False else list("abcd"))


@pytest.mark.parametrize("header", [True, False])
def test_columns_of_text_are_refused_or_left_out(tmp_path, header):
    path = tmp_path / "genes.csv"
    LABELED.to_csv(path, index=False, header=header)
    said = refused(path)
    assert "'v'" in said
    assert ("line 2, column 'gene'" if header else "line 1, column number 1") in said
    assert "--skip-text" in said
    found = read_sheet(path, Layout(skip_text=True))
    np.testing.assert_array_equal(found.values, V)
    assert found.rows == list("vwxyz")


def test_a_mistyped_number_is_named_with_its_place(tmp_path):
    path = tmp_path / "typo.csv"
    path.write_text("a,b\n1,2\n3,4o\n")
    said = refused(path)
    assert "'4o' in line 3, column 'b'" in said


@pytest.mark.parametrize(
    ("frame", "options", "rows", "columns"),
    [
        (pd.DataFrame(V), {}, list("01234"), list("0123")),
        (NAMED, {}, list("01234"), list("abcd")),
        (NAMED.set_axis(list("vwxyz")), {}, list("vwxyz"), list("abcd")),
        (NAMED.set_axis([0.5, 1, 2, 3, 4]), {}, ["0.5", "1.0", "2.0", "3.0", "4.0"], list("abcd")),
        (NAMED, {"index_label": "index"}, list("01234"), list("abcd")),
        (NAMED.set_axis(list("vwxyz")), {"index_label": "gene"}, None, None),
        (NAMED, {"header": False}, None, None),
    ],
)
def test_the_index_that_pandas_writes_is_no_sample(tmp_path, frame, options, rows, columns):
    frame.to_csv(tmp_path / "data.csv", **options)
    if rows is None:  # nothing says that it is an index, so it has to be said
        found = read_sheet(tmp_path / "data.csv", Layout(index=True))
    else:
        found = read_sheet(tmp_path / "data.csv")
        assert (found.rows, found.columns) == (rows, columns)
    np.testing.assert_array_equal(found.values, V)
    assert "the first column names the rows" in found.said


def test_what_is_found_can_be_overruled(tmp_path):
    text = ",0,1\n0,5,6\n1,7,8\n"
    assert sheet(tmp_path, text).values.tolist() == [[5, 6], [7, 8]]
    assert sheet(tmp_path, text, index=False).values.tolist() == [[0, 5, 6], [1, 7, 8]]
    whole = sheet(tmp_path, text, header=False, index=False)
    np.testing.assert_array_equal(whole.values, [[np.nan, 0, 1], [0, 5, 6], [1, 7, 8]])
    assert sheet(tmp_path, "0,1\n2,3\n", header=True).columns == ["0", "1"]
    assert sheet(tmp_path, "1|2\n3|4\n", delimiter="|").values.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize("text", ["1.O,2\n3,4\n", '"1,000.5",2\n3,4\n', "x,2\n3,4\n"])
def test_a_first_line_that_may_be_names_or_numbers_is_never_dropped(tmp_path, text):
    with pytest.raises(cn.InputError, match=r"line 1 of .* must be all names or all numbers"):
        sheet(tmp_path, text)
    assert sheet(tmp_path, text, header=True).values.tolist() == [[3, 4]]


def test_a_minus_sign_of_a_typesetter_is_a_minus(tmp_path):
    found = sheet(tmp_path, "\N{MINUS SIGN}1,2\n3,\N{MINUS SIGN}4e\N{MINUS SIGN}1\n")
    assert found.values.tolist() == [[-1, 2], [3, -0.4]]


@pytest.mark.parametrize(
    ("text", "decimal", "values"),
    [
        ("1,500;2\n", ".", [[1500, 2]]),
        ("1,500;2\n", ",", [[1.5, 2]]),
        ("1.234,5;2\n", ",", [[1234.5, 2]]),
        ('"1,234.5",2\n', ".", [[1234.5, 2]]),
        ("1 234.5;2\n", ".", [[1234.5, 2]]),
        ("1'234;,5\n", ",", [[1234, 0.5]]),
        ("1,5;2e3\n", None, [[1.5, 2000]]),
    ],
)
def test_marks_mean_what_they_are_said_to_mean(tmp_path, text, decimal, values):
    assert sheet(tmp_path, text, decimal=decimal).values.tolist() == values


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("1,500;2\n", None),
        ("1,5;2.5\n", None),
        ("1,5;2.5\n", "."),
        ("1,5;2.5\n", ","),
        ("1,50,0;2\n", "."),
        ("1 234;2\n", None),
        ("5%;2\n", None),
    ],
)
def test_marks_that_may_mean_two_things_are_refused_with_the_place(tmp_path, text, decimal):
    with pytest.raises(
        cn.InputError, match=r"line 2, column 'a', which looks like a mistyped number"
    ):
        sheet(tmp_path, "a;b\n" + (text if decimal != "," else "2.5;1\n"), decimal=decimal)


def test_columns_left_out_are_named(tmp_path):
    found = sheet(tmp_path, "gene,a,day\nv,1,mo\nw,2,tu\n", skip_text=True)
    assert found.values.tolist() == [[1], [2]]
    assert "left out columns 'gene', 'day' with text" in found.said
    with pytest.raises(cn.InputError, match=r"'4o' in line 3"):  # a slip of the pen is no text
        sheet(tmp_path, "a,b\n1,2\n3,4o\n", skip_text=True)


def test_what_was_read_is_told_beside_json(tmp_path):
    NAMED.to_csv(tmp_path / "data.csv")
    arguments = ["fit", str(tmp_path / "data.csv"), "--rank", "1", "--json", "--samples-are-rows"]
    outcome = CliRunner().invoke(app, arguments)
    assert outcome.stderr == (
        "Read data: 4 features × 5 samples; separated by commas; line 1 names the columns; the first "
        "column names the rows; rows are samples\n"
    )
    assert json.loads(outcome.stdout)["factors"] == {"W": [4, 1], "H": [1, 5]}


def test_old_encodings_and_decimal_commas_are_read(tmp_path):
    found = sheet(tmp_path, "Größe;b\n1,5;2\n-,25;4e-1\n".encode("latin-1"))
    np.testing.assert_array_equal(found.values, [[1.5, 2], [-0.25, 0.4]])
    assert found.columns == ["Größe", "b"]


def test_empty_cells_are_refused_with_the_remedy_and_left_out_on_demand(tmp_path):
    path = tmp_path / "holes.csv"
    path.write_text("a,b,c\n1,2,3\n4,,6\n7,NA,9\n")
    said = refused(path)
    assert "2 of 9" in said
    assert "row 2, column 2" in said
    assert "--missing" in said
    source = read_data(str(path), Reading(missing=True))
    assert source.known.sum() == 7
    assert source.V[1, 1] == 0
    arguments = ["fit", str(path), "--rank", "1", "--missing", "--json", "--max-iter", "50"]
    told = json.loads(CliRunner().invoke(app, arguments).stdout)
    filled = np.nan_to_num(pd.read_csv(path).to_numpy())
    problem = cn.factorize(filled, 1, loss=cn.WeightedFrobenius(filled > 0))
    stop = cn.MaxIter(50) | cn.RelDecrease(1e-5)
    assert told["objective"] == problem.solve(stop=stop).objective


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2\n3,4,5\n", "got 3 in line 2"),
        ("name\nx\n", "'name'"),
        ("", "could not be read"),
        ("1,inf\n2,3\n", "finite"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(tmp_path, text, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert said in refused(path)


def test_a_sheet_of_words_alone_has_no_numbers(tmp_path):
    with pytest.raises(cn.InputError, match="must hold numbers"):
        sheet(tmp_path, "hello world\nfoo bar\n", skip_text=True)


def test_who_brings_a_sheet_gets_sheets_back_with_the_names(tmp_path):
    LABELED.to_csv(tmp_path / "genes.csv", index=False)
    arguments = ["fit", tmp_path / "genes.csv", "--rank", 2, "--skip-text", "-o", tmp_path / "out"]
    outcome = CliRunner().invoke(app, [*map(str, arguments), "--max-iter", "5"])
    assert outcome.exit_code == 0, outcome.output
    W = pd.read_csv(tmp_path / "out" / "W.csv", index_col=0)
    H = pd.read_csv(tmp_path / "out" / "H.csv", index_col=0)
    result = cn.load(tmp_path / "out" / "result")
    np.testing.assert_allclose(W, result.W)
    np.testing.assert_allclose(H, result.H)
    assert W.index.tolist() == list("vwxyz")
    assert H.columns.tolist() == list("abcd")
    assert H.index.tolist() == ["component 1", "component 2"]


def test_names_follow_their_samples(tmp_path):
    LABELED.to_csv(tmp_path / "genes.csv", index=False)
    how = Reading(samples_are_rows=True, samples=3, skip_text=True)
    source = read_data(str(tmp_path / "genes.csv"), how)
    table = LABELED.set_index("gene")
    np.testing.assert_array_equal(source.V, table.loc[source.samples].T)
    assert source.features == list("abcd")


def test_entries_below_zero_are_pointed_out(tmp_path):
    (tmp_path / "neg.csv").write_text("1,-2\n4,5\n")
    outcome = CliRunner().invoke(app, ["fit", str(tmp_path / "neg.csv"), "--rank", "1", "--json"])
    assert "negative entries (down to -2)" in outcome.stderr
    assert json.loads(outcome.stdout)["status"] == "CONVERGED"


def test_a_folder_of_pictures_is_a_matrix_with_its_image_shape(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (3, 6, 4)).astype(np.uint8)
    for name, picture in zip(("b.png", "a.PNG", "c.pgm"), pixels, strict=True):
        Image.fromarray(picture).save(tmp_path / name)
    (tmp_path / "notes.txt").write_text("not a picture")
    source = read_data(str(tmp_path))
    assert source.image_shape == (6, 4)
    assert source.samples == ["a.PNG", "b.png", "c.pgm"]
    np.testing.assert_allclose(source.V, pixels[[1, 0, 2]].reshape(3, 24).T / 255)


def test_deep_and_colored_pictures_run_from_black_to_white(tmp_path):
    Image.fromarray(np.full((2, 2), 65535, dtype=np.uint16)).save(tmp_path / "deep.png")
    Image.new("RGB", (2, 2), "white").save(tmp_path / "color.png")
    Image.new("1", (2, 2), 1).save(tmp_path / "bits.png")
    np.testing.assert_allclose(read_data(str(tmp_path)).V, 1)


def test_pictures_of_several_sizes_are_refused_or_scaled(tmp_path):
    Image.new("L", (5, 7), 100).save(tmp_path / "a.png")
    Image.new("L", (8, 7), 100).save(tmp_path / "b.png")
    assert "7x5 in a.png and 7x8 in b.png; add --image-shape 7x5" in refused(tmp_path)
    source = read_data(str(tmp_path), Reading(image_shape="3x2"))
    assert source.image_shape == (3, 2)
    np.testing.assert_allclose(source.V, 100 / 255)


def test_folders_without_pictures_and_broken_ones_are_refused(tmp_path):
    assert "got none" in refused(tmp_path)
    (tmp_path / "x.png").write_text("no picture")
    assert "x.png could not be read as a picture" in refused(tmp_path)


def test_pictures_are_samples_already(tmp_path):
    for i in range(3):
        Image.new("L", (2, 2), 10 * i).save(tmp_path / f"{i}.png")
    assert "leave out --samples-are-rows" in refused(tmp_path, "--samples-are-rows")
