# SPDX-License-Identifier: Apache-2.0
"""The manual and the table of filters agree."""

import pathlib
import re

from nova_holistic.constraints import filter_table

PAGE = pathlib.Path('doc/source/admin/nova-filters.rst')


def test_the_manual_lists_each_filter_with_its_status():
    root = pathlib.Path(__file__).parents[3]
    rows = re.findall(r'\* - ``(\w+)``\n     - (.+)\n',
                      (root / PAGE).read_text())
    assert dict(rows) == {
        rule.name: rule.status.value
        for rule in (*filter_table.FILTERS, *filter_table.REQUEST_FILTERS)}
    assert len(rows) == len(dict(rows))
