package main

// usage is what --help prints.
const usage = `usage: healthcheck [flags] [arguments]

Asks the Vitals daemon for a state and exits with its verdict. The first line on
stdout says it all.

  --socket=PATH     the daemon's Unix socket (/run/vitals/vitals.sock)
  --state=NAME      ready, alive, started or another state (ready)
  --style=STYLE     plain, docker, sonic or nagios (by the name of the program)
  --timeout=900ms   one deadline for everything; below the probe's own

  --standalone      ask no daemon: collect and evaluate once
  --config.file=F   the configuration to do that with (/etc/vitals/vitals.yml)
  --profile=NAME    the profile to do that with, where there is no such file
  --vitals=PATH     the program to do that with (vitals, beside this one)

Where nobody listens on the socket, and the configuration is there or a profile
named, the process becomes "vitals once", with the same output and codes. Then the
arguments are the variable "arguments" of the profile; else they mean nothing.

The environment says what no flag does: VITALS_HEALTHCHECK_SOCKET, _STATE, _STYLE,
_TIMEOUT, _STANDALONE (anything), _CONFIG_FILE and _VITALS, and VITALS_PROFILE. The
name that the program is called by chooses the style: healthcheck is docker,
readiness_probe.sh is sonic, check_vitals is nagios, and every other name is plain.
So a symbolic link is the whole installation.

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

own: the exit_code of the deciding rule, where it has one: under sonic 1 to 119,
under plain 10 to 119.
`
