# SPDX-License-Identifier: Apache-2.0
"""Environments of Heat: values of parameters, and files in place of types."""

from collections.abc import Mapping
from dataclasses import dataclass
import os
from typing import Any

from nova_holistic.cli.heat_templates.folder import Folder
from nova_holistic.cli.heat_templates.merged_environments import (
    DEFAULTS, MergedEnvironments, PARAMETERS, REGISTRY, STRATEGIES)
from nova_holistic.documents.hot.template_files import TemplateSource
from nova_holistic.documents.hot.type_registry import (
    is_template_file, Registry)
from nova_holistic.documents.validation import brief, join
from nova_holistic.exceptions import InvalidDocument

_READ = (PARAMETERS, DEFAULTS, REGISTRY, STRATEGIES)
_SECTIONS = (*_READ, 'encrypted_param_names', 'event_sinks')
_RESOURCES, _BASE = 'resources', 'base_url'


@dataclass(frozen=True, slots=True)
class TemplateInputs:
    """The parameters and files that complete a template.

    :ivar parameters: values by name
    """

    parameters: Mapping[str, Any]
    source: TemplateSource


def complete(folder: Folder, template: str, parameters: Mapping[str, str],
             merged: MergedEnvironments) -> TemplateInputs:
    """Parameters take precedence over environments.

    :param template: name of its file
    """
    sections = merged.sections
    return TemplateInputs(
        {**sections[PARAMETERS], **parameters},
        TemplateSource(folder, Registry(sections[REGISTRY]),
                       sections[DEFAULTS], template))


def kinds_of_parameters(template: Any) -> dict[str, str]:
    """The types of the parameters of a template, by name. Parts of another
    form are skipped."""
    declared = template.get(PARAMETERS) if isinstance(template, dict) else None
    return {name: fields['type'] for name, fields in (
        declared if isinstance(declared, dict) else {}).items()
        if isinstance(fields, dict) and isinstance(fields.get('type'), str)}


def read_environment(
        name: str, document: Any) -> Mapping[str, Mapping[str, Any]]:
    """The sections of an environment.

    :param name: name of its file
    :raises InvalidDocument: the environment is invalid
    """
    return {section: _registry(values, os.path.dirname(name))
            if section == REGISTRY else values
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
            for section in _READ if section in document}


def _registry(values: Mapping[str, Any], folder: str) -> dict[str, str]:
    """Types by types; files are relative to the folder of the environment."""
    registry = {}
    for kind, target in values.items():
        place = join(REGISTRY, kind)
        if kind == _RESOURCES:
            _must_not_replace(target, place)
            continue
        if kind == _BASE:
            raise InvalidDocument(
                place, 'is not supported: name files relative to the '
                'environment')
        if target is None:
            # The type keeps its meaning in Heat.
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
