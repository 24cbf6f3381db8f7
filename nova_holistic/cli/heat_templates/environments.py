# SPDX-License-Identifier: Apache-2.0
"""Environments of Heat: values of parameters, and files in place of types."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import os
from typing import Any

from nova_holistic.cli.heat_templates.folder import Folder
from nova_holistic.documents.hot.template_files import (
    is_template_file, TemplateSource)
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument

_PARAMETERS, _DEFAULTS, _REGISTRY = (
    'parameters', 'parameter_defaults', 'resource_registry')
_SECTIONS = (_PARAMETERS, _DEFAULTS, _REGISTRY, 'encrypted_param_names',
             'event_sinks')
_RESOURCES = 'resources'


@dataclass(frozen=True, slots=True)
class TemplateInputs:
    """The parameters and files that complete a template.

    :ivar parameters: values by name
    """

    parameters: Mapping[str, Any]
    source: TemplateSource


def complete(folder: Folder, template: str, parameters: Mapping[str, str],
             environments: Sequence[Mapping[str, Mapping[str, Any]]]
             ) -> TemplateInputs:
    """Later environments take precedence over earlier ones, and parameters
    over environments.

    :param template: name of its file
    :param environments: as ``read_environment`` returns them
    """
    sections: dict[str, dict[str, Any]] = {
        _PARAMETERS: {}, _DEFAULTS: {}, _REGISTRY: {}}
    for environment in environments:
        for section, values in environment.items():
            sections[section].update(values)
    return TemplateInputs(
        {**sections[_PARAMETERS], **parameters},
        TemplateSource(folder, sections[_REGISTRY], sections[_DEFAULTS],
                       template))


def read_environment(
        name: str, document: Any) -> Mapping[str, Mapping[str, Any]]:
    """The sections of an environment.

    :param name: name of its file
    :raises InvalidDocument: the environment is invalid
    """
    return {section: _registry(values, os.path.dirname(name))
            if section == _REGISTRY else values
            for section, values in _checked(document).items()}


def _checked(document: Any) -> dict[str, dict[str, Any]]:
    """The sections with mappings of an environment."""
    if not isinstance(document, dict):
        raise InvalidDocument(
            '', f'must be a mapping, not {brief(document)}')
    for section in document:
        if section not in _SECTIONS:
            raise InvalidDocument(
                section, 'this section of environments is not supported; '
                f'supported: {", ".join(_SECTIONS)}')
    return {section: _mapping(document[section], section)
            for section in (_PARAMETERS, _DEFAULTS, _REGISTRY)
            if section in document}


def _registry(values: Mapping[str, Any], folder: str) -> dict[str, str]:
    """Types by types; files are relative to the folder of the environment."""
    registry = {}
    for kind, target in values.items():
        place = join(_REGISTRY, kind)
        if kind == _RESOURCES:
            _must_not_replace(target, place)
            continue
        if not isinstance(target, str):
            raise InvalidDocument(
                place, f'must be a type or a file, not {brief(target)}')
        is_file = is_template_file(target) and '://' not in target
        registry[kind] = os.path.abspath(
            os.path.join(folder, target)) if is_file else target
    return registry


def _must_not_replace(resources: Any, place: str) -> None:
    """Types of single resources are not supported; hooks do not matter."""
    for name, keys in _mapping(resources, place).items():
        for key in _mapping(keys, join(place, name)):
            if key not in ('hooks', 'restricted_actions'):
                raise InvalidDocument(
                    join(place, name, key),
                    'types of single resources are not supported')


def _mapping(value: Any, place: str) -> dict[str, Any]:
    """The mapping, which is empty by default. A document contains only text as
    keys."""
    if not isinstance(value, dict | None):
        raise InvalidDocument(place, f'must be a mapping, not {brief(value)}')
    return value or {}
