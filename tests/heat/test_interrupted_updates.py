# SPDX-License-Identifier: Apache-2.0
"""The resource OS::NovaHolistic::Group, with the API of groups replaced: an
update that Heat stops, or that another one overtakes."""

from heat.common import exception
from heat.engine import resource
from heat.engine import resources
import pytest

from nova_holistic.client.errors import Refused
from nova_holistic.heat import api_client
from nova_holistic.heat import group
from tests.heat.templates import HEAD

TEMPLATE = HEAD + '''
resources:
  shop:
    type: OS::NovaHolistic::Group
    properties:
      name: shop
      members: [{name: a, resources: {VCPU: 1}}]
'''
CHANGED = TEMPLATE.replace('VCPU: 1', 'VCPU: 2')


class Groups:
    """The API of one group.

    :ivar refusals: status codes of the next updates
    :ivar sent: definitions that were accepted
    :ivar leases: seconds of the requests that extend the lease
    :ivar missing: whether the group was deleted
    """

    def __init__(self):
        self.missing = False
        self.refusals = []
        self.sent = []
        self.leases = []
        self.shown = {'task': None, 'revision': 1, 'reasons': [],
                      'members': {'planned': 1}, 'objective': 'spread'}

    def get(self, group_id):
        if self.missing:
            raise Refused(404, 'holistic.not_found', 'there is no such group')
        return dict(self.shown)

    def update(self, group_id, document, revision, objective=None):
        if self.refusals:
            raise Refused(self.refusals.pop(0), '', 'refused')
        self.sent.append(document)
        self.shown.update(task='updating', definition=document)

    def extend(self, group_id, seconds):
        if self.refusals:
            raise Refused(self.refusals.pop(0), '', 'refused')
        self.leases.append(seconds)

    def finish(self, accepted=True):
        self.shown.update(task=None, revision=1 + accepted)


class Shop:
    """The resource of the group, whose data is in memory."""

    def __init__(self, heat, monkeypatch, groups):
        self._heat = heat
        # A resource has only a weak reference to its stack.
        self._stacks = []
        self.resource = self._parsed(TEMPLATE)
        data = {}
        for name, method in (('data', lambda: data),
                             ('data_set', data.__setitem__),
                             ('data_delete', lambda key: data.pop(key, None)),
                             ('_add_event', lambda *words: None),
                             ('_client', lambda: self)):
            monkeypatch.setattr(self.resource, name, method)
        self.groups = groups
        update = self.begin(TEMPLATE)
        assert not self.resource.check_update_complete(update)
        groups.finish()
        assert self.resource.check_update_complete(update)
        groups.finish(accepted=False)
        groups.sent.clear()

    def begin(self, template, **changed):
        return self.resource.handle_update(
            self._definition(template), {}, changed)

    def failed(self, action):
        """Let an operation of a group that was deleted have failed."""
        self.groups.missing = True
        self.resource.resource_id = 'a-group'
        self.resource.action = action
        self.resource.status = self.resource.FAILED

    def needs_update(self, template):
        definition = self._definition(template)
        values = definition.properties(
            self.resource.properties_schema, self.resource.context)
        # The stored definition is the one before the update.
        return self.resource._needs_update(
            definition, definition.freeze(), values, values, None, False)

    def _definition(self, template):
        return self._parsed(template).t

    def _parsed(self, template):
        self._stacks.append(self._heat.stack(template, {}))
        return self._stacks[-1]['shop']


@pytest.fixture
def groups():
    return Groups()


@pytest.fixture
def shop(heat, monkeypatch, groups):
    # The option ``plugin_dirs`` of a heat-engine does the same.
    for name, kind in group.resource_mapping().items():
        resources.global_env().register_class(name, kind)
    return Shop(heat, monkeypatch, groups)


def test_a_rollback_sends_the_definition_after_an_update_that_timed_out(
        shop, groups):
    assert not shop.needs_update(TEMPLATE)
    update = shop.begin(CHANGED)
    # The timeout of the stack ends the update while an engine works on it.
    assert not shop.resource.check_update_complete(update)
    assert groups.shown['task'] == 'updating'
    assert shop.needs_update(TEMPLATE)


def test_a_rollback_sends_nothing_after_a_refused_definition(shop, groups):
    update = shop.begin(CHANGED)
    assert not shop.resource.check_update_complete(update)
    groups.finish(accepted=False)
    with pytest.raises(api_client.GroupUnchanged):
        shop.resource.check_update_complete(update)
    assert not shop.needs_update(TEMPLATE)


def test_an_overtaken_update_is_sent_again(shop, groups):
    groups.refusals = [409, 412]
    update = shop.begin(CHANGED)
    for _ in range(3):
        assert not groups.sent
        assert not shop.resource.check_update_complete(update)
    assert len(groups.sent) == 1
    groups.finish()
    assert shop.resource.check_update_complete(update)


@pytest.mark.parametrize('refusals', [[400], [409] * 20])
def test_a_refusal_ends_the_update(shop, groups, refusals):
    groups.refusals = refusals
    update = shop.begin(CHANGED)
    with pytest.raises(Refused):
        for _ in range(21):
            assert not shop.resource.check_update_complete(update)
    assert not groups.refusals and not groups.sent


@pytest.mark.parametrize('action', ['CHECK', 'UPDATE', 'RESUME'])
def test_a_deleted_group_with_servers_is_not_replaced(shop, action):
    shop.failed(action)
    with pytest.raises(exception.ResourceFailure) as caught:
        shop.needs_update(TEMPLATE)
    assert 'group a-group no longer exists' in str(caught.value)


def test_an_update_that_observes_the_group_finds_that_it_was_deleted(
        shop, groups):
    groups.missing = True
    assert not shop.needs_update(TEMPLATE)
    shop.resource.converge = True
    with pytest.raises(exception.ResourceFailure):
        shop.needs_update(TEMPLATE)


def test_an_update_that_observes_an_unchanged_group_sends_nothing(
        shop, groups):
    shop.resource.converge = True
    assert not shop.needs_update(TEMPLATE)
    live = {**groups.get('a-group'), 'name': 'shop', 'members': {'built': 1}}
    assert shop.resource.parse_live_resource_data(
        shop.resource.properties, live) == {}


@pytest.mark.parametrize('changed', [
    {'definition': {'name': 'shop', 'members': []}}, {'objective': 'stack'}])
def test_an_update_that_observes_the_group_restores_it(shop, groups, changed):
    """A user has changed the group, and not with Heat."""
    groups.shown.update(changed)
    template = TEMPLATE.replace('name: shop', 'name: shop\n'
                                '      objective: spread')
    assert not shop.needs_update(template)
    shop.resource.converge = True
    assert shop.needs_update(template)


@pytest.mark.parametrize('action', ['CREATE', 'DELETE'])
def test_a_deleted_group_without_servers_is_replaced(shop, action):
    shop.failed(action)
    with pytest.raises(resource.UpdateReplace):
        shop.needs_update(TEMPLATE)


def test_an_update_of_a_deleted_group_keeps_what_heat_knows(shop, groups):
    groups.missing = True
    with pytest.raises(api_client.GroupMissing):
        shop.begin(CHANGED)
    assert shop.resource.data().get(group.DEFINITION)


def test_the_lease_of_a_group_cannot_be_removed(shop, groups):
    with pytest.raises(exception.StackValidationFailed) as caught:
        shop.begin(CHANGED, lease=0)
    assert ('resources.shop.properties.lease: the lease of an existing '
            'group cannot be removed') in str(caught.value)
    assert not groups.sent and not shop.needs_update(TEMPLATE)


@pytest.mark.parametrize('members, leases', [
    ({'planned': 1}, [600]), ({'built': 1}, [])])
def test_new_members_have_the_lease_of_the_resource(
        shop, groups, members, leases):
    update = shop.begin(CHANGED.replace('name: shop', 'lease: 600'))
    assert not shop.resource.check_update_complete(update)
    groups.shown['members'] = members
    assert groups.leases == []
    groups.finish()
    if leases:
        # Another resource has just changed the group.
        groups.refusals = [409]
        assert not shop.resource.check_update_complete(update)
    assert shop.resource.check_update_complete(update)
    assert groups.leases == leases
