# SPDX-License-Identifier: Apache-2.0
"""Parts of the templates of several tests."""

HEAD = 'heat_template_version: 2018-08-31\n'
SERVER = ('{flavor: tiny, image: nothing, '
          'networks: [{allocate_network: none}]}')
"""Properties of a server."""


def pointing(member, group='{get_resource: shop}'):
    """Properties of a server that points at a member."""
    return (f'{SERVER[:-1]}, scheduler_hints: '
            f'{{holistic_group: {group}, holistic_member: {member}}}}}')


def resource_group(name, resource, count):
    """An OS::Heat::ResourceGroup.

    :param resource: the mapping ``resource_def``
    """
    return f'''
  {name}:
    type: OS::Heat::ResourceGroup
    properties:
      count: {count}
      resource_def: {resource}
'''


def scaling_group(resource, steps, **sizes):
    """An OS::Heat::AutoScalingGroup, with a policy ``byN`` for each step.

    :param resource: the mapping ``resource``
    :param sizes: ``min_size``, ``max_size`` and ``desired_capacity``
    """
    properties = ''.join(f'''
      {key}: {value}''' for key, value in sizes.items())
    return f'''
  workers:
    type: OS::Heat::AutoScalingGroup
    properties:{properties}
      resource: {resource}
''' + ''.join(f'''
  by{step}:
    type: OS::Heat::ScalingPolicy
    properties:
      adjustment_type: change_in_capacity
      auto_scaling_group_id: {{get_resource: workers}}
      scaling_adjustment: {step}
''' for step in steps)


def server(properties=SERVER):
    """The mapping of a resource that is a server."""
    return f'{{type: OS::Nova::Server, properties: {properties}}}'


def failing(others, nodes='nodes', hints=''):
    """A server that fails after the others are complete.

    :param nodes: an OS::Heat::ResourceGroup, whose resource is not a port
    """
    return (f'{{type: OS::Nova::Server, depends_on: [{others}], properties: '
            f'{{flavor: tiny, image: nothing{hints}, '
            f'networks: [{{port: {{get_attr: [{nodes}, resource.0]}}}}]}}}}')


NODE = f'''{HEAD}
resources:
  server: {server()}
'''
"""Template of a nested stack with one server."""
POINTING_NODE = f'''{HEAD}
parameters:
  holistic_group: {{type: string}}
  holistic_path: {{type: string}}
resources:
  server: {server(pointing(
      '{list_join: [/, [{get_param: holistic_path}, server]]}',
      '{get_param: holistic_group}'))}
'''
"""Template of a nested stack with one server, a member of a group."""
POINTING_STACK = ('{type: node.yaml, properties: {holistic_group: '
                  '{get_resource: shop}, holistic_path: %s}}')
"""The mapping of a resource that is such a nested stack; ``%s`` is the path of
its nested group."""
