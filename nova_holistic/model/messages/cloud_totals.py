# SPDX-License-Identifier: Apache-2.0
"""Parts of a message that state how many hosts or domains the cloud has.

Only operators read such numbers. Users read another text in their place. What
a group asks for, and what has room for it, stays in a message.
"""

from nova_holistic.model.messages.marked_text import MarkedText


def total(text: str, public: str) -> MarkedText:
    """
    :param text: a part with the number
    :param public: the part that users read instead, without the number
    """
    return MarkedText(text, totals=[(0, len(text), public)])


def part(number: int, of: int, kind: str = '') -> MarkedText:
    """``6 of 12 enabled hosts``; for users, ``part of the enabled hosts``.

    :param kind: an adjective, or nothing
    """
    noun = f'{kind} host' if kind else 'host'
    return total(f'{number or "none"} of {of} {noun}{"" if of == 1 else "s"}',
                 f'{"part" if number else "none"} of the {noun}s')
