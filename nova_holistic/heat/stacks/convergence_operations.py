# SPDX-License-Identifier: Apache-2.0
"""Calls the lifecycle plug-in for convergent stacks.

Heat calls lifecycle plug-ins only for the stacks of its legacy engine. For the
others, ``Stack.converge_stack`` contains a note that the call is missing. So
two methods of Heat's class are extended here.
"""

from collections.abc import Callable
import functools
from typing import Any

from heat.common import exception
from heat.engine import lifecycle_plugin
from heat.engine import stack as heat_stack
from heat.engine import template
from heat.objects import stack as stack_object
from oslo_log import log

from nova_holistic.exceptions import HolisticError
from nova_holistic.heat.stacks import annotated_stack

LOG = log.getLogger(__name__)
_MARK = 'has_holistic_operations'


def install(plugin: lifecycle_plugin.LifecyclePlugin) -> None:
    """Let convergent stacks call the plug-in. A repeated call has no effect:
    Heat loads the modules of ``plugin_dirs`` a second time."""
    kind = heat_stack.Stack
    if getattr(kind, _MARK, False):
        return
    kind._converge_create_or_update = _starting(
        kind._converge_create_or_update, plugin)
    kind.purge_db = _ending(kind.purge_db, plugin)
    setattr(kind, _MARK, True)


def _starting(start: Callable[..., None],
              plugin: lifecycle_plugin.LifecyclePlugin) -> Callable[..., None]:
    """The start of an operation, after which resources are created."""

    @functools.wraps(start)
    def operation(stack: heat_stack.Stack, *args: Any, **keys: Any) -> None:
        try:
            plugin.do_pre_op(stack.context, stack, None, stack.action)
        except (exception.HeatException, HolisticError) as error:
            LOG.warning('Stack %s: %s is refused: %s', stack.id,
                        stack.action, error)
            stack.mark_failed(str(error))
            return
        except Exception as error:
            LOG.exception('Stack %s: the operation before %s failed',
                          stack.id, stack.action)
            stack.mark_failed(str(error))
            return
        start(stack, *args, **keys)

    return operation


def _ending(purge: Callable[..., None],
            plugin: lifecycle_plugin.LifecyclePlugin) -> Callable[..., None]:
    """The last step of an operation that is complete or has failed, unless a
    rollback follows."""

    @functools.wraps(purge)
    def operation(stack: heat_stack.Stack, *args: Any, **keys: Any) -> None:
        has_group = stack.owner_id is None and _has_group(stack)
        purge(stack, *args, **keys)
        if not has_group or _is_outdated(stack):
            return
        try:
            plugin.do_post_op(stack.context, stack, None, stack.action,
                              stack.status == stack.FAILED)
        except Exception:
            LOG.exception('Stack %s: the operation after %s failed',
                          stack.id, stack.action)

    return operation


def _has_group(stack: heat_stack.Stack) -> bool:
    """Whether the template is annotated, or was before the operation."""
    if annotated_stack.is_annotated(stack.t):
        return True
    if stack.prev_raw_template_id is None:
        return False
    before = template.Template.load(stack.context, stack.prev_raw_template_id)
    # The template is no longer known when a delete is repeated.
    return annotated_stack.is_annotated(before) or (
        stack.action == stack.DELETE and not before.t.get('resources'))


def _is_outdated(stack: heat_stack.Stack) -> bool:
    """Whether another operation of the stack has begun."""
    current = stack_object.Stack.get_by_id(stack.context, stack.id)
    return current is not None and (
        current.current_traversal != stack.current_traversal)
