#!/usr/bin/env bash
# A node of Kubernetes: a real kubelet with containerd, an API server and an etcd
# of its own, without a registry.
#
#   kubelet.sh start          starts the node, which is called e2e
#   kubelet.sh stop           ends it with all its pods
#   kubelet.sh controllers    starts those controllers that make pods and endpoints
#   kubelet.sh scheduler      starts the scheduler; without it, pods name the node
#   kubelet.sh ctr ARG...     runs containerd's client, as in: ctr images import FILE
#   kubelet.sh image NAME FILE  imports an image with one static program
#
# The node has namespaces of its own for PIDs, mounts and the network: every port is
# free there, no other process sees what it mounts or writes below /run and /var, and all of
# it ends with its first process. State lies in $VITALS_E2E_STATE/kubelet. The programs
# come from install.sh.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

state=${VITALS_E2E_STATE:?names the directory for state}/kubelet
bin=$cache/kubernetes-$(kubernetes_version)
debian=$cache/node
address=198.51.100.1
cgroup=node-$(basename "$VITALS_E2E_STATE")
pause=vitals.invalid/pause:e2e
server=https://127.0.0.1:${VITALS_E2E_API_PORT:-26443}
admin_token=admin-test-token

# inside NAME... is the command that runs a command in the node.
inside() {
    local pid
    pid=$(pid_of node) || die "the node does not run"
    node=(nsenter --net="/proc/$pid/ns/net" --mount="/proc/$pid/ns/mnt" --pid="/proc/$pid/ns/pid_for_children" --
        env "PATH=$debian/usr/bin:$debian/usr/sbin:$PATH" "VITALS_E2E_STATE=$state")
}

client() { "${node[@]}" ctr -n k8s.io "$@"; }

api() { "${node[@]}" curl -fsS --noproxy '*' --max-time 10 --cacert "$state/kubernetes/ca.crt" -H "Authorization: Bearer $admin_token" "$@"; }

configure() {
    mkdir -p "$state"/{cni,written,image}
    fill "$here/kubelet/kubelet.yaml" >"$state/kubelet.yaml"
    fill "$here/kubelet/kubeconfig" >"$state/kubeconfig"
    fill "$here/kubelet/containerd.toml" >"$state/containerd.toml"
    fill "$here/kubelet/ptp.conflist" >"$state/cni/ptp.conflist"
    (cd "$here/.." && CGO_ENABLED=0 go build -tags e2e -trimpath -buildvcs=false -ldflags '-s -w' -o "$state/image/pause" ./e2e/kubelet/pause)
}

# make_cgroup makes the cgroup of all pods, in the one hierarchy of version 2 or in every
# one of version 1.
make_cgroup() {
    local at=/sys/fs/cgroup controller
    if [ -e "$at/cgroup.controllers" ]; then
        for controller in $(cat "$at/cgroup.controllers"); do echo "+$controller" >"$at/cgroup.subtree_control"; done
        mkdir -p "$at/$cgroup"
    else
        for at in "$at"/*/; do mkdir -p "$at$cgroup"; done
    fi
}

cgroups() { find /sys/fs/cgroup -maxdepth 2 -type d -name "$cgroup"; }

# boot is the node's first process: it hides what will be written to /run and /var.
boot() {
    local at
    mount -t tmpfs node "$state/written"
    for at in run var/lib var/log; do
        mkdir -p "$state/written/$at"/{upper,work}
        mount -t overlay -o "lowerdir=/$at,upperdir=$state/written/$at/upper,workdir=$state/written/$at/work" node "/$at"
    done
    ip link set lo up
    ip address add "$address/32" dev lo
    exec "$state/image/pause"
}

booted() { inside && "${node[@]}" grep -qx pause /proc/1/comm; }

start_node() {
    running node || spawn node unshare --net --mount --pid --fork --kill-child --mount-proc "$here/kubelet.sh" boot
    await 20 node booted
    inside
}

start_containerd() {
    running containerd || spawn containerd "${node[@]}" containerd --config "$state/containerd.toml"
    await 60 containerd client version
    [ -n "$(client images ls --quiet "name==$pause")" ] || import_image "$pause" "$state/image/pause"
}

# import_image NAME FILE makes an image of one layer with one program, its entry point.
import_image() (
    local program=${2##*/}
    cd "$(dirname "$2")"
    tar -c --owner=0 --group=0 --mode=755 -f layer.tar "$program"
    printf '{"architecture":"%s","os":"linux","config":{"Entrypoint":["/%s"]},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]}}' \
        "$(go env GOARCH)" "$program" "$(sha256sum layer.tar | cut -d' ' -f1)" >config.json
    printf '[{"Config":"config.json","RepoTags":["%s"],"Layers":["layer.tar"]}]' "$1" >manifest.json
    tar -c manifest.json config.json layer.tar | client images import - >/dev/null
)

start_kubelet() {
    running kubelet || spawn kubelet "${node[@]}" "$bin/kubelet" --config="$state/kubelet.yaml" --kubeconfig="$state/kubeconfig" \
        --root-dir="$state/root" --cert-dir="$state/root/pki" --hostname-override=e2e --node-ip="$address" --v=2
    await 60 kubelet ready
}

ready() { [[ $(api "$server/api/v1/nodes/e2e" | tr -d '[:space:]') == *'"type":"Ready","status":"True"'* ]]; }

start() {
    [ "$(id -u)" = 0 ] || die "only root may start a node"
    [ -x "$bin/kubelet" ] && [ -x "$debian/usr/bin/containerd" ] || die "no programs in $cache; run install.sh first"
    configure
    make_cgroup
    start_node
    "${node[@]}" "$here/kubernetes.sh" start
    start_containerd
    start_kubelet
    progress "the node e2e is ready"
}

# controllers starts the controllers that make pods of a Deployment, a DaemonSet and a Job, the
# endpoints of a Service, and the account of a namespace, and those that end what belongs to an object.
controllers() {
    inside
    running controllers || spawn controllers "${node[@]}" "$bin/kube-controller-manager" --kubeconfig="$state/kubeconfig" \
        --controllers=deployment-controller,replicaset-controller,daemonset-controller,job-controller,endpointslice-controller,serviceaccount-controller,namespace-controller,garbage-collector-controller,node-lifecycle-controller \
        --leader-elect=false --bind-address=127.0.0.1 --secure-port=10257
    await 60 controllers "${node[@]}" curl -fsSk --noproxy '*' --max-time 2 https://127.0.0.1:10257/healthz
}

scheduler() {
    inside
    running scheduler || spawn scheduler "${node[@]}" "$bin/kube-scheduler" --kubeconfig="$state/kubeconfig" \
        --leader-elect=false --bind-address=127.0.0.1 --secure-port=10259
    await 60 scheduler "${node[@]}" curl -fsSk --noproxy '*' --max-time 2 https://127.0.0.1:10259/healthz
}

# stop ends the first process, with which the kernel ends all others, and waits for that.
stop() {
    local at
    end node
    end scheduler
    end controllers
    end kubelet
    end containerd
    for at in $(cgroups); do
        find "$at" -depth -type d -exec rmdir {} + || [ ! -e "$at" ] || die "processes of the node are left in $at"
    done
    [ ! -e "$state" ] || rm -rf --one-file-system "$state"/{containerd,root,addresses,written,image,kubernetes/etcd}
}

case ${1:-} in
start | stop | boot | controllers | scheduler) "$1" ;;
ctr) shift && inside && client "$@" ;;
image) [ $# = 3 ] && inside && import_image "$2" "$3" ;;
*) die "usage: ${0##*/} start|stop|controllers|scheduler|ctr ARG...|image NAME FILE" ;;
esac
