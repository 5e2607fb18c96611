package tcp

import (
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

func TestRedisFailures(t *testing.T) {
	for _, c := range []struct {
		name, command, answer string
		reason                remote.Reason
		text                  string
	}{
		{"E28 requires a password", "PING", "-NOAUTH Authentication required.", remote.ReasonAuth, "answer to PING: NOAUTH Authentication required."},
		{"E28 wrong password", "AUTH", "-WRONGPASS invalid username-password pair or user is disabled.", remote.ReasonAuth, "answer to AUTH: WRONGPASS invalid username-password pair or user is disabled."},
		{"the user may not ping", "PING", "-NOPERM User vitals has no permissions to run the 'ping' command", remote.ReasonAuth, "answer to PING: NOPERM User vitals has no permissions to run the"},
		{"has no password", "AUTH", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?", remote.ReasonAuth, "answer to AUTH: ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"},
		{"repeats the password", "AUTH", "-ERR unknown command 'AUTH', with args beginning with: 'hunter2' ", remote.ReasonProtocol, "answer to AUTH: ERR unknown command"},
		{"too many clients for AUTH", "AUTH", "-ERR max number of clients reached", remote.ReasonServerError, "answer to AUTH: ERR max number of clients reached"},
		{"too many clients", "PING", "-ERR max number of clients reached", remote.ReasonServerError, "answer to PING: ERR max number of clients reached"},
		{"unknown PING", "PING", "-ERR unknown command 'PING'", remote.ReasonProtocol, "answer to PING: ERR unknown command"},
		{"protected mode", "PING", "-DENIED Redis is running in protected mode because ...", remote.ReasonForbidden, "answer to PING: DENIED Redis is running in protected mode because ..."},
		{"still loads", "PING", "-LOADING Redis is loading the dataset in memory", remote.ReasonServerError, "answer to PING: LOADING Redis is loading the dataset in memory"},
		{"replica without its master", "PING", "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", remote.ReasonServerError, "answer to PING: MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to"},
		{"a script runs", "PING", "-BUSY Redis is busy running a script.", remote.ReasonServerError, "answer to PING: BUSY Redis is busy running a script."},
		{"cannot save", "PING", "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", remote.ReasonServerError, "answer to PING: MISCONF Redis is configured to save RDB snapshots, but it"},
		{"E28 control characters", "PING", "-ERR \x1b[31mred\x00", remote.ReasonServerError, "answer to PING: ERR \x1b[31mred\x00"},
		{"code alone", "PING", "-ERR", remote.ReasonServerError, "answer to PING: ERR "},
		{"a bulk string", "PING", "$4", remote.ReasonProtocol, `expected +PONG for PING, got "$4"`},
		{"not an error code", "PING", "-oops", remote.ReasonProtocol, `expected +PONG for PING, got "-oops"`},
		{"more than PONG", "PING", "+PONGO", remote.ReasonProtocol, `expected +PONG for PING, got "+PONGO"`},
		{"less than PONG", "PING", "+PON", remote.ReasonProtocol, `expected +PONG for PING, got "+PON"`},
		{"nothing", "PING", "", remote.ReasonProtocol, `expected +PONG for PING, got ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "+PONG"
			if c.command == "AUTH" {
				want = "+OK"
			}
			err := redisFailure(c.command, want, c.answer)
			if got := reasonOf(err); got != c.reason || err.Error() != c.text {
				t.Errorf("redisFailure(%q) = %q, %v, want %q, %s", c.answer, got, err, c.reason, c.text)
			}
		})
	}
}

func TestRedisCheck(t *testing.T) {
	const ping = "*1\r\n$4\r\nPING\r\n"
	for _, c := range []struct {
		name   string
		login  *credentials
		script []string
		want   remote.Reason
	}{
		{"E28 no login", nil, []string{ping, "+PONG\r\n"}, ""},
		{"password", &credentials{Password: "päss"}, []string{"*2\r\n$4\r\nAUTH\r\n$5\r\npäss\r\n", "+OK\r\n", ping, "+PONG\r\n"}, ""},
		{"user", &credentials{Username: "u", Password: "p"}, []string{"*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n", "+OK\r\n", ping, "+PONG\r\n"}, ""},
		{"wrong password", &credentials{Password: "p"}, []string{"*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n", "-WRONGPASS no\r\n"}, remote.ReasonAuth},
		{"closes after AUTH", &credentials{Password: "p"}, []string{"*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n", "+OK\r\n", ping}, remote.ReasonProtocol},
		{"no carriage return", nil, []string{ping, "+PONG\n"}, remote.ReasonProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, conn := serveOnce(t, patience, scripted(t, c.script...))
			note, err := checkRedis(ctx, &peer{conn: conn, login: c.login})
			if got := reasonOf(err); got != c.want || err == nil && note != "+PONG" {
				t.Errorf("checkRedis() = %q, reason %q, %v, want reason %q", note, got, err, c.want)
			}
		})
	}
}

func TestRedisHostile(t *testing.T) { hostile(t, checkRedis) }

func FuzzRedisAnswer(f *testing.F) {
	for _, seed := range []string{"+PONG", "-NOAUTH Authentication required.", "-ERR 'x", "$-1", "-\xff\xfe", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		err := redisFailure("PING", redisPong, answer)
		if got := reasonOf(err); !slices.Contains(remote.Reasons(), got) {
			t.Fatalf("redisFailure(%q) has the reason %q, want a known one", answer, got)
		}
	})
}

func FuzzRedisServer(f *testing.F) {
	f.Add([]byte("+PONG\r\n"))
	f.Add([]byte("-NOAUTH Authentication required.\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) { fuzzServer(t, answer, checkRedis) })
}
