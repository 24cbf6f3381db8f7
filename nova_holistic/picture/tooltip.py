# SPDX-License-Identifier: Apache-2.0
"""The text about a host when the mouse pointer rests on it."""

from nova_holistic.picture import amounts
from nova_holistic.picture.scene import HostView, Load

_MOST_MEMBERS = 20


def lines(view: HostView) -> list[str]:
    """Name and location of the host, its load by resource class, and its
    members."""
    host = view.host
    head = '/'.join((*host.location, host.name))
    rows = [head if host.enabled else f'{head} (disabled)']
    rows.extend(f'violated: {each}'
                for each in view.violations[:_MOST_MEMBERS])
    rows.extend(_load(load) for load in view.loads)
    rows.extend(view.members[:_MOST_MEMBERS])
    if len(view.members) > _MOST_MEMBERS:
        rows.append(f'and {len(view.members) - _MOST_MEMBERS} more')
    return rows


def _load(load: Load) -> str:
    ratio = amounts.ratio(load.resource_class, load.before + load.planned,
                          load.capacity)
    line = f'{amounts.name(load.resource_class)}: {ratio} ({load.share:.0%})'
    if not load.planned:
        return line
    return f'{line}, of which {load.planned / load.capacity:.0%} by this plan'
