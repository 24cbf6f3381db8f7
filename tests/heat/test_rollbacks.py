# SPDX-License-Identifier: Apache-2.0
"""After a failed update that Heat rolls back, the group is as before. Heat has
two engines; both call the plug-ins."""

from dataclasses import dataclass, field

import pytest

from tests.heat.placements import hosts_by_id, members, the_group
from tests.heat.templates import failing
from tests.heat.test_annotated_stacks import ANNOTATED, FILES
from tests.heat.test_group_resource import DERIVED
from tools.cloud.waiting import wait_for


@dataclass(frozen=True)
class Update:
    """An update that fails.

    :ivar template: template before the update
    :ivar growth: template of the update, with a server that fails
    :ivar grown: parameters that the update changes
    :ivar added: paths of the servers that the update creates before it fails
    :ivar refused: status after an update without a plan, by kind of engine
    :ivar files: nested templates
    :ivar parameters: parameters that do not change
    """

    template: str
    growth: str
    grown: dict[str, object]
    added: set[str]
    refused: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, object] = field(default_factory=dict)


ROLLED_BACK = 'ROLLBACK_COMPLETE'
# The legacy engine does not roll back an update that a lifecycle plug-in
# refuses before it begins.
OF_A_STACK = Update(
    ANNOTATED, ANNOTATED.replace(
        '[nodes, master]', '[nodes, master, late]'
    ) + f"  late: {failing('nodes, web, workers')}\n",
    {'size': 4, 'policy': 'soft-anti-affinity'},
    {'data/nodes/2/server', 'data/nodes/3/server'},
    {'convergence': ROLLED_BACK, 'legacy': 'UPDATE_FAILED'}, FILES)
POINTER = (', scheduler_hints: {holistic_group: {get_resource: shop}, '
           'holistic_member: late}')
OF_A_RESOURCE = Update(
    DERIVED, DERIVED.replace('''anti-affinity, level: host}]
      groups''', '''soft-anti-affinity, level: host}]
      groups''').replace(
        'outputs:', f"""  late: {failing('lb', 'web', POINTER)}
outputs:"""),
    {'size': 4}, {'web/node-2', 'web/node-3'},
    {'convergence': ROLLED_BACK, 'legacy': ROLLED_BACK},
    parameters={'level': 'rack'})


@pytest.mark.parametrize('update', (OF_A_STACK, OF_A_RESOURCE),
                         ids=('stack', 'resource'))
def test_a_failed_update_is_rolled_back(
        stacks, groups, nova, verify, engine, update):
    assert update.growth.count('late') >= 2
    stack = stacks.create('shop', update.template, files=update.files,
                          **update.parameters)
    group, before = the_group(groups), members(groups)
    places, definition = hosts_by_id(nova), groups.get(group)['definition']
    assert None not in before.values() and len(places) == 5

    def check_unchanged():
        wait_for('the release', lambda: not groups.get(
            group)['members'].get('planned'))
        assert members(groups) == before
        assert hosts_by_id(nova) == places
        assert groups.get(group)['definition'] == definition
        verify()

    # Two servers and another policy are planned, and another server fails.
    stack.start_update(update.growth, update.files, rollback=True,
                       **update.parameters, **update.grown)
    assert stack.settled(rolls_back=True)[0] == ROLLED_BACK
    assert update.added <= {each['member'] for each in groups.events(group)
                            if each['to_state'] == 'built'}
    check_unchanged()
    # No plan exists for as many servers with a hard policy.
    stack.start_update(update.template, update.files, rollback=True,
                       **update.parameters, size=8)
    refused = update.refused[engine]
    assert stack.settled(rolls_back=refused == ROLLED_BACK)[0] == refused
    assert any('the group remains unchanged' in each for each in (
        stack.shown()['stack_status_reason'], *stack.reasons()))
    check_unchanged()
    stack.delete()
    wait_for('no group', lambda: not list(groups.list()))
