# SPDX-License-Identifier: Apache-2.0
"""The tables of the manual as lists of rows."""

import re


def list_tables(text):
    """The rows of each list-table, without the header."""
    for table in text.split('.. list-table::')[1:]:
        body = re.split(r'\n(?=[^ \n])', table)[0]
        yield [[' '.join(cell.split()) for cell in
                re.split(r'\n     -', row)]
               for row in re.split(r'\n   \* - ', body)[2:]]


def list_table(text, title):
    """The rows of the first list-table below a title."""
    return next(list_tables(text.split(f'\n{title}\n', 1)[1]))


def simple_table(text, header):
    """The rows of the table whose header begins with these words, as
    dictionaries."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines)
                 if line.split()[:len(header.split())] == header.split()
                 and re.fullmatch(r'[= ]+', lines[n - 1]))
    columns = [found.span() for found in re.finditer('=+', lines[start - 1])]
    names = _cells(lines[start], columns)
    rows = lines[start + 2:]
    end = next(n for n, line in enumerate(rows) if line.startswith('=='))
    return [dict(zip(names, _cells(row, columns), strict=True))
            for row in rows[:end]]


def _cells(line, columns):
    # The last cell may be wider than its column.
    ends = [end for _, end in columns[:-1]] + [None]
    return [line[begin:end].strip()
            for (begin, _), end in zip(columns, ends, strict=True)]
