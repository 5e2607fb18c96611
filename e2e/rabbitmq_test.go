//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// rabbit is a RabbitMQ with its data in a directory of its own, and its own epmd, by
// which its tools find it.
type rabbit struct {
	*tcpServer
	environment []string
}

// rabbitServer starts a broker as the user of the package, and waits until it serves.
func rabbitServer(t *testing.T, listen string, more ...string) rabbit {
	t.Helper()
	dir := ownedDirectory(t, "rabbitmq")
	certificates := ownedDirectory(t, "rabbitmq")
	names, nodes := address(t), address(t)
	for file, text := range map[string]string{"rabbitmq.conf": strings.Join(more, "\n") + "\n", "env.conf": "", "plugins": "[].\n"} {
		if err := os.WriteFile(filepath.Join(certificates, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r := rabbit{environment: []string{"setpriv", "--reuid=rabbitmq", "--regid=rabbitmq", "--clear-groups", "env", "-C", dir, "HOME=" + dir,
		"ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT=" + tcpPort(t, names), "RABBITMQ_NODENAME=vitals@localhost",
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + tcpPort(t, listen), "RABBITMQ_DIST_PORT=" + tcpPort(t, nodes),
		"RABBITMQ_MNESIA_BASE=" + dir + "/mnesia", "RABBITMQ_LOG_BASE=" + dir + "/log", "RABBITMQ_LOGS=-",
		"RABBITMQ_CONFIG_FILE=" + certificates + "/rabbitmq.conf", "RABBITMQ_CONF_ENV_FILE=" + certificates + "/env.conf",
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + certificates + "/plugins", "RABBITMQ_PID_FILE=" + dir + "/pid", "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 1:1"}}
	tcpServe(t, r.command("epmd", "-address", "127.0.0.1")...)
	r.tcpServer = tcpServe(t, r.command("/usr/lib/rabbitmq/bin/rabbitmq-server")...)
	await(t, "RabbitMQ listens", startsWithin, func() error {
		conn, err := net.DialTimeout("tcp", listen, time.Second)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	return r
}

func (r rabbit) command(command ...string) []string {
	return append(r.environment[:len(r.environment):len(r.environment)], command...)
}

// ctl runs rabbitmqctl and returns its output.
func (r rabbit) ctl(t *testing.T, args ...string) string {
	t.Helper()
	command := r.command(append([]string{"/usr/lib/rabbitmq/bin/rabbitmqctl"}, args...)...)
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		t.Fatalf("rabbitmqctl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

const rabbitWell = "RabbitMQ 3."

func TestTCPRabbitMQ(t *testing.T) {
	t.Parallel()
	listen, secured := address(t), address(t)
	certificates := ownedDirectory(t, "rabbitmq")
	tcpCertificates(t, certificates)
	r := rabbitServer(t, listen, "listeners.ssl.1 = "+secured, "ssl_options.cacertfile = "+certificates+"/ca.pem",
		"ssl_options.certfile = "+certificates+"/cert.pem", "ssl_options.keyfile = "+certificates+"/key.pem",
		"ssl_options.verify = verify_peer", "ssl_options.fail_if_no_peer_cert = false")
	for _, args := range []string{"add_user vitals test-password", "add_vhost /nova", "set_permissions -p /nova vitals .* .* .*",
		"add_vhost full", "set_permissions -p full vitals .* .* .*", `set_vhost_limits -p full {"max-connections":0}`} {
		r.ctl(t, strings.Fields(args)...)
	}
	server := func(more string) string { return "address: '" + listen + "', protocol: amqp" + more }
	const login = ", username: vitals, password: test-password"
	tls := ", tls: {ca_file: " + certificates + "/ca.pem"
	a := tcpAsk(t, map[string]string{
		"guest":     server(""),
		"vitals":    server(login + ", database: /nova"),
		"wrong":     server(", username: guest, password: test-password-wrong"),
		"unknown":   server(", username: unknown, password: test-password"),
		"missing":   server(", database: nowhere"),
		"forbidden": server(login),
		"full":      server(login + ", database: full"),
		"tls":       "address: '" + secured + "', protocol: amqp" + tls + "}",
		"name":      "address: '" + secured + "', protocol: amqp" + tls + ", server_name: rabbit.example}",
		"clear":     "address: '" + secured + "', protocol: amqp",
		"plain":     server(tls + "}"),
		"amqp1":     `address: '` + listen + `', query_response: [{send: "AMQP\x00\x01\0\0"}, {expect: 'AMQP\x00\x00\x09\x01'}]`,
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"guest", "guest", "", "amqp " + listen + " " + rabbitWell},
		{"user and virtual host", "vitals", "", rabbitWell},
		{"wrong password", "wrong", "auth", "auth: login: 403 ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN."},
		{"unknown user", "unknown", "auth", "auth: login: 403 ACCESS_REFUSED"},
		{"no such virtual host", "missing", "not_found", "530 NOT_ALLOWED - vhost nowhere not found"},
		{"virtual host of others", "forbidden", "forbidden", "530 NOT_ALLOWED - access to vhost '/' refused for user 'vitals'"},
		{"too many connections", "full", "server_error", "connection limit (0) is reached"},
		{"TLS", "tls", "", rabbitWell},
		{"another name", "name", "tls", "rabbit.example"},
		{"plain text to a port with TLS", "clear", "protocol", "protocol: read answer to protocol header"},
		{"TLS to a port without", "plain", "tls", "tls handshake"},
		{"AMQP 1.0 without its plugin", "amqp1", "", "AMQP"},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("alarm of memory is not seen", func(t *testing.T) {
		r.ctl(t, "set_vm_memory_high_watermark", "0.0001")
		await(t, "the alarm is on", tcpWithin, func() error {
			if alarms := r.ctl(t, "eval", "rabbit_alarm:get_alarms()."); !strings.Contains(alarms, "memory") {
				return fmt.Errorf("alarms: %s", alarms)
			}
			return nil
		})
		a.anotherRound(t, "guest")
		a.sees(t, "guest", "", rabbitWell)
		r.ctl(t, "set_vm_memory_high_watermark", "0.4")
	})
	t.Run("application stopped", func(t *testing.T) {
		r.ctl(t, "stop_app")
		a.sees(t, "guest", "refused", "connection refused")
		r.ctl(t, "start_app")
		a.sees(t, "guest", "", rabbitWell)
	})
	a.faults(t, r.tcpServer, "guest", rabbitWell)
	t.Run("stopped by rabbitmqctl", func(t *testing.T) {
		r.ctl(t, "stop")
		a.sees(t, "guest", "refused", "connection refused")
	})
}
