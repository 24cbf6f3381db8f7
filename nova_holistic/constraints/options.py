# SPDX-License-Identifier: Apache-2.0
"""Options of nova-scheduler and nova-api that determine where servers are
placed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NovaOptions:
    """Values of the options with the same names in nova.conf.

    The defaults are those of Nova.
    """

    enabled_filters: frozenset[str] = frozenset()
    default_schedule_zone: str | None = None
    limit_tenants_to_placement_aggregate: bool = False
    placement_aggregate_required_for_tenants: bool = False
    enable_isolated_aggregate_filtering: bool = False
    query_placement_for_image_type_support: bool = False
    image_metadata_prefilter: bool = False
    aggregate_image_properties_isolation_namespace: str | None = None
    aggregate_image_properties_isolation_separator: str = '.'
    isolated_hosts: frozenset[str] = frozenset()
    isolated_images: frozenset[str] = frozenset()
    restrict_isolated_hosts_to_isolated_images: bool = True
    image_properties_default_architecture: str | None = None
    max_instances_per_host: int = 50

    @classmethod
    def from_conf(cls, conf) -> 'NovaOptions':
        """The current values; see nova_holistic.conf.nova_options."""
        scheduler, filters = conf.scheduler, conf.filter_scheduler
        namespace = filters.aggregate_image_properties_isolation_namespace
        separator = filters.aggregate_image_properties_isolation_separator
        return cls(
            enabled_filters=frozenset(filters.enabled_filters),
            default_schedule_zone=conf.default_schedule_zone,
            limit_tenants_to_placement_aggregate=(
                scheduler.limit_tenants_to_placement_aggregate),
            placement_aggregate_required_for_tenants=(
                scheduler.placement_aggregate_required_for_tenants),
            enable_isolated_aggregate_filtering=(
                scheduler.enable_isolated_aggregate_filtering),
            query_placement_for_image_type_support=(
                scheduler.query_placement_for_image_type_support),
            image_metadata_prefilter=scheduler.image_metadata_prefilter,
            aggregate_image_properties_isolation_namespace=namespace,
            aggregate_image_properties_isolation_separator=separator,
            isolated_hosts=frozenset(filters.isolated_hosts),
            isolated_images=frozenset(filters.isolated_images),
            restrict_isolated_hosts_to_isolated_images=(
                filters.restrict_isolated_hosts_to_isolated_images),
            image_properties_default_architecture=(
                filters.image_properties_default_architecture),
            max_instances_per_host=filters.max_instances_per_host)
