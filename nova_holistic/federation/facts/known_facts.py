# SPDX-License-Identifier: Apache-2.0
"""The facts about all children that this process knows."""

from collections.abc import Mapping, Sequence

from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.facts.facts import Facts


class KnownFacts:
    """Facts that the operator wrote in the file of children."""

    def __init__(self, entries: Sequence[ChildEntry]):
        self._facts = {each.name: each.facts for each in entries
                       if each.facts is not None}

    def all(self) -> Mapping[str, Facts]:
        """By the name of the child; a child without facts is missing."""
        return dict(self._facts)
