# SPDX-License-Identifier: Apache-2.0
"""Finds the names of hosts and domains in the text of reasons."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
import re

from nova_holistic.model.cloud.snapshot import Host, Snapshot
from nova_holistic.model.plan import Reason

_WORD = re.compile(r"[^\s,;:()'\"]+")

_PLAIN = re.compile('[a-z]+|[0-9]+')
"""Text that may also be a common word or a number."""

_KINDS = frozenset({'host', 'node', 'domain', 'zone'})
"""Words before a name, in addition to the levels."""

_PREPOSITIONS = re.compile(r'(?:^|\s)(?:of|on|in|at|below|from|to) $')
_CLAUSE = re.compile(r'(?:^|[;:] )$')
_DOES = re.compile(r' (?:has|holds|takes|is)\b')
_DO = re.compile(r' (?:has|have|holds?|takes?|is|are)\b')
_END = re.compile(r"$|[,;:()'\"]")
_JOINED = re.compile(r',? (?:and |or )?|,')


def mark_names(
        reasons: Sequence[Reason], snapshot: Snapshot) -> tuple[Reason, ...]:
    """The same reasons with marks at the names of hosts and domains, so that
    these names can be hidden from users who may not see them.

    A reason with marked names is returned unchanged. In other reasons, such as
    those of a policy that marks no names, names are searched. A name that may
    be an English word or a number, such as ``a`` or ``3``, is recognised only
    where a sentence has a name: after its level, as in *rack a*, in quotes, or
    where only a name is possible. Any other name is recognised everywhere.
    """
    words = {word for reason in reasons
             if reason.names is None
             for word in _WORD.findall(reason.message)}
    if not words:
        return tuple(reasons)
    names = {name for host in snapshot.hosts for name in _names(host)
             if name in words}
    kinds = {*_KINDS, *snapshot.levels,
             *(key for host in snapshot.hosts for key in host.labels)}
    return tuple(_named(reason, names, kinds) if reason.names is None
                 else reason for reason in reasons)


def _named(reason: Reason, names: Collection[str],
           kinds: Collection[str]) -> Reason:
    text, spans = reason.message, []
    known = reason.hidden or ()
    for match in _WORD.finditer(text):
        if match.group() in names and (
                not _PLAIN.fullmatch(match.group())
                or _is_name(text, match, kinds, spans)):
            spans.append(match.span())
    # Marked parts stay marked, even if they contain other names.
    spans = sorted((*known, *(
        (start, end) for start, end in spans
        if not any(start < last and first < end for first, last in known))))
    return replace(
        reason, hidden=tuple(spans),
        names=tuple(sorted({text[start:end] for start, end in spans})))


def _is_name(text: str, match: re.Match[str], kinds: Collection[str],
             before: Sequence[tuple[int, int]]) -> bool:
    """Whether a plain word is a name at its position.

    :param before: the words that precede names
    """
    head, start, end = text[:match.start()], match.start(), match.end()
    if head[-1:] in ('"', "'") and text[end:end + 1] == head[-1]:
        return True
    last = _WORD.findall(head)[-1:]
    if last and last[0] in kinds and head.endswith(f'{last[0]} '):
        return True
    if match.group().isdecimal():
        return False
    if before and _JOINED.fullmatch(text[before[-1][1]:start]):
        return True
    if _PREPOSITIONS.search(head):
        return bool(_DO.match(text, end) or _END.match(text, end))
    return bool(_DOES.match(text, end) and _CLAUSE.search(head))


def _names(host: Host) -> Iterator[str]:
    """The names of the host and of all its domains, as single names and as
    paths."""
    yield host.name
    yield host.node
    path = (*host.location, host.name)
    yield from host.location
    yield from ('/'.join(path[:end]) for end in range(2, len(path) + 1))
    yield from host.labels.values()
