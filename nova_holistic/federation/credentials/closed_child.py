# SPDX-License-Identifier: Apache-2.0
"""A child that a user cannot reach."""

from collections.abc import Collection, Sequence

from nova_holistic.federation.child import (
    ChildDefinition, Document, Refusal, UpdateTerms)


class ClosedChild:
    """Implements ``child.Child``; every request gets the same refusal."""

    def __init__(self, name: str, refusal: Refusal):
        self.name = name
        self._refusal = refusal

    def offer(self, document: Document, objective: str | None,
              seconds: float,
              extras: Collection[str] = ()) -> Refusal:
        return self._refusal

    def create(self, document: Document, objective: str | None, lease: int,
               key: str, seconds: float) -> Refusal:
        return self._refusal

    def find(self, key: str, name: str) -> Refusal:
        return self._refusal

    def show(self, group_uuid: str) -> Refusal:
        return self._refusal

    def extend(self, group_uuid: str, seconds: int) -> Refusal:
        return self._refusal

    def release(self, group_uuid: str,
                members: Sequence[str] | None) -> Refusal:
        return self._refusal

    def delete(self, group_uuid: str) -> Refusal:
        return self._refusal

    def definition(self, group_uuid: str) -> Refusal:
        return self._refusal

    def update(self, seen: ChildDefinition, document: Document,
               terms: UpdateTerms) -> Refusal:
        return self._refusal

    def replan(self, group_uuid: str, seconds: float) -> Refusal:
        return self._refusal

    def propose_repair(self, group_uuid: str) -> Refusal:
        return self._refusal

    def repair(self, group_uuid: str, seconds: float) -> Refusal:
        return self._refusal

    def detach(self, group_uuid: str, path: str) -> Refusal:
        return self._refusal
