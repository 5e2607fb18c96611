package main

// usage is the output of --help.
const usage = `usage: healthcheck [flags] [arguments]

Queries the Vitals daemon for a state and exits with its verdict. The first line on
stdout has the whole result.

  --socket=PATH     the daemon's Unix socket (/run/vitals/vitals.sock)
  --state=NAME      ready, alive, started or another state (ready)
  --style=STYLE     plain, docker, sonic or nagios (by the program's name)
  --timeout=900ms   the deadline of the whole run; below the probe's own
  --no-daemon=pass  pass if no process listens on the socket, for liveness and
                    startup only; the default once evaluates without a daemon

  --standalone      do not query a daemon: collect and evaluate once
  --config.file=F   the configuration for that (/etc/vitals/vitals.yml)
  --profile=NAME    the profile for that, if there is no such file
  --vitals=PATH     the program for that (vitals, in this folder)

If no process listens on the socket, --no-daemon decides. Under once, and if the
configuration exists or a profile is given, the process executes "vitals once",
with the same output and codes. The arguments are then the variable "arguments" of
the profile; otherwise they are ignored. By default, the profile tripleo then gets
5 s more than HEALTHCHECK_CURL_MAX_TIME.

Environment variables set the flags that are not given: VITALS_HEALTHCHECK_SOCKET,
_STATE, _STYLE, _TIMEOUT, _NO_DAEMON, _STANDALONE (any value), _CONFIG_FILE and
_VITALS, and VITALS_PROFILE. The default style depends on the name by which the
program is called: docker for healthcheck, sonic for readiness_probe.sh, nagios for
check_vitals, plain for any other name. So a symbolic link is the whole
installation.

exit code          plain    docker  sonic    nagios
ok                 0        0       0        0
warning            0        0       0        1
failing            1, own   1       120, own 2
unknown            2, own   1       121, own 3
usage              3        1       122      3
no daemon          4        1       123      3
timeout            5        1       124      2
stale verdict      6        1       125      2
no permission      7        1       123      3
no rules           8        1       121      3
not understood     9        1       125      3

own: the exit_code of the deciding rule, if it has one: under sonic 1 to 119,
under plain 10 to 119.
`
