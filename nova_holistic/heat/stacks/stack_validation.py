# SPDX-License-Identifier: Apache-2.0
"""Validates the groups of annotated stacks when Heat validates the stack.

Heat has no plug-in for the validation of a stack, so ``Stack.validate`` is
extended here.
"""

from collections.abc import Callable
import functools
from typing import Any

from heat.common import exception
from heat.common.i18n import _
from heat.engine import stack as heat_stack
from oslo_config import cfg
from oslo_log import log

from nova_holistic.exceptions import InvalidDocument
from nova_holistic.heat import api_client, level_check
from nova_holistic.heat.stacks import annotated_stack
from nova_holistic.heat.templates import unknown_values

LOG = log.getLogger(__name__)
_MARK = 'has_holistic_validation'
HINTS_OPTION = _(
    'the template contains groups: this requires [DEFAULT] '
    'stack_scheduler_hints in the configuration of heat-engine')


def install() -> None:
    """Let stacks validate their groups. A repeated call has no effect."""
    kind = heat_stack.Stack
    if getattr(kind, _MARK, False):
        return
    kind.validate = _extended(kind.validate)
    setattr(kind, _MARK, True)


def _extended(validate: Callable[..., None]) -> Callable[..., None]:

    @functools.wraps(validate)
    def operation(stack: heat_stack.Stack, *args: Any, **keys: Any) -> None:
        validate(stack, *args, **keys)
        if stack.nested_depth == 0 and stack.owner_id is None and (
                annotated_stack.is_annotated(stack.t)) and (
                    _has_all_values(stack)):
            _check(stack)

    return operation


def _check(stack: heat_stack.Stack) -> None:
    """:raises HeatException: for every error"""
    try:
        _check_groups(stack)
    except exception.HeatException:
        raise
    except Exception as error:
        # Heat reports errors of the validation of resources in the same way.
        LOG.info('Stack %s: the validation of its groups failed', stack.name,
                 exc_info=True)
        raise exception.StackValidationFailed(error=error) from error


def _has_all_values(stack: heat_stack.Stack) -> bool:
    """Whether all parameters have values, which the validation of a template
    without a stack does not require."""
    return stack.strict_validate or all(
        parameter.has_value()
        for parameter in stack.parameters.params.values())


def _check_groups(stack: heat_stack.Stack) -> None:
    """
    :raises StackValidationFailed: the groups are invalid
    """
    try:
        conversion = annotated_stack.read(stack)
    except InvalidDocument as error:
        first, *further = error.mistakes
        raise unknown_values.invalid(
            [first.place] if first.place else [],
            '; '.join([first.message, *map(str, further)])) from error
    if not cfg.CONF.stack_scheduler_hints:
        raise unknown_values.invalid([], HINTS_OPTION)
    if stack.strict_validate:
        level_check.check(
            api_client.client(stack.context), conversion.document,
            lambda place: [conversion.places.origin(place)])
