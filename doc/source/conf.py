# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration."""

extensions = [
    'openstackdocstheme',
    'oslo_config.sphinxconfiggen',
    'oslo_config.sphinxext',
    'sphinx.ext.autodoc',
]

project = 'nova_holistic'
copyright = 'the nova_holistic authors'

openstackdocs_repo_name = 'nova_holistic'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_use_storyboard = False

html_theme = 'openstackdocs'
templates_path = []
exclude_patterns = []

config_generator_config_file = [
    ('../../etc/nova-holistic/config-generator.conf',
     '_static/nova-holistic'),
]
