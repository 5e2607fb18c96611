#!/bin/sh
# Report a component's health to Vitals.
#
#     client.sh NAME ready|not-ready|dead [REASON]
#
# VITALS_SOCKET is the Unix socket of Vitals. With VITALS_URL, such as http://vitals:8080,
# reports go there instead, with the token in the file VITALS_TOKEN_FILE. The exit code is 0
# once Vitals has the report.
set -eu

case "$#:${2-}" in
[23]:ready) health='"alive":true,"ready":true' ;;
[23]:not-ready) health='"alive":true,"ready":false' ;;
[23]:dead) health='"alive":false,"ready":false' ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac

# A JSON string has no control characters, and a backslash before \ and ".
reason=$(printf %.500s "${3-}" | tr '\000-\037\177' ' ' | sed 's/[\\"]/\\&/g')

put() {
    curl --silent --show-error --fail-with-body --max-time 2 "$@" \
        -X PUT -d "{$health,\"reason\":\"$reason\"}"
}

if [ -n "${VITALS_URL-}" ]; then
    # From a pipe, because every user can read the arguments of a process.
    token=$(cat "$VITALS_TOKEN_FILE")
    printf 'header = "Authorization: Bearer %s"\n' "$token" |
        put --config - "$VITALS_URL/api/v1/components/$1"
else
    put --unix-socket "${VITALS_SOCKET:-/run/vitals/vitals.sock}" "http://localhost/api/v1/components/$1"
fi
