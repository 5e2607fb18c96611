package collectors

import (
	"slices"
	"testing"
)

func TestRedisFailures(t *testing.T) {
	for _, c := range []struct {
		name, command, answer string
		reason                Reason
		text                  string
	}{
		{"E28 wants a password", "PING", "-NOAUTH Authentication required.", ReasonAuth, "answer to PING: NOAUTH Authentication required."},
		{"E28 wrong password", "AUTH", "-WRONGPASS invalid username-password pair or user is disabled.", ReasonAuth, "answer to AUTH: WRONGPASS invalid username-password pair or user is disabled."},
		{"the user may not ping", "PING", "-NOPERM User vitals has no permissions to run the 'ping' command", ReasonAuth, "answer to PING: NOPERM User vitals has no permissions to run the"},
		{"has no password", "AUTH", "-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?", ReasonAuth, "answer to AUTH: ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"},
		{"repeats the password", "AUTH", "-ERR unknown command 'AUTH', with args beginning with: 'hunter2' ", ReasonProtocol, "answer to AUTH: ERR unknown command"},
		{"too many clients for AUTH", "AUTH", "-ERR max number of clients reached", ReasonServerError, "answer to AUTH: ERR max number of clients reached"},
		{"too many clients", "PING", "-ERR max number of clients reached", ReasonServerError, "answer to PING: ERR max number of clients reached"},
		{"does not know PING", "PING", "-ERR unknown command 'PING'", ReasonProtocol, "answer to PING: ERR unknown command"},
		{"protected mode", "PING", "-DENIED Redis is running in protected mode because ...", ReasonForbidden, "answer to PING: DENIED Redis is running in protected mode because ..."},
		{"still loads", "PING", "-LOADING Redis is loading the dataset in memory", ReasonServerError, "answer to PING: LOADING Redis is loading the dataset in memory"},
		{"replica without its master", "PING", "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", ReasonServerError, "answer to PING: MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to"},
		{"a script runs", "PING", "-BUSY Redis is busy running a script.", ReasonServerError, "answer to PING: BUSY Redis is busy running a script."},
		{"cannot save", "PING", "-MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.", ReasonServerError, "answer to PING: MISCONF Redis is configured to save RDB snapshots, but it"},
		{"E28 control characters", "PING", "-ERR \x1b[31mred\x00", ReasonServerError, "answer to PING: ERR \x1b[31mred\x00"},
		{"code alone", "PING", "-ERR", ReasonServerError, "answer to PING: ERR "},
		{"a bulk string", "PING", "$4", ReasonProtocol, `expected +PONG for PING, got "$4"`},
		{"not an error code", "PING", "-oops", ReasonProtocol, `expected +PONG for PING, got "-oops"`},
		{"more than PONG", "PING", "+PONGO", ReasonProtocol, `expected +PONG for PING, got "+PONGO"`},
		{"less than PONG", "PING", "+PON", ReasonProtocol, `expected +PONG for PING, got "+PON"`},
		{"nothing", "PING", "", ReasonProtocol, `expected +PONG for PING, got ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := "+PONG"
			if c.command == "AUTH" {
				want = "+OK"
			}
			err := redisFailure(c.command, want, c.answer)
			if got := tcpReasonOf(err); got != c.reason || err.Error() != c.text {
				t.Errorf("redisFailure(%q) = %q, %v, want %q, %s", c.answer, got, err, c.reason, c.text)
			}
		})
	}
}

func TestRedisCheck(t *testing.T) {
	const ping = "*1\r\n$4\r\nPING\r\n"
	for _, c := range []struct {
		name   string
		login  *tcpLogin
		script []string
		want   Reason
	}{
		{"E28 no login", nil, []string{ping, "+PONG\r\n"}, ""},
		{"password", &tcpLogin{Password: "päss"}, []string{"*2\r\n$4\r\nAUTH\r\n$5\r\npäss\r\n", "+OK\r\n", ping, "+PONG\r\n"}, ""},
		{"user", &tcpLogin{Username: "u", Password: "p"}, []string{"*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n", "+OK\r\n", ping, "+PONG\r\n"}, ""},
		{"wrong password", &tcpLogin{Password: "p"}, []string{"*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n", "-WRONGPASS no\r\n"}, ReasonAuth},
		{"leaves after AUTH", &tcpLogin{Password: "p"}, []string{"*2\r\n$4\r\nAUTH\r\n$1\r\np\r\n", "+OK\r\n", ping}, ReasonProtocol},
		{"no carriage return", nil, []string{ping, "+PONG\n"}, ReasonProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, conn := tcpServe(t, tcpPatience, tcpScript(t, c.script...))
			note, err := checkRedis(ctx, &tcpPeer{conn: conn, login: c.login})
			if got := tcpReasonOf(err); got != c.want || err == nil && note != "+PONG" {
				t.Errorf("checkRedis() = %q, reason %q, %v, want reason %q", note, got, err, c.want)
			}
		})
	}
}

func TestRedisHostile(t *testing.T) { tcpHostile(t, checkRedis) }

func FuzzRedisAnswer(f *testing.F) {
	for _, seed := range []string{"+PONG", "-NOAUTH Authentication required.", "-ERR 'x", "$-1", "-\xff\xfe", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		err := redisFailure("PING", redisPong, answer)
		if got := tcpReasonOf(err); !slices.Contains(Reasons(), got) {
			t.Fatalf("redisFailure(%q) has the reason %q, want a known one", answer, got)
		}
	})
}

func FuzzRedisServer(f *testing.F) {
	f.Add([]byte("+PONG\r\n"))
	f.Add([]byte("-NOAUTH Authentication required.\r\n"))
	f.Fuzz(func(t *testing.T, answer []byte) { tcpFuzzServer(t, answer, checkRedis) })
}
