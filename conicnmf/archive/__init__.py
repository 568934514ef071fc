"""Files that outlive the process that wrote them: one writer and one reader for all of them.

`Format` is a kind of file; `Arrays` are those of any .npz; `number` and `text` read values back.
`UnwritableError` is raised where a file cannot be written.
"""

from conicnmf.archive.arrays import Arrays
from conicnmf.archive.format import Format, Record, UnwritableError
from conicnmf.archive.values import number, text

__all__ = ["Arrays", "Format", "Record", "UnwritableError", "number", "text"]
