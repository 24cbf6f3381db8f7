# SPDX-License-Identifier: Apache-2.0
"""Sphinx configuration."""

import pathlib
import sys

from sphinxcontrib import httpdomain

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'ext'))

extensions = [
    'cliff.sphinxext',
    'openapi_file',
    'openstackdocstheme',
    'oslo_config.sphinxconfiggen',
    'oslo_config.sphinxext',
    'oslo_policy.sphinxext',
    'oslo_policy.sphinxpolicygen',
    'plan_picture',
    'prose_rules',
    'reno.sphinxext',
    'sphinx.ext.autodoc',
    'sphinxcontrib.httpdomain',
    'sphinxcontrib.openapi',
    'state_machines',
]

# The table of the extension ends before RFC 6585.
httpdomain.HTTP_STATUS_CODES[428] = 'Precondition Required'

project = 'nova_holistic'
copyright = 'the nova_holistic authors'

openstackdocs_repo_name = 'nova_holistic'
openstackdocs_auto_name = False
openstackdocs_auto_version = False
openstackdocs_use_storyboard = False

html_theme = 'openstackdocs'
html_static_path = ['style']
html_css_files = ['tables.css']
templates_path = []
exclude_patterns = []

config_generator_config_file = [
    ('../../etc/nova-holistic/config-generator.conf',
     '_static/nova-holistic'),
]
autoprogram_cliff_application = 'openstack'

policy_generator_config_file = [
    ('../../etc/nova-holistic/policy-generator.conf',
     '_static/nova-holistic'),
]
