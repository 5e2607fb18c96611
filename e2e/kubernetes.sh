#!/usr/bin/env bash
# A real kube-apiserver with its etcd on loopback, without nodes and without kubectl.
#
#   kubernetes.sh start         starts what does not run and makes the objects
#   kubernetes.sh stop          stops both
#   kubernetes.sh fault NAME    breaks one thing; heal NAME undoes it
#   kubernetes.sh faults        lists the names
#
# State lies in $VITALS_E2E_STATE/kubernetes; kubeconfig in it belongs to the user
# "viewer". The binaries come from install.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

state=${VITALS_E2E_STATE:?names the directory for state}/kubernetes
bin=$cache/kubernetes-$(kubernetes_version)
server=https://127.0.0.1:${VITALS_E2E_API_PORT:-26443}
etcd=http://127.0.0.1:${VITALS_E2E_ETCD_PORT:-22379}
etcd_peer=http://127.0.0.1:${VITALS_E2E_ETCD_PEER_PORT:-22380}
admin_token=admin-test-token
viewer_token=viewer-test-token
rbac=/apis/rbac.authorization.k8s.io/v1
default=/api/v1/namespaces/default
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions

api() { curl -fsS --noproxy '*' --max-time 10 --cacert "$state/ca.crt" -H "Authorization: Bearer $admin_token" "$@"; }

# apply PATH FILE makes or repairs one object.
apply() { fill "$2" | api -o /dev/null -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary @- "$server$1?fieldManager=e2e&force=true"; }

delete() { api -o /dev/null -X DELETE "$server$1"; }

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# keys makes a certificate authority, the server's certificate and the key that signs
# service accounts' tokens.
keys() {
    [ ! -e "$state/api.crt" ] || return 0
    key "$state/ca.key"
    openssl req -x509 -new -key "$state/ca.key" -subj /CN=e2e-ca -days 30 -sha256 \
        -addext keyUsage=critical,keyCertSign,cRLSign -out "$state/ca.crt"
    key "$state/api.key"
    openssl req -new -key "$state/api.key" -subj /CN=kube-apiserver -out "$state/api.csr"
    printf '%s\n' extendedKeyUsage=serverAuth subjectAltName=DNS:localhost,IP:127.0.0.1 >"$state/api.ext"
    openssl x509 -req -in "$state/api.csr" -CA "$state/ca.crt" -CAkey "$state/ca.key" -CAcreateserial \
        -days 30 -sha256 -extfile "$state/api.ext" -out "$state/api.crt" 2>/dev/null
    openssl genrsa -out "$state/accounts.key" 2048 2>/dev/null
}

configure() {
    mkdir -p "$state/log"
    chmod 700 "$state"
    keys
    fill "$here/kubernetes/kubeconfig" >"$state/kubeconfig"
    printf %s "$viewer_token" >"$state/viewer.token"
    fill "$here/kubernetes/tokens.csv" >"$state/tokens.csv"
}

start_etcd() {
    running etcd || spawn etcd "$bin/etcd" --name e2e --data-dir "$state/etcd" --unsafe-no-fsync \
        --listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
        --listen-peer-urls "$etcd_peer" --initial-advertise-peer-urls "$etcd_peer" --initial-cluster "e2e=$etcd_peer"
    await 60 etcd curl -fsS --noproxy '*' --max-time 2 "$etcd/health"
}

# The reconciler of endpoints is off, so the advertised address is never published.
start_apiserver() {
    running kube-apiserver || spawn kube-apiserver "$bin/kube-apiserver" \
        --etcd-servers="$etcd" --bind-address=127.0.0.1 --secure-port="${server##*:}" \
        --advertise-address=127.0.0.1 --endpoint-reconciler-type=none --service-cluster-ip-range=10.96.0.0/24 \
        --kubelet-preferred-address-types=InternalIP \
        --tls-cert-file="$state/api.crt" --tls-private-key-file="$state/api.key" \
        --token-auth-file="$state/tokens.csv" --authorization-mode=RBAC --allow-privileged=true \
        --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$state/accounts.key" --service-account-signing-key-file="$state/accounts.key"
    await_apiserver
}

await_apiserver() { await 120 kube-apiserver api "$server/readyz"; }

# kill_apiserver uses SIGKILL: on SIGTERM the server waits for open watches.
kill_apiserver() { end kube-apiserver KILL; }

restart_apiserver() {
    kill_apiserver
    start_apiserver
}

accept_token() {
    viewer_token=$1 fill "$here/kubernetes/tokens.csv" >"$state/tokens.csv"
    restart_apiserver
}

make_crd() { plural=$1 kind=$2 apply "$crds/$1.openstack.org" "$here/kubernetes/crd.yaml"; }

# make_account makes what a pod needs of the controller manager, which does not run. The
# server itself makes the namespace, a moment after it answers.
make_account() {
    local authority
    authority=$(sed 's/^/    /' "$state/ca.crt")
    await 30 kube-apiserver api "$server$default"
    apply "$default/serviceaccounts/default" "$here/kubernetes/account.yaml"
    apply "$default/configmaps/kube-root-ca.crt" "$here/kubernetes/root-ca.yaml"
}

make_binding() { apply "$rbac/clusterrolebindings/vitals-viewer" "$here/kubernetes/viewer-binding.yaml"; }

start() {
    [ -x "$bin/kube-apiserver" ] || die "no binaries in $bin; run install.sh first"
    configure
    start_etcd
    start_apiserver
    apply "$rbac/clusterroles/vitals-viewer" "$here/kubernetes/viewer-role.yaml"
    make_binding
    make_account
    make_crd kuryrnetworks KuryrNetwork
    make_crd kuryrports KuryrPort
    make_crd kuryrloadbalancers KuryrLoadBalancer
    make_crd kuryrnetworkpolicies KuryrNetworkPolicy
    progress "Kubernetes answers at $server"
}

stop() {
    kill_apiserver
    end etcd
}

# Every function named fault_NAME is a fault, and heal_NAME undoes it.
fault_apiserver_killed() { kill_apiserver; }
heal_apiserver_killed() { start_apiserver; }

fault_apiserver_frozen() { signal kube-apiserver STOP; }
heal_apiserver_frozen() { signal kube-apiserver CONT; }

# The server takes seconds to find its store again; a health check cannot shorten that.
fault_etcd_stopped() { end etcd KILL; }
heal_etcd_stopped() { start_etcd && await_apiserver; }

fault_etcd_frozen() { signal etcd STOP; }
heal_etcd_frozen() { signal etcd CONT && await_apiserver; }

fault_token_rejected() { accept_token another-test-token; }
heal_token_rejected() { accept_token "$viewer_token"; }

# A rotated token lies in the file before the old one is refused.
fault_token_rotated() {
    printf %s rotated-test-token >"$state/viewer.token"
    accept_token rotated-test-token
}
heal_token_rotated() {
    printf %s "$viewer_token" >"$state/viewer.token"
    accept_token "$viewer_token"
}

# An open watch outlives the role that allowed it, so the server is started anew.
fault_role_removed() {
    delete "$rbac/clusterrolebindings/vitals-viewer"
    restart_apiserver
}
heal_role_removed() { make_binding; }

fault_crd_removed() { delete "$crds/kuryrports.openstack.org"; }
heal_crd_removed() { make_crd kuryrports KuryrPort; }

main "$@"
