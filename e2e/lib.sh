# Shared by the scripts of this folder, which source it: messages, and processes that are
# tracked by files under $state/run. Callers set `set -euo pipefail` and $state.

# progress prints one line of progress with the seconds since the script began.
progress() { printf '%-10s %4ss  %s\n' "${0##*/}" "$SECONDS" "$*" >&2; }

die() {
    progress "error: $*"
    exit 1
}

cache=${VITALS_E2E_CACHE:-$HOME/.cache/vitals-e2e}

# kubernetes_version prints the version that the module of the tools names.
kubernetes_version() { sed -n 's|^\tk8s.io/kubernetes \(v[0-9.]*\).*|\1|p' "$here/tools/go.mod"; }

# started PID prints when the process began, in clock ticks since boot, and fails for
# one that is gone or a zombie. A process id together with this is never reused.
started() {
    local stat fields
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    read -ra fields <<<"${stat##*) }"
    [ "${fields[0]}" != Z ] && echo "${fields[19]}"
}

# pid_of NAME prints the process id of what spawn started as NAME, while it lives.
pid_of() {
    local pid since
    read -r pid since 2>/dev/null <"$state/run/$1" || return 1
    [ "$(started "$pid")" = "$since" ] && echo "$pid"
}

running() { pid_of "$1" >/dev/null; }

# spawn NAME COMMAND... runs the command in a session of its own, so that its process
# id is also the id of a process group that holds all its workers.
spawn() {
    local name=$1 pid
    shift
    mkdir -p "$state/run" "$state/log"
    (cd "$state" && exec setsid "$@" >>"$state/log/$name.log" 2>&1 </dev/null) &
    pid=$!
    echo "$pid $(started "$pid")" >"$state/run/$name"
}

# signal NAME SIGNAL reaches every process of the group.
signal() {
    local pid
    pid=$(pid_of "$1") || die "$1 does not run"
    kill -s "$2" -- "-$pid"
}

# end NAME [SIGNAL] ends the group and waits for it; a frozen group takes the signal
# only when it is continued. After 10 seconds it is killed.
end() {
    local name=$1 pid
    pid=$(pid_of "$name") || {
        rm -f "$state/run/$name"
        return 0
    }
    kill -s "${2:-TERM}" -- "-$pid" 2>/dev/null || true
    kill -s CONT -- "-$pid" 2>/dev/null || true
    for _ in $(seq 100); do
        kill -0 -- "-$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -s KILL -- "-$pid" 2>/dev/null || true
    rm -f "$state/run/$name"
}

# await SECONDS NAME COMMAND... repeats the command until it succeeds, as long as NAME runs.
await() {
    local until=$((SECONDS + $1)) name=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        running "$name" || die "$name ended too early (is its port taken?); see $state/log/$name.log"
        [ "$SECONDS" -lt "$until" ] || die "$name does not answer; see $state/log/$name.log"
        sleep 0.2
    done
}

# away PATH... hides files or directories, and back PATH... undoes it. What a program
# made in their place meanwhile is dropped.
away() {
    local path
    for path; do [ ! -e "$path" ] || mv "$path" "$path.away"; done
}

back() {
    local path
    for path; do
        [ ! -e "$path.away" ] || { rm -rf "$path" && mv "$path.away" "$path"; }
    done
}

# fill FILE prints a template with every @NAME@ replaced by the shell variable NAME.
fill() {
    local text name
    text=$(cat "$1")
    while [[ $text =~ @([A-Za-z_]+)@ ]]; do
        name=${BASH_REMATCH[1]}
        text=${text//"@$name@"/${!name?}}
    done
    printf '%s\n' "$text"
}

# main dispatches the verbs that both stacks share.
main() {
    local verb=${1:-start}
    case $verb in
    start | stop) "$verb" ;;
    fault | heal)
        declare -F "${verb}_${2//-/_}" >/dev/null || die "unknown fault: $2"
        "${verb}_${2//-/_}"
        ;;
    faults) declare -F | sed -n 's/^declare -f fault_//p' | tr _ - ;;
    *) die "usage: ${0##*/} start|stop|faults|fault NAME|heal NAME" ;;
    esac
}
