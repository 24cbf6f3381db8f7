# SPDX-License-Identifier: Apache-2.0
"""Clouds in memory whose groups can be updated."""

from benchmarks.simulated_cloud import SimulatedCloud
from nova_holistic.documents.groups.group import parse_group
from nova_holistic.documents.plan import to_document
from nova_holistic.federation.child import (
    ChildDefinition, Refusal, RefusalKind)
from nova_holistic.federation.http import answers
from nova_holistic.model.binding import bind
from nova_holistic.model.plan import Plan
from nova_holistic.solver.solve import solve
from tests.unit.federation.clouds import DirectChild


class ChangingCloud(SimulatedCloud):
    """A cloud in memory that plans updates of its groups.

    :ivar definitions: document of each group, by its UUID
    :ivar revisions: current revision of each group, by its UUID
    """

    def __init__(self, *words, **options):
        super().__init__(*words, **options)
        self.definitions = {}
        self.revisions = {}

    def create(self, document, objective=None, lease=0, key=None):
        with self.lock:
            found = super().create(document, objective, lease, key)
            self.definitions.setdefault(found['id'], document)
            self.revisions.setdefault(found['id'], 1)
            return found

    def update(self, group_uuid, document, revision, objective=None):
        """Update a group. Members whose resources are unchanged stay on their
        hosts.

        :returns: the reasons why the definition is refused; empty if it is
            accepted
        """
        with self.lock:
            assert self.revisions[group_uuid] == revision
            record = self.groups[group_uuid]
            group = parse_group(document, self.policy_types)
            wanted = {member.path: dict(member.requirements.resources)
                      for member in bind(group, self.snapshot).all_members()}
            before = self.snapshot
            stay = {path: host for path, host in record.places.items()
                    if wanted.get(path) == record.resources[path]}
            self._use({path: host for path, host in record.places.items()
                       if path not in stay}, record.resources, -1)
            found = solve(group, self.snapshot, placed=stay,
                          objective=objective or 'spread')
            if not isinstance(found, Plan):
                self.snapshot = before
                return to_document(found, group.name).get('reasons', ())
            record.places, record.resources = found.hosts(), wanted
            record.name = group.name
            self._use({path: host for path, host in record.places.items()
                       if path not in stay}, wanted, 1)
            self.definitions[group_uuid] = document
            self.revisions[group_uuid] += 1
            return ()


class ChangingChild(DirectChild):
    """A child without HTTP over such a cloud. ``fault`` has the meaning as in
    ``DirectChild``."""

    def definition(self, group_uuid):
        return self._answer('definition', lambda: self._defined(group_uuid))

    def update(self, seen, document, terms):
        uuid = seen.group.uuid
        self.calls.append(('update', document))

        def work():
            if self.cloud.revisions[uuid] != seen.revision:
                return Refusal(self.name, RefusalKind.CHANGED)
            why = self.cloud.update(uuid, document, seen.revision,
                                    terms.objective)
            if why:
                return Refusal(self.name, RefusalKind.UNPLACEABLE, tuple(
                    answers.reason(self.name, each['at'], each['message'])
                    for each in why))
            return self._defined(uuid)
        return self._answer('update', work)

    def show(self, group_uuid):
        return self._answer('show', lambda: self.cloud.show(group_uuid)
                            and answers.group(
                                self.name, self.cloud.show(group_uuid),
                                self.cloud.placements(group_uuid)))

    def replan(self, group_uuid, seconds):
        self.calls.append(('replan', group_uuid))
        return self._answer('replan', lambda: self._shown(
            self.cloud.show(group_uuid)))

    def updates(self):
        return [document for method, document in self.calls
                if method == 'update']

    def _defined(self, group_uuid):
        found = self.cloud.show(group_uuid)
        return found and ChildDefinition(
            answers.group(self.name, found),
            self.cloud.revisions[group_uuid],
            self.cloud.definitions[group_uuid])
