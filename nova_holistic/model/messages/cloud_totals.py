# SPDX-License-Identifier: Apache-2.0
"""Parts of a message that state how many hosts or domains the cloud has.

Only operators read such numbers; users read another text instead. The demand
of a group, and the capacity that is suitable for it, remain in the message.
"""

from nova_holistic.model.messages.marked_text import MarkedText


def total(text: str, public: str) -> MarkedText:
    """
    :param text: part of the message with the number
    :param public: the text without the number that users read instead
    """
    return MarkedText(text, totals=[(0, len(text), public)])


def part(number: int, of: int, kind: str = '') -> MarkedText:
    """``6 of 12 enabled hosts``; for users, ``part of the enabled hosts``.

    :param kind: an adjective or an empty text
    """
    noun = f'{kind} host' if kind else 'host'
    return total(f'{number or "none"} of {of} {noun}{"" if of == 1 else "s"}',
                 f'{"part" if number else "none"} of the {noun}s')
