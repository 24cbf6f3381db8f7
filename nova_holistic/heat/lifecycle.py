# SPDX-License-Identifier: Apache-2.0
"""Plans the servers of an annotated stack before Heat creates them.

Heat loads this module from the entry point ``heat.stack_lifecycle_plugins``.
"""

from typing import Any

from heat.common import context
from heat.engine import lifecycle_plugin
from heat.engine import stack as heat_stack
from oslo_config import cfg
from oslo_log import log

from nova_holistic import exceptions
from nova_holistic.heat import api_client, legacy_update
from nova_holistic.heat.stacks import (
    annotated_stack, convergence_operations, stack_validation)
from nova_holistic.heat.stacks.stack_group import StackGroup

LOG = log.getLogger(__name__)
_BEFORE = (heat_stack.Stack.CREATE, heat_stack.Stack.UPDATE,
           heat_stack.Stack.ROLLBACK, heat_stack.Stack.RESTORE)
"""Operations that may create servers."""
_AFTER = (*_BEFORE, heat_stack.Stack.ADOPT, heat_stack.Stack.DELETE)


class Lifecycle(lifecycle_plugin.LifecyclePlugin):
    """Nested stacks belong to the group of their top-level stack."""

    def do_pre_op(self, cnxt: context.RequestContext, stack: heat_stack.Stack,
                  current_stack: heat_stack.Stack | None = None,
                  action: str | None = None) -> None:
        """
        :param current_stack: the stack after an update
        :raises HeatException: no plan exists; Heat then creates no server
        :raises InvalidDocument: the groups in the template are invalid
        """
        after = current_stack or stack
        if current_stack is not None:
            legacy_update.begin(stack, current_stack)
        if stack.owner_id is not None or action not in _BEFORE or (
                not annotated_stack.is_annotated(after.t)) or (
                self._is_rolled_back(stack, current_stack, action)):
            return
        if not cfg.CONF.stack_scheduler_hints:
            raise exceptions.HolisticError(stack_validation.HINTS_OPTION)
        StackGroup(api_client.client(cnxt), stack).prepare(
            annotated_stack.read(after))

    def do_post_op(self, cnxt: context.RequestContext,
                   stack: heat_stack.Stack,
                   current_stack: heat_stack.Stack | None = None,
                   action: str | None = None,
                   is_stack_failure: bool | None = False) -> None:
        """Release the members without servers; delete the group of a stack
        that was deleted or is no longer annotated; create the group of a stack
        that was adopted."""
        if stack.owner_id is not None or action not in _AFTER:
            return
        failed = is_stack_failure or stack.status == stack.FAILED
        after = current_stack or stack
        group = StackGroup(api_client.client(cnxt), stack)
        if action != stack.DELETE and annotated_stack.is_annotated(after.t) \
                and not self._is_rolled_back(stack, current_stack, action):
            if action == stack.ADOPT and not failed:
                group.prepare(annotated_stack.read(after))
            group.release()
        elif not failed:
            group.delete()

    @staticmethod
    def _is_rolled_back(stack: heat_stack.Stack, current_stack: Any,
                        action: str) -> bool:
        """Whether the legacy engine has deleted the resources of a new stack,
        which keeps its template."""
        return (action == stack.ROLLBACK and current_stack is None
                and not stack.convergence)


# For convergent stacks, Heat loads lifecycle plug-ins and never calls them.
convergence_operations.install(Lifecycle())
# No plug-in of Heat validates a stack.
stack_validation.install()
