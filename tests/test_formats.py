"""The same table in every format, and what people do to tables."""

import gzip
import importlib.util
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array

from groundmetric.datasets import read_table

NAMES = ["a", "b", "c"]
IDS = [f"S{i}" for i in range(6)]
KINDS = ["x", "y"] * 3
COUNTS = np.array([[1, 2, 5], [2, 2, 4], [0, 1, 3], [4, 4, 0], [1, 1, 2], [6, 1, 1]])
SHARES = COUNTS / COUNTS.sum(axis=1, keepdims=True)
FRAME = pd.DataFrame(COUNTS, columns=NAMES)
FRAME.insert(0, "sample", IDS)
FRAME["kind"] = KINDS


def as_csv(path):
    FRAME.to_csv(path, index=False)


def with_decimal_commas(path):
    halves = FRAME.assign(**{name: FRAME[name] / 2 for name in NAMES})
    halves.to_csv(path, index=False, sep=";", decimal=",")


def as_tabs(path):
    FRAME.to_csv(path, index=False, sep="\t")


def as_utf_16(path):
    FRAME.to_csv(path, index=False, sep="\t", encoding="utf-16")


def as_r_writes(path):
    text = FRAME.set_index("sample").to_csv(sep="\t")
    path.write_text(text.partition("\t")[2])  # without the name of the row names


def as_index(path):
    pytest.importorskip("pyarrow")
    FRAME.set_index("sample").to_parquet(path)


def as_excel(path):
    pytest.importorskip("openpyxl")
    FRAME.to_excel(path, index=False, engine="openpyxl")


def as_npz(path):
    np.savez(path, X=COUNTS, y=KINDS, ids=IDS)


def as_annotated(path, make=csr_array, counts=COUNTS):
    """Write AnnData, as its documentation describes the format."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        X = make(counts)
        group = file.create_group("X")
        kind = "csr_matrix" if make is csr_array else "csc_matrix"
        group.attrs.update({"encoding-type": kind, "shape": X.shape})
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(X, part)
        obs, var = file.create_group("obs"), file.create_group("var")
        obs.attrs["_index"], var.attrs["_index"] = "_index", "_index"
        obs["_index"], var["_index"] = IDS, NAMES
        obs["depth"] = COUNTS.sum(axis=1)
        kinds = obs.create_group("kind")
        kinds["categories"] = ["x", "y"]
        kinds["codes"] = np.array([0, 1] * 3, dtype=np.int8)


def as_columns_annotated(path):
    as_annotated(path, csc_array)


WRITERS = {
    "plain.csv": as_csv,
    "commas.csv": with_decimal_commas,
    "tabs.tsv": as_tabs,
    "tabs.txt": as_tabs,
    "windows.txt": as_utf_16,
    "r.tsv": as_r_writes,
    "packed.csv.gz": as_csv,
    "packed.tsv.gz": as_tabs,
    "index.parquet": as_index,
    "sheet.xlsx": as_excel,
    "arrays.npz": as_npz,
    "cells.h5ad": as_annotated,
    "columns.h5ad": as_columns_annotated,
}


def test_empty_sparse_rows_are_as_dense_ones(tmp_path):
    counts = COUNTS.copy()
    counts[2] = 0
    np.savez(tmp_path / "arrays.npz", X=counts, y=KINDS, ids=IDS)
    as_annotated(tmp_path / "cells.h5ad", counts=counts)
    with pytest.raises(ValueError, match=r"S2, row 2 has zero mass: .*'uniform'"):
        read_table(tmp_path / "cells.h5ad")
    for empty in ("uniform", "nan"):
        sparse = read_table(tmp_path / "cells.h5ad", empty=empty).X
        dense = read_table(tmp_path / "arrays.npz", empty=empty).X
        np.testing.assert_allclose(sparse.toarray(), dense)
    counts[2, :2] = -1, 1  # no mass, but not empty
    as_annotated(tmp_path / "cells.h5ad", counts=counts)
    with pytest.raises(ValueError, match="negative entries"):
        read_table(tmp_path / "cells.h5ad", empty="uniform")


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_holds_the_same_table(name, tmp_path):
    WRITERS[name](tmp_path / name)
    data = read_table(tmp_path / name)
    X = data.X.toarray() if hasattr(data.X, "toarray") else data.X
    assert np.allclose(X, SHARES)
    assert data.y.tolist() == KINDS
    assert data.ids.tolist() == IDS
    assert data.names in ((*NAMES,), None)
    assert data.where(2).startswith("S2, ")
    assert data.take([3, 1]).ids.tolist() == ["S3", "S1"]


def test_anndata_of_its_own_package(tmp_path):
    if importlib.util.find_spec("anndata") is None:
        pytest.skip("anndata is large; the other tests write its format by h5py")
    import anndata

    anndata.settings.allow_write_nullable_strings = True
    obs = pd.DataFrame({"kind": KINDS, "depth": COUNTS.sum(axis=1)}, index=IDS)
    for X in (COUNTS.astype(float), csr_array(COUNTS.astype(float))):
        table = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=NAMES))
        table.write_h5ad(tmp_path / "t.h5ad")
        data = read_table(tmp_path / "t.h5ad", label="kind")
        assert data.y.tolist() == KINDS
        assert data.ids.tolist() == IDS
        assert data.names == (*NAMES,)
        first = data.X[[0]]
        first = first.toarray() if hasattr(first, "toarray") else first
        assert np.allclose(first, SHARES[:1])


def test_columns_of_anndata(tmp_path):
    path = tmp_path / "t.h5ad"
    as_annotated(path)
    assert read_table(path, ignore="b").names == ("a", "c")
    assert read_table(path, label="depth").y.tolist() == COUNTS.sum(axis=1).tolist()
    like = read_table(path, ignore="b")
    assert read_table(path, like=like).names == ("a", "c")
    with pytest.raises(ValueError, match=r"label is 'none', but .* has no such col"):
        read_table(path, label="none")
    with pytest.raises(ValueError, match="transpose is for tables and arrays, not"):
        read_table(path, transpose=True)


@pytest.mark.parametrize("part", ["X", "obs", "var", "obs/_index", "X/indptr"])
def test_anndata_that_lacks_a_part(part, tmp_path):
    as_annotated(tmp_path / "t.h5ad")
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "t.h5ad", "a") as file:
        del file[part]
    with pytest.raises(ValueError, match=r"t\.h5ad is damaged, or not an AnnData file"):
        read_table(tmp_path / "t.h5ad")
    content = (tmp_path / "t.h5ad").read_bytes()
    (tmp_path / "t.h5ad").write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"t\.h5ad is damaged, or not an AnnData file"):
        read_table(tmp_path / "t.h5ad")


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [("t.xlsx", "openpyxl", "excel"), ("t.h5ad", "h5py", "h5ad")],
)
def test_packages_that_are_missing_are_named(
    name, package, extra, tmp_path, monkeypatch
):
    (tmp_path / name).write_bytes(b"")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'groundmetric\[{extra}\]'"):
        read_table(tmp_path / name)


def test_what_excel_files_have(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in ([], [None, "a", "b", "kind"], ["p", 1, 3, "x"], [], ["q", 2, "2,5"]):
        sheet.append(row)
    sheet["D5"] = "y"
    book.create_sheet("other")
    book.save(tmp_path / "t.xlsx")
    data = read_table(tmp_path / "t.xlsx")
    assert np.allclose(data.X, [[1 / 4, 3 / 4], [2 / 4.5, 2.5 / 4.5]])
    assert data.ids.tolist() == ["p", "q"]
    assert data.where(1) == "q, row 5"
    assert data.notes[0] == "sheet: 'Sheet', the first of 'Sheet', 'other'"
    assert data.notes[1].startswith("decimal commas: ")


def test_latin_1_is_said(tmp_path):
    text = "id;Größe;ß;Sorte\nä;1;2;x\nö;2;1;y\n"
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    data = read_table(tmp_path / "t.csv")
    assert data.names == ("Größe", "ß")
    assert data.ids.tolist() == ["ä", "ö"]
    assert data.notes[0].endswith("t.csv is not UTF-8: read as Latin-1 (Windows-1252)")


def test_decimal_commas_are_said_and_labels_keep_theirs(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;dose\n0,5;,5;1,50\n1;3e-1;2,5\n2,;1;1,50\n")
    data = read_table(tmp_path / "t.csv", label="dose")
    assert np.allclose(data.X, [[0.5, 0.5], [1 / 1.3, 0.3 / 1.3], [2 / 3, 1 / 3]])
    assert data.y.tolist() == ["1,50", "2,5", "1,50"]
    assert data.notes == ("decimal commas: numbers such as 0,5 are read as 0.5",)


def test_delimiters_at_the_end_of_lines_are_no_names_of_rows(tmp_path):
    (tmp_path / "t.csv").write_text("kind,a,b\nx,1,2,\ny,2,1,\n")
    with pytest.raises(ValueError, match="line 2: 4 cells, but line 1 has 3"):
        read_table(tmp_path / "t.csv", missing="zero")


def test_unknown_labels_and_groups_written_twice_are_worth_a_warning(tmp_path):
    (tmp_path / "t.csv").write_text("who,kind,a,b\n1,x,1,2\n01,NA,2,1\n2,y,1,1\n")
    with pytest.warns(UserWarning, match="taken as") as caught:
        data = read_table(tmp_path / "t.csv", groups="who")
    assert [str(one.message) for one in caught] == [
        "groups '1' and '01' are taken as two groups.",
        "label 'NA' is taken as the name of a class.",
    ]
    assert data.y.tolist() == ["x", "NA", "y"]
    assert data.groups.tolist() == ["1", "01", "2"]


def test_annotated_names_may_repeat_for_rows_but_not_for_columns(tmp_path):
    path = tmp_path / "t.h5ad"
    as_annotated(path)
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "a") as file:
        del file["obs"]["_index"]
        file["obs"]["_index"] = ["S0", *IDS[:-1]]
    data = read_table(path)
    assert data.ids is None
    assert data.y.tolist() == KINDS
    assert data.notes[0] == "left out: the index, where some are empty or the same"
    with h5py.File(path, "a") as file:
        del file["var"]["_index"]
        file["var"]["_index"] = ["a", "b", "a"]
    with pytest.raises(ValueError, match=r"t.h5ad has two columns 'a'"):
        read_table(path)
    assert read_table(path, ignore=2).names == ("a", "b")


@pytest.mark.parametrize("param", ["label", "id", "groups", "ignore"])
@pytest.mark.parametrize("name", ["lanes", 0])
def test_separators_of_thousands_beside_lanes_are_no_decimal_commas(
    param, name, tmp_path
):
    text = "lanes;kind;a;b\n1,2;x;1,234;5\n1,3;y;2,345;7\n"
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(ValueError, match="line 2, column 'a': '1,234' may have"):
        read_table(tmp_path / "t.csv", **{param: name})
    (tmp_path / "t.csv").write_text(text.replace("1,3", "both").replace("1,2;", "no;"))
    with pytest.raises(ValueError, match="line 2, column 'a': '1,234' may have"):
        read_table(tmp_path / "t.csv", **{param: name})


TURNED = "taxon\tS1\tS2\tS3\nstate\tsick\twell\tsick\nA\t1\t2\t3\nB\t3\t1\t1\n"


def test_samples_in_columns(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(TURNED)
    data = read_table(path, transpose=True)
    assert data.names == ("A", "B")
    assert data.ids.tolist() == ["S1", "S2", "S3"]
    assert data.y.tolist() == ["sick", "well", "sick"]
    assert np.allclose(data.X, [[1 / 4, 3 / 4], [2 / 3, 1 / 3], [3 / 4, 1 / 4]])
    assert data.where(1) == "S2, column 2"
    packed = tmp_path / "t.tsv.gz"
    packed.write_bytes(gzip.compress(TURNED.replace("\t1\t1\n", "\t1\tx\n").encode()))
    with pytest.raises(ValueError, match=r"gz, column 3, row 'B': 'x' is not a number"):
        read_table(packed, transpose=True, label="state")
    np.savez(tmp_path / "t.npz", X=COUNTS.T, y=KINDS)
    assert np.allclose(read_table(tmp_path / "t.npz", transpose=True).X, SHARES)
    FRAME.set_index("sample")[NAMES].T.to_parquet(tmp_path / "t.parquet")
    found = read_table(tmp_path / "t.parquet", transpose=True, labeled=False)
    assert found.ids.tolist() == IDS
    assert np.allclose(found.X, SHARES)


def test_samples_in_columns_without_names(tmp_path):
    np.savetxt(tmp_path / "t.csv", COUNTS.T, delimiter=",", fmt="%d")
    data = read_table(tmp_path / "t.csv", transpose=True, header=False, labeled=False)
    assert np.allclose(data.X, SHARES)
    assert data.ids is None


def test_samples_in_columns_without_names_of_samples(tmp_path):
    (tmp_path / "t.csv").write_text("a,0.1,0.3,0.2\nb,1,2,4\nkind,x,y,x\n")
    data = read_table(tmp_path / "t.csv", transpose=True)
    assert data.names == ("a", "b")
    assert data.ids is None
    assert data.y.tolist() == ["x", "y", "x"]
    numbers = ",".join(map(str, range(101, 113)))
    ones = ",".join("123456123451")
    (tmp_path / "t.csv").write_text(f"taxon,{numbers}\na,{ones}\nb,{ones[::-1]}\n")
    with pytest.raises(ValueError, match="take it as ids with id='taxon'"):
        read_table(tmp_path / "t.csv", transpose=True, labeled=False)
    found = read_table(tmp_path / "t.csv", transpose=True, labeled=False, id="taxon")
    assert found.ids.tolist() == numbers.split(",")


def test_samples_in_columns_are_pointed_to(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text(TURNED)
    with pytest.raises(ValueError, match=r"'state'.*samples are in columns.*transpose"):
        read_table(path, label="state")
    plain = tmp_path / "plain.csv"
    pd.DataFrame(COUNTS.T, index=NAMES, columns=IDS).to_csv(plain)
    (tmp_path / "y.txt").write_text("\n".join(KINDS))
    wanted = r"y.txt has 6 labels for 3 histograms, but it fits the 6 columns of"
    with pytest.raises(ValueError, match=rf"{wanted} .*transpose=True"):
        read_table(plain, labels=tmp_path / "y.txt")
    FRAME[["kind", "sample"]].to_csv(tmp_path / "y.csv", index=False)
    with pytest.raises(ValueError, match=r"6 names of columns are: .*transpose=True"):
        read_table(plain, labels=tmp_path / "y.csv")
    data = read_table(plain, labels=tmp_path / "y.csv", transpose=True)
    assert data.y.tolist() == KINDS
    like = read_table(plain, labeled=False, transpose=True)
    with pytest.raises(ValueError, match=r"no column 'a'.*transpose=True"):
        read_table(plain, labeled=False, like=like)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    FRAME.drop(columns="kind").to_csv(path, index=False)
    return path


def test_labels_are_matched_by_id(table, tmp_path):
    path = tmp_path / "y.csv"
    rows = [f"{kind};{name}" for name, kind in zip(IDS, KINDS, strict=True)]
    path.write_text("\n".join(["group;who", *rows[::-1], "z;S9"]))
    data = read_table(table, labels=path)
    assert data.y.tolist() == KINDS
    assert data.notes[-1].endswith("'group' of " + f"{path}, matched by id; 1 other id "
                                   f"not in {table}")  # fmt: skip
    path.write_text("\n".join(rows))  # without a header
    assert read_table(table, labels=path).y.tolist() == KINDS


def test_numbers_may_be_ids_and_labels(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\n1,1,2\n2,2,1\n3,3,1\n")
    path = tmp_path / "y.csv"
    path.write_text("stage,who\n2,1\n3,2\n1,3\n")
    with pytest.raises(ValueError, match="the ids in 2 columns; name the labels"):
        read_table(tmp_path / "t.csv", id="id", labels=path)
    data = read_table(tmp_path / "t.csv", id="id", labels=path, label="stage")
    assert data.y.tolist() == [2, 3, 1]
    path.write_text("stage,who\n2,1\n3,2\n3,3\n1,4\n")  # one stage has two
    data = read_table(tmp_path / "t.csv", id="id", labels=path)
    assert data.y.tolist() == [2, 3, 3]
    path.write_text("a,1\nb,2\nb,3\n")
    with pytest.raises(
        ValueError, match=r"label is '1', but that column of .* has the"
    ):
        read_table(tmp_path / "t.csv", id="id", labels=path, label=1)


WRONG_LABELS = {
    "no id of .* is in": "who,group\nT1,x\nT2,y\n",
    "has no label for 4 ids of .*: 'S2', 'S3', 'S4', 'S5'": "who,k\nS0,x\nS1,y\n",
    "two labels for id 'S1'": "who,k\nS0,x\nS1,y\nS1,x\n",
    "has 3 columns; name the labels with label: 'k', 'age'": "who,k,age\nS0,x,3\n",
    "y.csv has 2 labels for 6 histograms": "x\ny\n",
}


@pytest.mark.parametrize("message", WRONG_LABELS)
def test_labels_that_do_not_fit_are_refused(message, table, tmp_path):
    (tmp_path / "y.csv").write_text(WRONG_LABELS[message])
    with pytest.raises(ValueError, match=message):
        read_table(table, labels=tmp_path / "y.csv")


def test_labels_in_other_formats(table, tmp_path):
    FRAME[["sample", "a", "kind"]].to_excel(tmp_path / "y.xlsx", index=False)
    with pytest.raises(ValueError, match="name the labels with label: 'a', 'kind'"):
        read_table(table, labels=tmp_path / "y.xlsx")
    data = read_table(table, labels=tmp_path / "y.xlsx", label="kind")
    assert data.y.tolist() == KINDS
    (tmp_path / "y.txt").write_text("\n".join(["kind", *KINDS]))
    data = read_table(table, labels=tmp_path / "y.txt")
    assert data.y.tolist() == KINDS
    assert data.notes[-1].endswith("y.txt, with header 'kind'")


def test_ids_of_labels_need_ids(tmp_path):
    np.save(tmp_path / "X.npy", COUNTS)
    FRAME[["sample", "kind"]].to_csv(tmp_path / "y.csv", index=False)
    with pytest.raises(ValueError, match=r"matched by id; but .*X.npy has no ids"):
        read_table(tmp_path / "X.npy", labels=tmp_path / "y.csv")


MISSING = "id,a,b,c,kind\n1,,2,3,x\n2,NA,1,<0.01,x\n3,3,1,2,y\n4,1,1,1,y\n5,1,,1,y\n"


def test_missing_cells_are_all_listed(tmp_path):
    (tmp_path / "t.csv").write_text(MISSING)
    with pytest.raises(ValueError, match="missing") as found:
        read_table(tmp_path / "t.csv")
    assert str(found.value).endswith(
        "t.csv has 4 missing cells in 3 of 5 rows: 2 empty (line 2, column 'a'; line "
        "6, column 'b'), 1 'NA' (line 3, column 'a'), 1 '<0.01' (line 3, column 'c'); "
        "read them as zero with missing='zero', leave out their rows with "
        "missing='drop', or fill them in."
    )


def test_missing_cells_are_zero_or_dropped(tmp_path):
    (tmp_path / "t.csv").write_text(MISSING)
    (tmp_path / "y.csv").write_text("id,k\n5,e\n4,d\n3,c\n2,b\n1,a\n")
    data = read_table(tmp_path / "t.csv", missing="zero")
    assert data.X[:2].tolist() == [[0.0, 0.4, 0.6], [0.0, 1.0, 0.0]]
    assert data.notes[-1].startswith("4 missing cells in 3 of 5 rows, read as zero: 2")
    data = read_table(tmp_path / "t.csv", missing="drop", labels=tmp_path / "y.csv")
    assert data.ids.tolist() == ["3", "4"]
    assert data.y.tolist() == ["c", "d"]
    assert data.where(1) == "4, line 5"
    assert data.notes[-1].startswith("left out: 3 rows of 5, with 4 missing cells: 2 e")
    (tmp_path / "t.csv").write_text("a,b\n,1\n1,\n")
    with pytest.raises(ValueError, match="no row is left; read them as zero with"):
        read_table(tmp_path / "t.csv", missing="drop", labeled=False)
    with pytest.raises(ValueError, match="missing is 'ignore'; it must be one of"):
        read_table(tmp_path / "t.csv", missing="ignore")


def test_nan_in_arrays_and_parquet(tmp_path):
    X = COUNTS.astype(float)
    X[1, 2] = np.nan
    np.savez(tmp_path / "t.npz", X=X, y=KINDS, ids=IDS)
    with pytest.raises(ValueError, match=r"1 'NaN' \(row 1, column 2\)"):
        read_table(tmp_path / "t.npz")
    data = read_table(tmp_path / "t.npz", missing="drop")
    assert data.ids.tolist() == ["S0", *IDS[2:]]
    assert data.y.tolist() == ["x", *KINDS[2:]]
    FRAME.assign(c=X[:, 2]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"1 'NaN' \(row 1, column 'c'\)"):
        read_table(tmp_path / "t.parquet")
    data = read_table(tmp_path / "t.parquet", missing="zero")
    assert data.X[1].tolist() == [0.5, 0.5, 0.0]


def test_ids_are_spelled_as_they_are(tmp_path):
    (tmp_path / "t.csv").write_text("id,a,b\n007,1,2\n008,2,1\n07,2,2\n1,1,1\n")
    for asked in (None, "id", 0):
        data = read_table(tmp_path / "t.csv", id=asked, labeled=False)
        assert data.ids.tolist() == ["007", "008", "07", "1"]
        assert data.names == ("a", "b")
    assert read_table(tmp_path / "t.csv", keep="id", labeled=False).ids is None


def test_ids_that_are_none(tmp_path):
    (tmp_path / "t.csv").write_text("who,a,b,kind\np,1,2,x\np,2,1,y\n,1,1,x\n")
    with pytest.raises(
        ValueError, match=r"line 3, column 'who': 'p' is the id of line 2, "
    ):
        read_table(tmp_path / "t.csv", id="who")
    (tmp_path / "t.csv").write_text("who,a,b,kind\np,1,2,x\n,2,1,y\n")
    with pytest.raises(ValueError, match=r"line 3, column 'who': no id"):
        read_table(tmp_path / "t.csv", id="who")
    with pytest.raises(ValueError, match=r"^id is 'whom', but .* has no such column"):
        read_table(tmp_path / "t.csv", id="whom")
    with pytest.raises(ValueError, match="the ids with id, and leave others out with"):
        read_table(tmp_path / "t.csv")
    np.savez(tmp_path / "t.npz", X=np.eye(2), ids=["p", "p"])
    with pytest.raises(ValueError, match="two histograms have the same id"):
        read_table(tmp_path / "t.npz", labeled=False)


def test_groups_are_kept_apart(tmp_path):
    (tmp_path / "t.csv").write_text(
        "patient,a,b,kind\n01,1,2,x\n01,,1,x\n1,1,2,y\n2,1,1,y\n"
    )
    with pytest.warns(UserWarning, match="groups '01' and '1' are taken as two"):
        data = read_table(tmp_path / "t.csv", groups="patient", missing="drop")
    assert data.groups.tolist() == ["01", "1", "2"]
    assert data.names == ("a", "b")
    assert data.take([2]).groups.tolist() == ["2"]
    with pytest.raises(ValueError, match=r"^label and groups both name 'kind'"):
        read_table(tmp_path / "t.csv", label="kind", groups="kind")
    (tmp_path / "t.csv").write_text("patient,a,b,kind\n1,1,2,x\n,2,1,y\n")
    with pytest.raises(ValueError, match="line 3, column 'patient': no group"):
        read_table(tmp_path / "t.csv", groups="patient")
    as_annotated(tmp_path / "t.h5ad")
    found = read_table(tmp_path / "t.h5ad", groups="depth")
    assert found.groups.tolist() == ["8", "8", "4", "8", "4", "8"]


DELIMITED = {
    "taxa with semicolons": "id\tk;p;c\tk;p;d;e\tkind\nS1\t1\t2\tx\nS2\t2\t1\ty\n",
    "names with commas": 'id;"a, b";b;kind\nS1;1;2;x\nS2;2;1;y\n',
    "limits with commas": "id;0,5;1,5;kind\nS1;1;2;x\nS2;2;1;y\n",
    "quoted numbers": 'id,a,b,kind\nS1,"1,0","2,0",x\nS2,"0,2","0,1",y\n',
    "notes with semicolons": "id,a,b,kind\nS1,1,2,x;z;w;v;u;t\nS2,2,1,y\n",
}


@pytest.mark.parametrize("case", DELIMITED)
def test_delimiters_are_guessed(case, tmp_path):
    (tmp_path / "t.txt").write_text(DELIMITED[case])
    data = read_table(tmp_path / "t.txt")
    assert np.allclose(data.X, [[1 / 3, 2 / 3], [2 / 3, 1 / 3]])
    assert data.ids.tolist() == ["S1", "S2"]


def test_names_of_rows_as_r_writes_them_are_said(tmp_path):
    as_r_writes(tmp_path / "t.tsv")
    assert "as R writes them" in read_table(tmp_path / "t.tsv").notes[0]
