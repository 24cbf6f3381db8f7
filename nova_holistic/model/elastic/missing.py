# SPDX-License-Identifier: Apache-2.0
"""The members that are still missing after servers were added."""

from collections import Counter
from collections.abc import Collection, Iterable

from nova_holistic.model.elastic.counts import counts
from nova_holistic.model.group import Group
from nova_holistic.model.members.bounds import description_of


def still_missing(group: Group, live: Collection[str],
                  missing: Iterable[str]) -> list[str]:
    """The first missing paths without a server, as many as are desired.

    Servers may have other numbers than the missing ones, because a client may
    choose the numbers.

    :param group: the group as its document describes it
    :param live: paths of the servers that are planned or exist
    :param missing: paths of missing servers, or of replicas
    """
    existing = {*live, *(path[:end] for path in live
                         for end, each in enumerate(path) if each == '/')}
    places = Counter({count.path: count.missing
                      for count in counts(group, live)})
    found = []
    for path in dict.fromkeys(missing):
        # A missing replica has no Count for its members.
        description = description_of(path)
        if path in existing or (
                description in places and not places[description]):
            continue
        if description in places:
            places[description] -= 1
        found.append(path)
    return found
