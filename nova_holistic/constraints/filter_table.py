# SPDX-License-Identifier: Apache-2.0
"""Every filter and request filter of Nova, and its effect on plans.

A test compares the names with those of the installed Nova, and the manual with
this table.
"""

from nova_holistic.constraints.filters import (
    aggregate_image_properties_isolation, aggregate_instance_extra_specs,
    aggregate_multitenancy_isolation, aggregate_type_affinity,
    compute_capabilities, default_zone, image_metadata, image_properties,
    image_type_support, isolated_aggregates, isolated_hosts, tenant_aggregate)
from nova_holistic.constraints.rule import Rule, Status

_PLANNED, _LEARNT, _NONE = Status

FILTERS = (
    Rule('AggregateImagePropertiesIsolation', _PLANNED,
         aggregate_image_properties_isolation.host_check),
    Rule('AggregateInstanceExtraSpecsFilter', _PLANNED,
         aggregate_instance_extra_specs.host_check),
    Rule('AggregateIoOpsFilter', _LEARNT),
    Rule('AggregateMultiTenancyIsolation', _PLANNED,
         aggregate_multitenancy_isolation.host_check),
    Rule('AggregateNumInstancesFilter', _PLANNED),
    Rule('AggregateTypeAffinityFilter', _PLANNED,
         aggregate_type_affinity.host_check),
    Rule('AllHostsFilter', _NONE),
    Rule('ComputeCapabilitiesFilter', _PLANNED,
         compute_capabilities.host_check),
    Rule('ComputeFilter', _PLANNED),
    Rule('DifferentHostFilter', _LEARNT),
    Rule('ImagePropertiesFilter', _PLANNED, image_properties.host_check),
    Rule('IoOpsFilter', _LEARNT),
    Rule('IsolatedHostsFilter', _PLANNED, isolated_hosts.host_check),
    Rule('JsonFilter', _LEARNT),
    Rule('MetricsFilter', _LEARNT),
    Rule('NUMATopologyFilter', _LEARNT),
    Rule('NumInstancesFilter', _PLANNED),
    Rule('PciPassthroughFilter', _LEARNT),
    Rule('SameHostFilter', _LEARNT),
    Rule('ServerGroupAffinityFilter', _PLANNED),
    Rule('ServerGroupAntiAffinityFilter', _PLANNED),
    Rule('SimpleCIDRAffinityFilter', _LEARNT),
)
"""Classes of nova.scheduler.filters. They apply if they are enabled."""

REQUEST_FILTERS = (
    Rule('accelerators_filter', _PLANNED),
    Rule('compute_status_filter', _PLANNED),
    Rule('ephemeral_encryption_filter', _PLANNED),
    Rule('isolate_aggregates', _PLANNED, isolated_aggregates.host_check),
    Rule('map_az_to_placement_aggregate', _PLANNED),
    Rule('owner_nova_filter', _PLANNED),
    Rule('packed_virtqueue_filter', _PLANNED),
    Rule('remote_managed_ports_filter', _NONE),
    Rule('require_image_type_support', _PLANNED,
         image_type_support.host_check),
    Rule('require_tenant_aggregate', _PLANNED, tenant_aggregate.host_check),
    Rule('routed_networks_filter', _LEARNT),
    Rule('tpm_secret_security_filter', _LEARNT),
    Rule('transform_image_metadata', _PLANNED, image_metadata.host_check),
    Rule('virtio_sound_filter', _PLANNED),
)
"""Functions of nova.scheduler.request_filter. They apply if the options of
nova-scheduler enable them."""

DEFAULT_ZONE = Rule('default_schedule_zone', _PLANNED, default_zone.host_check)
"""An option of nova-api."""


def rules_in_force(enabled_filters: frozenset[str]) -> tuple[Rule, ...]:
    """The rules that may refuse a host for a request."""
    return (*(rule for rule in FILTERS if rule.name in enabled_filters),
            *REQUEST_FILTERS, DEFAULT_ZONE)
