# SPDX-License-Identifier: Apache-2.0
"""The indexes of the pages of groups: see ``queries.group_page``.

Statements contain their names. So an index cannot be removed or renamed in the
same release as the last statement with its name.
"""

from collections.abc import Sequence

import sqlalchemy as sa

_COLUMNS = {
    'by_created_at': ('created_at',),
    'by_updated_at': ('updated_at',),
    'by_name': ('name',),
    'by_status': ('status',),
    # Groups with one status or name.
    'by_status_and_created_at': ('status', 'created_at'),
    'by_status_and_updated_at': ('status', 'updated_at'),
    'by_status_and_name': ('status', 'name'),
    'by_name_and_created_at': ('name', 'created_at'),
}


def indexes() -> Sequence[sa.Index]:
    """New indexes for the table of groups: one of the groups of each project
    and one of all groups for each order."""
    return [
        index for name, columns in _COLUMNS.items() for index in (
            sa.Index(f'ix_holistic_groups_{name}', 'project_id', *columns,
                     'uuid'),
            sa.Index(f'ix_holistic_groups_all_{name}', *columns, 'uuid'))]


def index_name(of_project: bool, selected: str | None, sort_key: str) -> str:
    """The name of the index for a page of groups.

    :param of_project: whether the groups of one project are selected
    :param selected: name or status if one value of it is selected
    """
    columns = [each for each in (selected, sort_key) if each is not None]
    name = f'by_{"_and_".join(columns)}'
    if name not in _COLUMNS:
        name = f'by_{columns[0]}'
    return f'ix_holistic_groups_{"" if of_project else "all_"}{name}'
