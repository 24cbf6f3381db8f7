# SPDX-License-Identifier: Apache-2.0
"""Rules that map the servers of a Heat stack to members of a group."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ANY = '*'
"""A name in a rule that every name matches."""


@dataclass(frozen=True, slots=True)
class StackRule:
    """
    :ivar resource: names of the resources from the top-level stack down to the
        server, joined by ``/``; ``*`` matches any single name
    :ivar member: path of a member below the path of the binding; empty means
        the path of the binding itself. Each ``*`` is replaced by the name that
        the ``*`` of the same number in the resource matches.
    """

    resource: str
    member: str

    def path(self, names: Sequence[str]) -> str | None:
        """The path of the member for a server; None if the rule does not
        match.

        :param names: names of the resources from the top-level stack down
        """
        patterns = self.resource.split('/')
        if len(patterns) != len(names) or any(each not in (ANY, name) for each,
                                              name in zip(patterns, names)):
            return None
        matched = iter([name for each, name in zip(patterns, names)
                        if each == ANY])
        return ''.join(next(matched) if part == ANY else part
                       for part in _parts(self.member))


def below(base: str, path: str) -> str:
    """A path below another one; one of the two may be empty."""
    return '/'.join(filter(None, (base, path)))


def path_of(rules: Iterable[StackRule], names: Sequence[str]) -> str | None:
    """The path from the first rule that matches; None if no rule matches."""
    return next((path for path in (rule.path(names) for rule in rules)
                 if path is not None), None)


def _parts(text: str) -> Iterable[str]:
    """The text, split before and after each ``*``."""
    for number, part in enumerate(text.split(ANY)):
        if number:
            yield ANY
        yield part
