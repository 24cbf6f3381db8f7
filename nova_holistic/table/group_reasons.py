# SPDX-License-Identifier: Apache-2.0
"""Reasons for missing members, among the reasons of a group.

A group with a plan may have fewer members than desired. A reason for this
names the missing members in ``missing``. It stays until the members exist, or
until an update or a release decides about them. Each task of the group
replaces all other reasons.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nova_holistic.model.members.bounds import description_of

Row = Mapping[str, Any]
"""A reason in the form of the placement table: see ``Reason.to_row``."""

Rows = Sequence[Row]

ChangedReasons = Callable[[Rows], Rows]
"""The new reasons of a group, computed from its current reasons."""


def about_missing(reasons: Iterable[Row]) -> list[Row]:
    """The reasons for missing members."""
    return [reason for reason in reasons if reason.get('missing')]


def about_others(reasons: Iterable[Row]) -> list[Row]:
    """All other reasons."""
    return [reason for reason in reasons if not reason.get('missing')]


@dataclass(frozen=True, slots=True)
class BesideMissing:
    """The reasons after a task that does not change how many members the
    group has. The reasons for missing members stay.

    :ivar new: reasons that replace the others
    """

    new: Rows = ()

    def __call__(self, before: Rows) -> Rows:
        return [*map(dict, self.new), *about_missing(before)]

    def with_more(self, more: Rows) -> 'BesideMissing':
        """The reasons with others behind the new ones."""
        return BesideMissing([*self.new, *more])


def with_repeated(before: Rows, reason: Row) -> list[Row]:
    """The reasons while a task has failed and is repeated. The reason replaces
    the one of an earlier attempt."""
    return [{**reason, 'repeated': True}, *without_repeated(before)]


def without_repeated(before: Rows) -> list[Row]:
    """The reasons after a task that changes no others."""
    return [reason for reason in before if not reason.get('repeated')]


def without_missing(before: Rows) -> Rows:
    """The reasons of a group that gets no further members."""
    return about_others(before)


def reduced(before: Rows, remaining: Callable[
        [Sequence[str]], Collection[str]]) -> Rows:
    """The reasons when some members are no longer missing.

    :param remaining: receives the paths of the missing members, in their
        order; returns those that are still missing
    """
    missing = remaining(missing_paths(before))
    return [each for reason in before
            if (each := _reduced(reason, missing)) is not None]


def without_paths(before: Rows, paths: Collection[str]) -> Rows:
    """The reasons when these members and replicas are not missing any longer.

    :param paths: paths of members, of replicas and of descriptions
    """
    return reduced(before, lambda missing: [
        path for path in missing if path not in paths
        and description_of(path) not in paths])


def missing_paths(reasons: Iterable[Row]) -> list[str]:
    """The paths of the missing members, in their order."""
    return [path for reason in about_missing(reasons)
            for path in reason['missing']]


def _reduced(reason: Row, missing: Collection[str]) -> Row | None:
    """A reason for fewer missing members; None if it explains none."""
    before = reason.get('missing')
    if not before:
        return reason
    after = [path for path in before if path in missing]
    if not after:
        return None
    # The first of several reasons lists the missing members as its position.
    at = reason['at'] if reason['at'] != ', '.join(before) else (
        ', '.join(after))
    return {**reason, 'at': at, 'missing': after}
