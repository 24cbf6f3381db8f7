# SPDX-License-Identifier: Apache-2.0
"""Groups that the template of a stack states in the metadata of a resource."""

from collections.abc import Mapping
from typing import Any

from heat.engine import stack as heat_stack
from heat.engine import template

from nova_holistic.documents.definition import parsed
from nova_holistic.documents.hot.annotation import groups_of
from nova_holistic.documents.hot.conversion import Conversion, convert
from nova_holistic.documents.hot.parameters import STACK_NAME
from nova_holistic.documents.hot.template_files import (
    TemplateSource, UnusableFile)
from nova_holistic.documents.hot.template_shape import is_template
from nova_holistic.documents.source.text import load
from nova_holistic.exceptions import InvalidDocument
from nova_holistic.heat.templates.stack_types import StackTypes
from nova_holistic.policies import load_policy_types


class StackFiles:
    """The files that came with a template."""

    available = True

    def __init__(self, files: Mapping[str, str]):
        self._files = files

    def locate(self, name: str, base: str) -> str:
        # Heat's client has replaced all names in templates by unique ones.
        return name

    def read(self, located: str) -> Any:
        if located not in self._files:
            raise UnusableFile('the request does not contain this file')
        return load(self._files[located])


def is_annotated(tmpl: template.Template) -> bool:
    """Whether a template states groups."""
    document = tmpl.t
    if not is_template(document) or not document.get('resources'):
        return False
    try:
        return groups_of(document)[0] is not None
    except InvalidDocument:
        # Two resources state groups, which the conversion refuses.
        return True


def read(stack: heat_stack.Stack) -> Conversion:
    """The group of a stack whose template is annotated, and the rules that
    map the servers of the stack to members.

    :raises InvalidDocument: the group is invalid; with all mistakes, at their
        positions in the template
    """
    values = stack.env.user_env_as_dict()
    source = TemplateSource(
        StackFiles(stack.t.files), StackTypes(stack.env),
        values['parameter_defaults'])
    conversion = convert(stack.t.t, {
        STACK_NAME: stack.name, **values['parameters']}, source)
    parsed(conversion, load_policy_types())
    return conversion
