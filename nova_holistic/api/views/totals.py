# SPDX-License-Identifier: Apache-2.0
"""Reasons that engines of earlier versions wrote, without the numbers of hosts
and domains in the cloud.

These engines did not mark the numbers, so they are found by the sentences of
these versions. Other sentences need no pattern here: see
``nova_holistic.model.messages.cloud_totals``.
"""

import re

_PLACE = r'(?: of …)?'
_END = r'(?=$|[;,:])'

_RULES = tuple((re.compile(pattern), instead) for pattern, instead in (
    # "6 of 12 enabled hosts", "none of 12 hosts"
    (r'\bnone of \d+ ((?:enabled )?)hosts?\b', r'none of the \1hosts'),
    (r'\b\d+ of \d+ ((?:enabled )?)hosts?\b', r'part of the \1hosts'),
    # "none of these 6", "1 of these 6", "these 6 have room"
    (r'\b\d+ of these \d+\b', 'part of these'),
    (r'\bthese \d+\b', 'these'),
    # "there are 20", "there are 2 hosts with trait X"
    (rf'\bthere (?:is|are) \d+{_END}', 'there are too few'),
    (r'\bthere (?:is|are) \d+ hosts?\b', 'there are too few hosts'),
    # "az1 has 6", "3 of az1 are left", "only 1 may be used"
    (rf'… has \d+{_END}', '… has too few'),
    (rf'\b\d+({_PLACE}) (?:is|are) left\b', r'too few\1 are left'),
    (r'\bonly \d+ may be used\b', 'too few may be used'),
    # "no plan for 5 members on 12 hosts was found"
    (r'\bon \d+ hosts (?=was|is)', 'on the hosts '),
))


def without_totals(text: str) -> str:
    """The message, in which names are hidden already."""
    for pattern, instead in _RULES:
        text = pattern.sub(instead, text)
    return text
