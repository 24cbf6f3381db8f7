# SPDX-License-Identifier: Apache-2.0
"""The definition that an update of the legacy engine gives to a stack.

During the update, the stack itself has the definition from before. A group
derives its members from the new definition.
"""

from heat.engine import stack as heat_stack
from heat.engine import stk_defn

_ATTRIBUTE = 'holistic_definition_after'


def begin(stack: heat_stack.Stack, after: heat_stack.Stack) -> None:
    setattr(stack, _ATTRIBUTE, after.defn)


def definition(stack: heat_stack.Stack) -> stk_defn.StackDefinition:
    """The definition after the update; without an update, the current one."""
    return getattr(stack, _ATTRIBUTE, None) or stack.defn
