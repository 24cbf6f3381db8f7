# SPDX-License-Identifier: Apache-2.0
"""Replaces the API of groups in tests of resources."""

import copy
from datetime import timedelta

from oslo_utils import timeutils

from nova_holistic.client.errors import Refused

DEFAULT = 3600


class Groups:
    """The API of one group with one unused place of each kind.

    :ivar end: naive UTC of the end of the lease
    :ivar leases: seconds of the requests that extend the lease
    :ivar refusals: status codes of the next requests to extend the lease
    """

    def __init__(self):
        self.end = None
        self.leases = []
        self.refusals = []
        self.definition = {'name': 'outside', 'members': [
            {'name': 'node-0', 'flavor': 'tiny'},
            {'name': 'worker', 'flavor': 'tiny', 'count': {
                'desired': 1, 'max': 9}}], 'groups': [
            {'name': 'cell0', 'members': [{'name': 'a', 'flavor': 'tiny'}]}]}

    def wait(self, group_id, timeout=0):
        return {'definition': copy.deepcopy(self.definition),
                'revision': 1, 'reasons': [],
                'members': {'planned': 1}, 'lease_expires_at':
                self.end and f'{self.end.isoformat(timespec="seconds")}Z'}

    def add_members(self, group_id, members):
        for member in members:
            self.definition['members'] = [
                each for each in self.definition['members']
                if each['name'] != member['name']] + [member]
        self._begin()

    def remove_member(self, group_id, path):
        self.definition['members'] = [
            each for each in self.definition['members']
            if each['name'] != path]

    def update(self, group_id, document, revision):
        self.definition = document
        self._begin()

    def extend(self, group_id, seconds):
        if self.refusals:
            raise Refused(self.refusals.pop(0), '', 'refused')
        self.leases.append(seconds)
        self.end = timeutils.utcnow() + timedelta(seconds=seconds)

    def _begin(self):
        """New members have the default lease at least."""
        if self.end is not None:
            self.end = max(self.end, timeutils.utcnow() + timedelta(
                seconds=DEFAULT))
