# SPDX-License-Identifier: Apache-2.0
"""The API of a parent, with clouds in memory as its children."""

import time

from nova_holistic.cli.components import federation_components
from nova_holistic.federation.children_file import ChildEntry
from nova_holistic.federation.credentials.registrations import Registrations
from nova_holistic.federation.facts.known_facts import KnownFacts
from nova_holistic.federation.offers.dependencies import Dependencies
from nova_holistic.federation.offers.history import History
from nova_holistic.federation.planners import Planners
from nova_holistic.solver.milp.backend import load_backend
from tests.unit.api.service import MEMBER, Service
from tests.unit.federation.clouds import Federation, TYPES

LATEST = {'OpenStack-API-Version': 'holistic 1.3'}


class Children:
    """A replacement of UserChildren in which every user reaches every child.
    """

    own_name = f'europe:{0:016}'

    def __init__(self, children):
        self._children = children
        self.entries = {name: ChildEntry(name, endpoint='http://example.org')
                        for name in children}

    def of(self, user):
        return self._children

    def child(self, user, name):
        return self._children[name]

    def child_of(self, user, part):
        return self._children[part.child]


class Parent(Service):
    """A service that is a parent. Its clock moves only while a caller sleeps.

    :ivar clouds: the federation of clouds in memory
    """

    def __init__(self, table, clouds=None, make=None, **options):
        """Create a service.

        :param clouds: snapshots by the names of the clouds
        :param make: see ``Federation``
        :param options: options of [federation]
        """
        self.clouds = Federation(make=make, **clouds or {})
        self.options = options
        super().__init__(table)

    def renew(self):
        for name, value in {'refresh_interval': 0.0, **self.options}.items():
            self.conf.set_override(name, value, group='federation')
        clock, children = self.clouds.time, self.user_children()
        planners = Planners(
            self.conf, children, KnownFacts((), {}, 0.0, clock.now),
            Dependencies(
                TYPES, load_backend('highs'), History(), clock.now,
                clock.timer, clock.sleep))
        self.engines = federation_components.assembled(
            self.conf, self.table, children, planners, clock.now)
        self.federation = self.engines
        self.credentials = Registrations(children, None)
        super().renew()

    def user_children(self):
        """Return the children of the parent, as a UserChildren."""
        return Children(self.clouds.children)

    def post(self, document, **more):
        """Create a group, and wait until it is settled."""
        answer = self.ask('POST', '/v1/groups', {'group': document, **more})
        assert answer.status_int == 202, answer.text
        return self.settled(answer.json['group']['id'])

    def settled(self, group):
        return self._until(lambda: self.get(group), lambda found:
                           found['task'] is None)

    def planned(self, document, **more):
        """Return the response to a request for a plan, after the plan is
        finished."""
        answer = self.ask('POST', '/v1/plans', {'group': document, **more})
        assert answer.status_int == 202, answer.text
        plan = answer.json['plan']['id']
        return self._until(
            lambda: self.ask('GET', f'/v1/plans/{plan}').json['plan'],
            lambda found: found['status'] != 'planning')

    def get(self, group):
        return self.ask('GET', f'/v1/groups/{group}',
                        headers=LATEST).json['group']

    def members(self, group, token=MEMBER):
        """Return the placement of each member by its path."""
        found = self.ask('GET', f'/v1/groups/{group}/placements', token=token,
                         headers=LATEST)
        return {each['member']: each for each in found.json['placements']}

    @staticmethod
    def _until(read, done):
        """Wait for other threads in real time."""
        for _ in range(600):
            found = read()
            if done(found):
                return found
            time.sleep(0.05)
        raise AssertionError(found)
