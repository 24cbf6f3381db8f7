# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# DevStack sources this file once in each phase: plugin.sh MODE [PHASE]

_XTRACE_HOLISTIC=$(set +o | grep xtrace || true)
set +o xtrace

HOLISTIC_DIR=${GITDIR["nova_holistic"]}
HOLISTIC_BIN_DIR=$(get_python_exec_prefix)
HOLISTIC_CONF_DIR=/etc/nova-holistic
HOLISTIC_CONF=$HOLISTIC_CONF_DIR/nova-holistic.conf
HOLISTIC_UWSGI=nova_holistic.api.wsgi:application
HOLISTIC_UWSGI_CONF=$HOLISTIC_CONF_DIR/holistic-api-uwsgi.ini
if is_service_enabled tls-proxy; then
    HOLISTIC_SERVICE_PROTOCOL=https
else
    HOLISTIC_SERVICE_PROTOCOL=$SERVICE_PROTOCOL
fi
HOLISTIC_URL=$HOLISTIC_SERVICE_PROTOCOL://$SERVICE_HOST/holistic

# is_service_enabled holistic calls this function.
function is_holistic_enabled {
    is_service_enabled holistic-api holistic-engine-1
}

# Nova is installed in the same environment, so its extra is not needed. The extra
# of the openstack commands is.
function install_holistic {
    setup_develop "$HOLISTIC_DIR" api,client,engine
}

# The connections of the API and the engines to the database, the message bus,
# keystone, Placement and Nova.
function configure_holistic {
    sudo install -d -o "$STACK_USER" "$HOLISTIC_CONF_DIR"
    rm -f "$HOLISTIC_CONF"
    iniset "$HOLISTIC_CONF" DEFAULT debug "$ENABLE_DEBUG_LOG_LEVEL"
    setup_logging "$HOLISTIC_CONF"
    iniset_rpc_backend holistic "$HOLISTIC_CONF"
    configure_holistic_table "$HOLISTIC_CONF"
    configure_keystone_authtoken_middleware "$HOLISTIC_CONF" holistic
    # The proxy in front of the API sends the address that the client used.
    iniset "$HOLISTIC_CONF" oslo_middleware enable_proxy_headers_parsing True
    local service
    for service in placement nova glance; do
        configure_keystoneauth "$HOLISTIC_CONF" holistic "$service"
        iniset "$HOLISTIC_CONF" "$service" region_name "$REGION_NAME"
        if is_service_enabled tls-proxy; then
            iniset "$HOLISTIC_CONF" "$service" cafile "$SSL_BUNDLE_FILE"
        fi
    done
}

# The options of all processes that read the placement table and the racks of
# hosts: those of this project, and those of Nova.
function configure_holistic_table {
    local conf=$1
    # DevStack's charset, utf8, has no emoji; the names of groups may contain them.
    iniset "$conf" holistic_database connection \
        "$(database_connection_url holistic |
            sed 's/charset=utf8\b/charset=utf8mb4/')"
    iniset "$conf" topology driver aggregates
    iniset "$conf" topology levels "$HOLISTIC_LEVELS"
}

function configure_holistic_api {
    write_uwsgi_config "$HOLISTIC_UWSGI_CONF" "$HOLISTIC_UWSGI" "/holistic" \
        "" "holistic-api"
    iniset "$HOLISTIC_UWSGI_CONF" uwsgi threads "$HOLISTIC_API_THREADS"
    # By default, uwsgi waits for a body for four seconds. A busy client needs longer.
    iniset "$HOLISTIC_UWSGI_CONF" uwsgi socket-timeout 60
}

# nova.conf of the scheduler. start_holistic replaces the process after DevStack
# has started it.
function configure_holistic_scheduler {
    iniset "$NOVA_CONF" scheduler driver holistic_scheduler
    # Engines listen to Nova's versioned notifications.
    iniset "$NOVA_CONF" notifications notification_format both
    iniset "$NOVA_CONF" oslo_messaging_notifications driver messagingv2
    iniset_multiline "$NOVA_CONF" filter_scheduler available_filters \
        nova.scheduler.filters.all_filters \
        nova_holistic.scheduler.filters.all_filters
    iniset "$NOVA_CONF" filter_scheduler enabled_filters \
        "$NOVA_FILTERS,HolisticGroupFilter"
    iniset "$NOVA_CONF" filter_scheduler weight_classes \
        "nova.scheduler.weights.all_weighers,nova_holistic.scheduler.weights.all_weighers"
    configure_holistic_table "$NOVA_CONF"
}

# The API inside nova-api is a filter behind the check of the token, and before
# Nova's application.
function configure_holistic_nova_api {
    iniset "$NOVA_API_PASTE_INI" filter:holistic paste.filter_factory \
        nova_holistic.api.nova_filter:filter_factory
    sed -i -e '/^keystone *=/ {
        s/ holistic / /
        s/ keystonecontext / keystonecontext holistic /
    }' "$NOVA_API_PASTE_INI"
    configure_holistic_table "$NOVA_CONF"
}

# The user of the service project, which reads from Nova and writes to Placement,
# and the entry in the catalog.
function create_holistic_accounts {
    create_service_user holistic admin
    get_or_create_service holistic holistic "Holistic Placement Service"
    get_or_create_endpoint holistic "$REGION_NAME" "$HOLISTIC_URL"
}

function init_holistic {
    recreate_database holistic
    if [[ "$DATABASE_TYPE" == mysql ]]; then
        # DevStack creates databases with the character set utf8.
        mysql -u"$DATABASE_USER" -p"$DATABASE_PASSWORD" -h"$MYSQL_HOST" \
            -e "ALTER DATABASE holistic CHARACTER SET utf8mb4"
    fi
    "$HOLISTIC_BIN_DIR/nova-holistic-manage" --config-file "$HOLISTIC_CONF" \
        db upgrade
}

function start_holistic {
    local number
    for number in $(seq 1 "$HOLISTIC_ENGINES"); do
        run_process "holistic-engine-$number" \
            "$HOLISTIC_BIN_DIR/nova-holistic-engine --config-file $HOLISTIC_CONF"
    done
    run_process holistic-api \
        "$(command -v uwsgi) --procname-prefix holistic-api --ini $HOLISTIC_UWSGI_CONF"
    if is_service_enabled holistic-api; then
        wait_for_service "$SERVICE_TIMEOUT" "$HOLISTIC_URL/healthcheck" ||
            die $LINENO "holistic-api did not start"
    fi
}

# It replaces the command in the unit of nova-scheduler, so that everything that
# uses n-sch, such as unstack.sh, still works.
function start_holistic_scheduler {
    stop_process n-sch
    run_process n-sch \
        "$HOLISTIC_BIN_DIR/nova-holistic-scheduler --config-file $NOVA_CONF"
}

# Fake computes have the names HOSTNAME1, HOSTNAME2 …. They are assigned to the
# racks in turn.
function create_holistic_racks {
    local number rack
    for number in $(seq 1 "$HOLISTIC_RACKS"); do
        openstack --os-cloud devstack-admin aggregate create \
            --property "rack=r$number" "rack-r$number"
    done
    for number in $(seq 1 "$NUMBER_FAKE_NOVA_COMPUTE"); do
        rack=rack-r$(((number - 1) % HOLISTIC_RACKS + 1))
        openstack --os-cloud devstack-admin aggregate add host \
            "$rack" "$HOSTNAME$number"
    done
}

function stop_holistic {
    local number
    stop_process holistic-api
    for number in $(seq 1 "$HOLISTIC_ENGINES"); do
        stop_process "holistic-engine-$number"
    done
}

function cleanup_holistic {
    remove_uwsgi_config "$HOLISTIC_UWSGI_CONF" holistic-api
    sudo rm -f "$(apache_site_config_for holistic-api)"
    sudo rm -rf "$HOLISTIC_CONF_DIR"
}

function post_config_holistic {
    configure_holistic
    if is_service_enabled holistic-api; then
        configure_holistic_api
        create_holistic_accounts
        init_holistic
    fi
    if is_service_enabled n-sch; then
        configure_holistic_scheduler
    fi
    if is_service_enabled n-api && [[ $HOLISTIC_NOVA_API_FILTER == True ]]; then
        configure_holistic_nova_api
    fi
}

if is_service_enabled holistic; then
    case "$1 ${2:-}" in
        'stack install')
            echo_summary "Installing nova_holistic"
            install_holistic
            ;;
        'stack post-config')
            echo_summary "Configuring nova_holistic"
            post_config_holistic
            ;;
        'stack extra')
            echo_summary "Starting nova_holistic"
            start_holistic
            if is_service_enabled n-sch; then
                start_holistic_scheduler
            fi
            ;;
        'stack test-config')
            # Hosts are mapped to their cell only in this phase.
            if [[ $VIRT_DRIVER == fake && $HOLISTIC_RACKS -gt 0 ]] &&
                    is_service_enabled n-api; then
                echo_summary "Assigning compute nodes to racks"
                create_holistic_racks
            fi
            ;;
        'unstack ')
            stop_holistic
            ;;
        'clean ')
            cleanup_holistic
            ;;
    esac
fi

$_XTRACE_HOLISTIC
