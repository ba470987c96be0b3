"""Tables in parquet files; the only module of this package that needs pyarrow."""

from typing import Any

import numpy as np

from ._cells import Cells, Floats
from ._reading import listed


def read_parquet(path: str, notes: list[str]) -> Cells:
    """Read a parquet file, without the index of a pandas frame."""
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
    if index:
        notes.append(f"left out: the index, {listed(index)}")
        table = table.drop_columns(index)
    names = list(map(str, table.column_names))
    return Cells(path, names, [*map(_of_arrow, table)], np.arange(table.num_rows))


def _of_arrow(column: Any) -> Floats | list[str]:
    from pyarrow import float64, types

    kinds = (types.is_floating, types.is_integer, types.is_boolean, types.is_null)
    if not any(is_kind(column.type) for is_kind in kinds):
        return ["" if x is None else str(x) for x in column.to_pylist()]
    found: Floats = column.cast(float64(), safe=False).to_numpy()
    return found
