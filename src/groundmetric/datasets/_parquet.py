"""Tables in parquet files; the only module of this package that needs pyarrow."""

from typing import Any

import numpy as np

from ._cells import Cells, Floats


def read_parquet(path: str) -> Cells:
    """Read a parquet file; the index of a pandas frame comes first."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "Reading parquet needs pyarrow: pip install 'groundmetric[parquet]'."
        ) from error
    try:
        with parquet.ParquetFile(path) as file:
            table = file.read()
    except pa.ArrowException as error:
        raise ValueError(f"{path} is damaged, or not parquet: {error}.") from error
    if not table.num_rows:
        raise ValueError(f"{path} has no rows.")
    kept = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in kept if isinstance(name, str)]  # others are ranges
    names = [*index, *(name for name in table.column_names if name not in index)]
    columns = [table.column(name) for name in index]
    columns += [
        column
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in index
    ]
    return Cells(
        path,
        [*map(str, names)],
        [*map(_of_arrow, columns)],
        np.arange(table.num_rows),
        index=tuple(range(len(index))),
    )


def _of_arrow(column: Any) -> Floats | list[str]:
    from pyarrow import float64, types

    kinds = (types.is_floating, types.is_integer, types.is_boolean, types.is_null)
    if not any(is_kind(column.type) for is_kind in kinds):
        return ["" if x is None else str(x) for x in column.to_pylist()]
    found: Floats = column.cast(float64(), safe=False).to_numpy()
    return found
