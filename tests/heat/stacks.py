# SPDX-License-Identifier: Apache-2.0
"""Stacks of a real Heat, over its API."""

from dataclasses import dataclass
import json

from keystoneauth1.adapter import Adapter

from tools.cloud.waiting import wait_for

TIMEOUT = 300
"""Timeout in seconds for one stack, on a machine that may be slow."""
BUILT = ('CREATE_COMPLETE', 'UPDATE_COMPLETE', 'CHECK_COMPLETE',
         'ADOPT_COMPLETE')


@dataclass(frozen=True)
class Stack:
    """One stack.

    :ivar path: path of its URL
    """

    heat: Adapter
    name: str
    id: str

    @property
    def path(self):
        return f'/stacks/{self.name}/{self.id}'

    def shown(self):
        return self.heat.get(self.path).json()['stack']

    def settled(self, rolls_back=False):
        """The status of the stack and its reason, as soon as Heat has
        finished. If the stack rolls back, a failure is not final: the engine
        with convergence reports it before it begins the rollback."""
        unfinished = ('_IN_PROGRESS', *(
            ('CREATE_FAILED', 'UPDATE_FAILED') if rolls_back else ()))

        def ready():
            stack = self.shown()
            if stack['stack_status'].endswith(unfinished):
                return None
            return stack['stack_status'], stack['stack_status_reason']
        return wait_for(f'stack {self.name}', ready, TIMEOUT, 0.5)

    def outputs(self):
        return {each['output_key']: each.get('output_value')
                for each in self.shown().get('outputs', ())}

    def resources(self):
        """The resources of the stack and of all nested stacks, by name."""
        return {each['resource_name']: each for each in self.heat.get(
            f'{self.path}/resources?nested_depth=5').json()['resources']}

    def servers(self):
        """UUIDs of the complete servers, by the names of their resources."""
        return {name: each['physical_resource_id']
                for name, each in self.resources().items()
                if each['resource_type'] == 'OS::Nova::Server'
                and each['resource_status'] in BUILT}

    def server_ids(self):
        """UUIDs of all complete servers, which may have equal names."""
        return {each['physical_resource_id'] for each in self.heat.get(
            f'{self.path}/resources?nested_depth=5').json()['resources']
            if each['resource_type'] == 'OS::Nova::Server'
            and each['resource_status'] in BUILT}

    def reasons(self):
        """The reasons of all events of the stack and of nested stacks."""
        return [each['resource_status_reason'] for each in self.heat.get(
            f'{self.path}/events?nested_depth=5').json()['events']]

    def update(self, template, files=None, **parameters):
        """Update the stack, which does not roll back; returns its status and
        the reason."""
        self.start_update(template, files, **parameters)
        return self.settled()

    def start_update(self, template, files=None, rollback=False,
                     converge=False, **parameters):
        self.heat.put(self.path, json={
            'template': template, 'parameters': parameters,
            'files': files or {}, 'disable_rollback': not rollback,
            'converge': converge})

    def is_busy(self):
        return any(each['resource_status'].endswith('_IN_PROGRESS')
                   for each in self.resources().values())

    def is_scaling(self, resource):
        """Whether Heat has not yet recorded the end of a step of a scaling
        group. It then changes the resource again, and an update of the stack
        that began before cannot record its own result."""
        return self.heat.get(
            f'{self.path}/resources/{resource}/metadata').json()[
                'metadata'].get('scaling_in_progress', False)

    def act(self, action):
        """Check, suspend or resume the stack; returns its status and the
        reason."""
        self.start_action(action)
        return self.settled()

    def start_action(self, action):
        self.heat.post(f'{self.path}/actions', json={action: None})

    def signal(self, resource):
        self.heat.post(f'{self.path}/resources/{resource}/signal', json={})

    def abandon(self):
        """Abandon the stack; returns the data with which another stack adopts
        its resources."""
        return self.heat.delete(f'{self.path}/abandon').json()

    def delete(self):
        self.heat.delete(self.path, raise_exc=False)
        status, reason = self.settled()
        assert status == 'DELETE_COMPLETE', reason


class Stacks:
    """The stacks of the project of a session."""

    def __init__(self, session):
        self.heat = Adapter(session, service_type='orchestration')

    def create(self, name, template, wait=True, files=None, **parameters):
        """Create a stack, and wait until it is complete, unless ``wait`` is
        false."""
        created = self.start(name, template, files=files, **parameters)
        if wait:
            status, reason = created.settled()
            assert status == 'CREATE_COMPLETE', (reason, created.reasons())
        return created

    def start(self, name, template, rollback=False, files=None,
              **parameters):
        return Stack(self.heat, name, self.heat.post('/stacks', json={
            'stack_name': name, 'template': template, 'files': files or {},
            'parameters': parameters, 'disable_rollback': not rollback,
            'timeout_mins': TIMEOUT // 60}).json()['stack']['id'])

    def adopt(self, name, template, abandoned, files=None, **parameters):
        """Create a stack that adopts the resources of an abandoned stack."""
        adopted = Stack(self.heat, name, self.heat.post('/stacks', json={
            'stack_name': name, 'template': template, 'files': files or {},
            'parameters': parameters, 'timeout_mins': TIMEOUT // 60,
            'adopt_stack_data': json.dumps(abandoned)}).json()['stack']['id'])
        status, reason = adopted.settled()
        assert status == 'ADOPT_COMPLETE', reason
        return adopted

    def refusal(self, name, template, files=None):
        """The status code and the message with which Heat refuses a
        template."""
        answer = self.heat.post('/stacks', json={
            'stack_name': name, 'template': template, 'files': files or {}},
            raise_exc=False)
        return answer.status_code, answer.json()['error']['message']

    def mistake(self, template, files=None):
        """The error that the validation of a template reports; empty if the
        template is valid."""
        answer = self.heat.post('/validate', json={
            'template': template, 'files': files or {}}, raise_exc=False)
        return answer.json().get('error', {}).get('message', '')

    def preview(self, name, template):
        return self.heat.post('/stacks/preview', json={
            'stack_name': name, 'template': template}).json()['stack']

    def clear(self):
        for each in self.heat.get('/stacks').json()['stacks']:
            Stack(self.heat, each['stack_name'], each['id']).delete()
