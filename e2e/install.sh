#!/usr/bin/env bash
# Installs what the end-to-end tests run against; what is there already is left alone.
#
#   install.sh bootstrap     debootstrap and iproute2, for .ci/fresh (root, once)
#   install.sh packages      Keystone's, Neutron's, Octavia's and Cinder's libraries from Debian 12 (root, once)
#   install.sh services      the daemons whose health is checked: supervisord, redis, memcached,
#                            MariaDB, PostgreSQL, RabbitMQ, etcd, Apache, sshd, rsync, Open vSwitch's database,
#                            unbound, chrony (root, once)
#   install.sh grpc          a server of grpc-go with its health service, and grpc-health-probe, built
#                            into the cache
#   install.sh browser       Chromium without a window, and a font, for the status page (root, once);
#                            axe-core from npm, into the cache
#   install.sh prometheus    Debian's Prometheus and Alertmanager, unpacked into the cache, not installed
#   install.sh kubernetes    etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kubectl and
#                            helm, built into the cache (minutes); the definitions of the Prometheus Operator
#   install.sh node          Debian's containerd, runc and CNI plugins, unpacked into the cache,
#                            not installed
#   install.sh release       rpm and docker-compose (root, once); Debian's Docker, its registry and
#                            QEMU's emulator of arm64, unpacked into the cache, not installed
#   install.sh vm            QEMU from Debian 12 (root, once), and Debian's kernel for virtual
#                            machines, unpacked into the cache, not installed
#
# The cache is $VITALS_E2E_CACHE, by default ~/.cache/vitals-e2e.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/lib.sh"

# The libraries bring no daemon, no user and no question to answer. systemd and dbus run in
# a namespace of their own; python3 and curl report for components as well. The second line
# makes network namespaces and takes capabilities away: ip, capsh, and setpriv. The last one shows
# the manual page and completes commands.
packages=(python3-keystone python3-neutron python3-octavia python3-cinder uwsgi-core uwsgi-plugin-python3 curl openssl python3 systemd dbus
    iproute2 iptables libcap2-bin util-linux
    man-db zsh fish)

# What the checks of containers are held against. The tests start them, on loopback.
services=(supervisor redis-server memcached mariadb-server postgresql rabbitmq-server etcd-server apache2 openssh-server rsync
    openvswitch-switch podman runc unbound ldnsutils chrony)

# The browser for the page. Chromium draws no letter without a font.
browser=(chromium fonts-dejavu-core)

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
        -o Dpkg::Options::=--force-unsafe-io "$@" </dev/null
}

# updated COMMAND... tries once more with fresh package lists.
updated() { "$@" || { apt update && "$@"; }; }

# without_services COMMAND... keeps packages from starting a service.
without_services() {
    local guard=/usr/sbin/policy-rc.d
    if [ ! -e "$guard" ]; then
        trap "rm -f $guard" EXIT
        printf '#!/bin/sh\nexit 101\n' >"$guard"
        chmod 755 "$guard"
    fi
    "$@"
}

installed() { [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# install_debian PACKAGE... installs those that are missing.
install_debian() {
    local package missing=()
    for package; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    [ "$(id -u)" = 0 ] || die "run once as root to install ${missing[*]}"
    without_services updated apt install --no-install-recommends "${missing[@]}" || die "Debian 12's packages cannot be installed: ${missing[*]}"
}

install_bootstrap() { install_debian debootstrap iproute2 util-linux; }

install_packages() { install_debian "${packages[@]}"; }

# install_axe unpacks axe-core, of the version and the integrity in axe/package-lock.json. npm
# is Debian's unless there is one.
install_axe() {
    local to
    to=$cache/axe-$(sed -n 's/.*"axe-core": "\(.*\)".*/\1/p' "$here/axe/package.json")
    [ ! -d "$to" ] || return 0
    command -v npm >/dev/null || install_debian npm
    rm -rf "$to.new" && mkdir -p "$to.new" && cp "$here"/axe/package*.json "$to.new"
    (cd "$to.new" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) || die "axe-core cannot be had from npm"
    mv "$to.new" "$to"
}

install_browser() { install_debian "${browser[@]}" && install_axe; }

install_services() { install_debian "${services[@]}"; }

# unpack DIRECTORY PACKAGE PROGRAM unpacks a package into the directory of the others
# unless it is there whole, with its program.
unpack() {
    local to=$cache/$1
    [ ! -e "$to/.$2" ] || [ ! -x "$to/usr/$3" ] || return 0
    mkdir -p "$to"
    (cd "$to" && rm -f "$2"_*.deb && updated apt download "$2" && dpkg-deb -x "$2"_*.deb . && rm "$2"_*.deb && touch ".$2")
}

install_prometheus() { unpack prometheus prometheus bin/promtool && unpack prometheus prometheus-alertmanager bin/amtool; }

install_node() {
    unpack node containerd bin/containerd && unpack node runc sbin/runc &&
        unpack node containernetworking-plugins lib/cni/ptp
}

# unpack_emulator DIRECTORY unpacks one program of a package that has 380 MB of them.
unpack_emulator() {
    rm -rf "$1" && mkdir -p "$1" && cd "$1" && apt download qemu-user-static &&
        dpkg-deb --fsys-tarfile qemu-user-static_*.deb | tar --extract ./usr/bin/qemu-aarch64-static && rm qemu-user-static_*.deb
}

install_release() {
    install_debian rpm docker-compose
    unpack docker docker.io sbin/dockerd
    unpack docker docker-registry bin/docker-registry
    [ ! -d "$cache/qemu-user" ] || return 0
    (updated unpack_emulator "$cache/qemu-user.new") || die "qemu-user-static of Debian 12 cannot be had for programs of arm64"
    mv "$cache/qemu-user.new" "$cache/qemu-user"
}

# unpack_kernel DIRECTORY unpacks the package on which linux-image-cloud-amd64 depends:
# the newest kernel of its kind.
unpack_kernel() {
    local package
    package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
    [ -n "$package" ] && rm -rf "$1" && mkdir -p "$1" && cd "$1" &&
        apt download "$package" && dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb
}

install_vm() {
    install_debian qemu-system-x86
    [ ! -d "$cache/kernel" ] || return 0
    (updated unpack_kernel "$cache/kernel.new") || die "linux-image-cloud-amd64 of Debian 12 cannot be had for the virtual machine"
    mv "$cache/kernel.new" "$cache/kernel"
}

# build_in MODULE FILE PACKAGE VARIABLE makes one program of a module unless the file is there. The
# variable is that of its version, with the value.
build_in() {
    [ ! -x "$2" ] || return 0
    (cd "$1" && CGO_ENABLED=0 nice go build -trimpath -buildvcs=false -o "$2.new" -ldflags "-s -w -X $4" "$3")
    mv "$2.new" "$2"
}

# build PROGRAM PACKAGE makes one program of the tools module.
build() {
    local version
    version=$(kubernetes_version)
    build_in "$here/tools" "$cache/kubernetes-$version/$1" "$2" "k8s.io/component-base/version.gitVersion=$version"
}

# build_helm makes the program of the version whose packages internal/charts uses.
build_helm() {
    local version
    version=$(sed -n 's|^\thelm.sh/helm/v3 \(v[0-9.]*\).*|\1|p' "$here/../internal/charts/go.mod")
    build_in "$here/../internal/charts" "$cache/helm-$version/helm" helm.sh/helm/v3/cmd/helm "helm.sh/helm/v3/internal/version.version=$version"
}

# The Prometheus Operator, and the sum of its module in the form of go.sum.
operator=github.com/prometheus-operator/prometheus-operator@v0.85.0
operator_sum=h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=

# take_definitions copies the definitions of the Prometheus Operator's objects out of its Go module.
take_definitions() {
    local to=$cache/prometheus-operator-${operator##*@} module
    [ ! -d "$to" ] || return 0
    module=$(cd / && go mod download -json "$operator") || die "${operator%@*} cannot be had from the Go module proxy: $module"
    [[ $module == *"\"Sum\": \"$operator_sum\""* ]] || die "$operator has another sum than $operator_sum: $module"
    mkdir -p "$to.new"
    cp "$(sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p' <<<"$module")"/example/prometheus-operator-crd/*_{podmonitors,servicemonitors,prometheusrules}.yaml "$to.new"
    chmod 644 "$to.new"/* && mv "$to.new" "$to"
}

install_grpc() {
    mkdir -p "$cache"
    (cd "$here/grpchealth" && CGO_ENABLED=0 nice go build -trimpath -buildvcs=false -o "$cache/grpchealth.new" .)
    mv "$cache/grpchealth.new" "$cache/grpchealth"
    (cd "$here/grpchealth" && CGO_ENABLED=0 nice go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$cache/grpc-health-probe.new" \
        github.com/grpc-ecosystem/grpc-health-probe)
    mv "$cache/grpc-health-probe.new" "$cache/grpc-health-probe"
}

install_kubernetes() {
    build etcd go.etcd.io/etcd/server/v3
    build kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
    build kube-controller-manager k8s.io/kubernetes/cmd/kube-controller-manager
    build kube-scheduler k8s.io/kubernetes/cmd/kube-scheduler
    build kubelet k8s.io/kubernetes/cmd/kubelet
    build kubectl k8s.io/kubernetes/cmd/kubectl
    build_helm
    take_definitions
}

case ${1:-} in
bootstrap | packages | services | grpc | browser | prometheus | kubernetes | node | release | vm) "install_$1" ;;
*) die "usage: ${0##*/} bootstrap|packages|services|grpc|browser|prometheus|kubernetes|node|release|vm" ;;
esac
