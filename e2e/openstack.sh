#!/usr/bin/env bash
# A real Keystone and a real Neutron on loopback, from Debian 12's packages, without
# systemd, a message bus, a database server or a web server.
#
#   openstack.sh start          starts what does not run and fills it; repairs as well
#   openstack.sh stop           stops both
#   openstack.sh fault NAME     breaks one thing; heal NAME undoes it
#   openstack.sh faults         lists the names
#   openstack.sh octavia        starts Octavia's API in addition, and publishes it in the catalog
#   openstack.sh cinder         starts Cinder's API likewise
#
# State lies in $VITALS_E2E_STATE/openstack; clouds.yaml in it holds the cloud "health".
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

state=${VITALS_E2E_STATE:?names the directory for state}/openstack
keystone_port=${VITALS_E2E_KEYSTONE_PORT:-25000}
neutron_port=${VITALS_E2E_NEUTRON_PORT:-29696}
octavia_port=${VITALS_E2E_OCTAVIA_PORT:-29876}
cinder_port=${VITALS_E2E_CINDER_PORT:-28776}
neutron_password=neutron-test-password
health_password=health-test-password
token_lifetime=3600
python=/usr/bin/python3 # another python that is first in PATH does not see Debian's modules

export KEYSTONE_URL=http://127.0.0.1:$keystone_port/v3 NEUTRON_URL=http://127.0.0.1:$neutron_port
export OCTAVIA_URL=http://127.0.0.1:$octavia_port CINDER_URL=http://127.0.0.1:$cinder_port
export ADMIN_PASSWORD=admin-test-password NEUTRON_PASSWORD=$neutron_password HEALTH_PASSWORD=$health_password

clean() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$state" LANG=C.UTF-8 "$@"; }

cloud() { "$python" "$here/openstack/cloud.py" "$@"; }

answers() { curl -fsS --noproxy '*' --max-time 5 "$1"; }

configure() {
    mkdir -p "$state/lock" "$state/log"
    local file
    for file in keystone.conf neutron.conf octavia.conf cinder.conf api-paste.ini cinder-paste.ini clouds.yaml; do
        fill "$here/openstack/$file" >"$state/$file"
        chmod 600 "$state/$file"
    done
}

keystone_manage() { clean keystone-manage --config-file "$state/keystone.conf" "$@" >>"$state/log/keystone-manage.log" 2>&1; }

make_keystone() {
    local keys=(--keystone-user "$(id -un)" --keystone-group "$(id -gn)") url=$KEYSTONE_URL/
    rm -f "$state"/keystone.db*
    keystone_manage db_sync
    keystone_manage fernet_setup "${keys[@]}"
    keystone_manage credential_setup "${keys[@]}"
    keystone_manage bootstrap --bootstrap-password "$ADMIN_PASSWORD" --bootstrap-region-id RegionOne \
        --bootstrap-admin-url "$url" --bootstrap-internal-url "$url" --bootstrap-public-url "$url"
    # Without a write-ahead log a commit meets "database is locked" while another reads.
    "$python" -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("pragma journal_mode=wal")' "$state/keystone.db"
    touch "$state/keystone.made"
}

make_neutron() {
    rm -f "$state"/neutron.db*
    clean "$python" "$here/openstack/neutron_schema.py" "$state/neutron.conf" "$state/neutron.db" >"$state/log/neutron-schema.log" 2>&1
    touch "$state/neutron.made"
}

make_octavia() {
    rm -f "$state"/octavia.db*
    clean "$python" "$here/openstack/octavia_schema.py" "$state/octavia.conf" "$state/octavia.db" >"$state/log/octavia-schema.log" 2>&1
    touch "$state/octavia.made"
}

make_cinder() {
    rm -f "$state"/cinder.db*
    clean "$python" "$here/openstack/cinder_schema.py" "$state/cinder.conf" "$state/cinder.db" >"$state/log/cinder-schema.log" 2>&1
    touch "$state/cinder.made"
}

# make NAME makes the service's database once.
make() {
    [ -e "$state/$1.made" ] || "make_$1" || die "$1 cannot be set up; see $state/log"
}

# uwsgi's workers have one thread each, because sqlite and threads do not go together
# here, and it closes a connection after one answer, so it must announce that.
start_keystone() {
    running keystone && return
    spawn keystone env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$state" LANG=C.UTF-8 \
        OS_KEYSTONE_CONFIG_DIR="$state" OS_KEYSTONE_CONFIG_FILES=keystone.conf \
        uwsgi-core --plugin python3 --http-socket "127.0.0.1:$keystone_port" --wsgi-file /usr/bin/keystone-wsgi-public \
        --master --no-orphans --processes 2 --need-app --die-on-term --buffer-size 65535 \
        --add-header 'Connection: close' --disable-logging
}

start_neutron() {
    running neutron && return
    spawn neutron env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$state" LANG=C.UTF-8 \
        "$python" "$here/openstack/neutron_server.py" --config-file "$state/neutron.conf"
}

# spawn_wsgi NAME PORT VARIABLE starts an API whose configuration the variable names.
spawn_wsgi() {
    running "$1" && return
    spawn "$1" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$state" LANG=C.UTF-8 "$3=$state/$1.conf" \
        uwsgi-core --plugin python3 --http-socket "127.0.0.1:$2" --wsgi-file "$here/openstack/$1_wsgi.py" \
        --master --no-orphans --processes 1 --need-app --die-on-term --buffer-size 65535 \
        --add-header 'Connection: close' --disable-logging
}

start_octavia() { spawn_wsgi octavia "$octavia_port" OCTAVIA_CONFIG; }
start_cinder() { spawn_wsgi cinder "$cinder_port" CINDER_CONFIG; }

await_octavia() { await 120 octavia answers "$OCTAVIA_URL/"; }
await_cinder() { await 120 cinder answers "$CINDER_URL/"; }

octavia() {
    make octavia
    start_octavia
    await_octavia
    cloud publish load-balancer "$OCTAVIA_URL" load-balancer_observer
    progress "Octavia answers at $OCTAVIA_URL"
}

cinder() {
    make cinder
    start_cinder
    await_cinder
    cloud publish block-storage "$CINDER_URL/v3/%(project_id)s" reader
    progress "Cinder answers at $CINDER_URL"
}

await_keystone() { await 120 keystone answers "$KEYSTONE_URL"; }
await_neutron() { await 120 neutron answers "$NEUTRON_URL/"; }

start() {
    configure
    make keystone &
    local keystone=$!
    make neutron
    wait "$keystone" || exit 1
    start_keystone
    start_neutron
    await_keystone
    await_neutron
    cloud provision
    progress "Keystone answers at $KEYSTONE_URL, Neutron at $NEUTRON_URL"
}

stop() {
    end cinder
    end octavia
    end neutron
    end keystone
}

restart_keystone() {
    fill "$here/openstack/keystone.conf" >"$state/keystone.conf"
    end keystone
    start_keystone
    await_keystone
}

db_files() { echo "$state/$1.db" "$state/$1.db-wal" "$state/$1.db-shm"; }

# Every function named fault_NAME is a fault, and heal_NAME undoes it.
fault_keystone_stopped() { end keystone; }
heal_keystone_stopped() { start_keystone && await_keystone; }

fault_keystone_frozen() { signal keystone STOP; }
heal_keystone_frozen() { signal keystone CONT; }

fault_keystone_database_gone() { away $(db_files keystone); }
heal_keystone_database_gone() { back $(db_files keystone); }

fault_keystone_keys_gone() { away "$state/fernet-keys"; }
heal_keystone_keys_gone() { back "$state/fernet-keys"; }

fault_password_changed() { cloud password healthcheck another-test-password; }
heal_password_changed() { cloud password healthcheck "$health_password"; }

# Setting a password, even the same one, revokes all tokens of the user.
fault_tokens_revoked() { cloud password healthcheck "$health_password"; }
heal_tokens_revoked() { :; }

fault_tokens_short_lived() { token_lifetime=15 restart_keystone; }
heal_tokens_short_lived() { restart_keystone; }

fault_neutron_stopped() { end neutron; }
heal_neutron_stopped() { start_neutron && await_neutron; }

fault_neutron_frozen() { signal neutron STOP; }
heal_neutron_frozen() { signal neutron CONT; }

fault_neutron_database_gone() { away $(db_files neutron); }
heal_neutron_database_gone() { back $(db_files neutron); }

fault_octavia_stopped() { end octavia; }
heal_octavia_stopped() { start_octavia && await_octavia; }

fault_octavia_frozen() { signal octavia STOP; }
heal_octavia_frozen() { signal octavia CONT; }

fault_octavia_database_gone() { away $(db_files octavia); }
heal_octavia_database_gone() { back $(db_files octavia); }

fault_cinder_stopped() { end cinder; }
heal_cinder_stopped() { start_cinder && await_cinder; }

fault_cinder_frozen() { signal cinder STOP; }
heal_cinder_frozen() { signal cinder CONT; }

fault_cinder_database_gone() { away $(db_files cinder); }
heal_cinder_database_gone() { back $(db_files cinder); }

fault_endpoint_missing() { cloud drop-endpoints; }
heal_endpoint_missing() { cloud provision; }

fault_service_account_broken() { cloud password neutron another-test-password; }
heal_service_account_broken() { cloud password neutron "$neutron_password"; }

fault_port_quota_exhausted() { cloud port-quota 1; }
heal_port_quota_exhausted() { cloud port-quota reset; }

case ${1:-} in
octavia | cinder) "$1" ;;
*) main "$@" ;;
esac
