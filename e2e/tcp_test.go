//go:build e2e

package e2e_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func memcached(t *testing.T, options ...string) *tcpServer {
	t.Helper()
	return tcpServe(t, append([]string{"/usr/bin/memcached", "-u", "memcache", "-U", "0"}, options...)...)
}

func TestTCPMemcached(t *testing.T) {
	t.Parallel()
	listen, strict, sasl, dir := address(t), address(t), address(t), shortDirectory(t, "")
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	users := filepath.Join(dir, "users")
	if err := os.WriteFile(users, []byte("vitals:test-password\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := memcached(t, "-l", "127.0.0.1", "-p", tcpPort(t, listen))
	memcached(t, "-s", dir+"/memcached.sock")
	memcached(t, "-l", "127.0.0.1", "-p", tcpPort(t, strict), "-Y", users)
	tcpServe(t, "/usr/bin/env", "SASL_CONF_PATH="+dir, "/usr/bin/memcached", "-u", "memcache", "-U", "0", "-l", "127.0.0.1", "-p", tcpPort(t, sasl), "-S")
	a := tcpAsk(t, map[string]string{
		"memcached": "address: '" + listen + "', protocol: memcached",
		"socket":    "address: 'unix:" + dir + "/memcached.sock', protocol: memcached",
		"strict":    "address: '" + strict + "', protocol: memcached",
		"sasl":      "address: '" + sasl + "', protocol: memcached",
		"port":      "address: '" + sasl + "'",
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"version", "memcached", "", "memcached " + listen + " VERSION 1."},
		{"Unix socket", "socket", "", "VERSION 1."},
		{"requires a login in the text protocol", "strict", "auth", "unauthenticated"},
		{"SASL waits for more than the text", "sasl", "timeout", "timeout: read answer to version: "},
		{"SASL accepts a connection", "port", "", "connected"},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	a.faults(t, s, "memcached", "VERSION 1.")
}

func TestTCPSSH(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", dir+"/key").CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // sshd separates its privileges there
		t.Fatal(err)
	}
	s := tcpServe(t, "/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-h", dir+"/key", "-o", "ListenAddress="+listen, "-o", "PidFile=none")
	a := tcpAsk(t, map[string]string{
		"sshd":    `address: '` + listen + `', query_response: [{expect: '^SSH-2\.0-'}]`,
		"version": `address: '` + listen + `', query_response: [{expect: '^SSH-1\.5-'}]`,
	})
	t.Run("banner", func(t *testing.T) { a.sees(t, "sshd", "", "tcp "+listen+" SSH-2.0-OpenSSH_") })
	t.Run("another banner", func(t *testing.T) { a.sees(t, "version", "protocol", `got "SSH-2.0-OpenSSH_`) })
	a.faults(t, s, "sshd", "SSH-2.0-OpenSSH_")
}

func TestTCPRsync(t *testing.T) {
	t.Parallel()
	listen, dir := address(t), shortDirectory(t, "")
	config := filepath.Join(dir, "rsyncd.conf")
	if err := os.WriteFile(config, []byte("use chroot = no\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := tcpServe(t, "/usr/bin/rsync", "--daemon", "--no-detach", "--config="+config, "--address=127.0.0.1", "--port="+tcpPort(t, listen), "--log-file="+dir+"/log")
	a := tcpAsk(t, map[string]string{"rsync": `address: '` + listen + `', query_response: [{expect: '^@RSYNCD: \d+'}]`})
	t.Run("E20 listens", func(t *testing.T) { a.sees(t, "rsync", "", "tcp "+listen+" @RSYNCD: ") })
	a.faults(t, s, "rsync", "@RSYNCD: ")
}

func TestTCPOVSDB(t *testing.T) {
	t.Parallel()
	plain, secured, dir := address(t), address(t), shortDirectory(t, "")
	tcpCertificates(t, dir)
	if out, err := exec.Command("ovsdb-tool", "create", dir+"/conf.db", "/usr/share/openvswitch/vswitch.ovsschema").CombinedOutput(); err != nil {
		t.Fatalf("ovsdb-tool: %v\n%s", err, out)
	}
	s := tcpServe(t, "/usr/sbin/ovsdb-server", dir+"/conf.db", "--remote=ptcp:"+tcpPort(t, plain)+":127.0.0.1", "--remote=punix:"+dir+"/db.sock",
		"--remote=pssl:"+tcpPort(t, secured)+":127.0.0.1", "--private-key="+dir+"/key.pem", "--certificate="+dir+"/cert.pem", "--ca-cert="+dir+"/ca.pem",
		"--unixctl="+dir+"/ovsdb-server.123.ctl")
	tls := "tls: {ca_file: " + dir + "/ca.pem, cert_file: " + dir + "/cert.pem, key_file: " + dir + "/key.pem}"
	a := tcpAsk(t, map[string]string{
		"ovsdb":   "address: '" + plain + "', protocol: ovsdb",
		"named":   "address: '" + plain + "', protocol: ovsdb, database: Open_vSwitch",
		"missing": "address: '" + plain + "', protocol: ovsdb, database: OVN_Southbound",
		"socket":  "address: 'unix:" + dir + "/db.sock', protocol: ovsdb, database: Open_vSwitch",
		"tls":     "address: '" + secured + "', protocol: ovsdb, database: Open_vSwitch, " + tls,
		"clear":   "address: '" + secured + "', protocol: ovsdb",
		"unixctl": `address: 'unix:` + dir + `/ovsdb-server.*.ctl', query_response: [{send: '{"id":0,"method":"version","params":[]}'}, {expect: '"result":"ovsdb-server '}]`,
	})
	for _, c := range []struct{ name, collector, reason, note string }{
		{"list_dbs", "ovsdb", "", "ovsdb " + plain + " Open_vSwitch _Server"},
		{"a database", "named", "", "Open_vSwitch"},
		{"a missing database", "missing", "not_found", `database "OVN_Southbound" is not among those of the server`},
		{"Unix socket", "socket", "", "Open_vSwitch"},
		{"TLS", "tls", "", "Open_vSwitch"},
		{"plain text to a port with TLS", "clear", "protocol", "protocol: "},
		{"unixctl", "unixctl", "", `"result":"ovsdb-server (Open vSwitch) `},
	} {
		t.Run(c.name, func(t *testing.T) { a.sees(t, c.collector, c.reason, c.note) })
	}
	t.Run("stale control socket", func(t *testing.T) {
		stale, err := net.Listen("unix", dir+"/ovsdb-server.99.ctl")
		if err != nil {
			t.Fatal(err)
		}
		a.sees(t, "unixctl", "missing_endpoint", "2 sockets match")
		_ = stale.Close()
		a.sees(t, "unixctl", "", "ovsdb-server")
	})
	a.faults(t, s, "named", "Open_vSwitch")
}

// debianEtcd is Debian's, of the release series 3.4, which always syncs its files.
const debianEtcd = "/usr/bin/etcd"

// etcds are Debian's etcd, and the newer one on which the API server runs: they do not
// report the same about failures.
func etcds(t *testing.T) map[string][]string {
	t.Helper()
	return map[string][]string{"3.4": {debianEtcd}, "3.6": {newEtcd(t), "--unsafe-no-fsync"}}
}

func newEtcd(t *testing.T) string {
	t.Helper()
	return cached(t, "kubernetes-*/etcd", "kubernetes")
}

func TestTCPEtcd(t *testing.T) {
	t.Parallel()
	for version, program := range etcds(t) {
		t.Run(version, func(t *testing.T) { testTCPEtcd(t, program, version == "3.6") })
	}
}

// etcdReason is the end of a note about an unhealthy etcd: newer releases give a reason.
func etcdReason(explains bool, reason string) string {
	if !explains {
		return "health is false with status 503"
	}
	return `health is false with status 503, reason "` + reason + `"`
}

func testTCPEtcd(t *testing.T, program []string, explains bool) {
	dir := shortDirectory(t, "")
	tcpCertificates(t, dir)
	clients, peers, cluster := make([]string, 3), make([]string, 3), make([]string, 3)
	for i := range clients {
		clients[i], peers[i] = address(t), address(t)
		cluster[i] = fmt.Sprintf("m%d=http://%s", i, peers[i])
	}
	members := make([]*tcpServer, 3)
	for i := range members {
		members[i] = tcpServe(t, append(slices.Clip(program), fmt.Sprintf("--name=m%d", i), fmt.Sprintf("--data-dir=%s/m%d", dir, i), "--logger=zap", "--log-level=error",
			"--listen-client-urls=https://"+clients[i], "--advertise-client-urls=https://"+clients[i], "--listen-peer-urls=http://"+peers[i],
			"--initial-advertise-peer-urls=http://"+peers[i], "--initial-cluster="+strings.Join(cluster, ","),
			"--client-cert-auth", "--trusted-ca-file="+dir+"/ca.pem", "--cert-file="+dir+"/cert.pem", "--key-file="+dir+"/key.pem")...)
	}
	own := ", cert_file: " + dir + "/cert.pem, key_file: " + dir + "/key.pem"
	a := tcpAsk(t, map[string]string{
		"etcd":  "address: '" + clients[0] + "', protocol: etcd, tls: {ca_file: " + dir + "/ca.pem" + own + "}",
		"login": "address: '" + clients[0] + "', protocol: etcd, tls: {ca_file: " + dir + "/ca.pem}",
		"clear": "address: '" + clients[0] + "', protocol: etcd",
	})
	t.Run("health is true", func(t *testing.T) { a.sees(t, "etcd", "", "etcd "+clients[0]+" health is true") })
	t.Run("no client certificate", func(t *testing.T) { a.sees(t, "login", "tls", "tls: ") })
	t.Run("plain text to a port with TLS", func(t *testing.T) { a.sees(t, "clear", "protocol", "protocol: ") })
	t.Run("no quorum", func(t *testing.T) {
		members[1].kill()
		members[2].kill()
		a.sees(t, "etcd", "server_error", etcdReason(explains, "RAFT NO LEADER"))
	})
	t.Run("quorum again", func(t *testing.T) {
		members[1].start(t)
		a.sees(t, "etcd", "", "health is true")
	})
	t.Run("the others stopped by SIGSTOP", func(t *testing.T) {
		members[1].signal(t, syscall.SIGSTOP)
		a.sees(t, "etcd", "server_error", "health is false")
		members[1].signal(t, syscall.SIGCONT)
		a.sees(t, "etcd", "", "health is true")
	})
	a.faults(t, members[0], "etcd", "health is true")
}

func TestTCPEtcdAlarm(t *testing.T) {
	t.Parallel()
	for version, program := range etcds(t) {
		t.Run(version, func(t *testing.T) { testTCPEtcdAlarm(t, program, version == "3.6") })
	}
}

func testTCPEtcdAlarm(t *testing.T, program []string, explains bool) {
	client, peer, dir := address(t), address(t), shortDirectory(t, "")
	tcpServe(t, append(slices.Clip(program), "--name=m0", "--data-dir="+dir+"/m0", "--logger=zap", "--log-level=error", "--quota-backend-bytes=1048576",
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client, "--listen-peer-urls=http://"+peer,
		"--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=m0=http://"+peer)...)
	a := tcpAsk(t, map[string]string{"etcd": "address: '" + client + "', protocol: etcd"})
	a.sees(t, "etcd", "", "health is true")
	t.Run("alarm", func(t *testing.T) {
		// A key, in base64, and a value that the quota has no room for.
		body := `{"key":"YQ==","value":"` + strings.Repeat("QUJD", 400_000) + `"}`
		tcpSay(t, "tcp", client, fmt.Sprintf("POST /v3/kv/put HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body), "database space exceeded")
		a.sees(t, "etcd", "server_error", etcdReason(explains, "ALARM NOSPACE"))
	})
}

// A check of one protocol against the server of another always fails.
func TestTCPWrongProtocol(t *testing.T) {
	t.Parallel()
	dir := shortDirectory(t, "")
	servers := map[string]string{"redis": address(t), "memcached": address(t), "etcd": address(t), "rsync": address(t), "ovsdb": address(t)}
	redisServer(t, servers["redis"], dir, "--save", "")
	memcached(t, "-l", "127.0.0.1", "-p", tcpPort(t, servers["memcached"]))
	peer := address(t)
	tcpServe(t, debianEtcd, "--name=m0", "--data-dir="+dir+"/m0", "--logger=zap", "--log-level=error",
		"--listen-client-urls=http://"+servers["etcd"], "--advertise-client-urls=http://"+servers["etcd"], "--listen-peer-urls=http://"+peer,
		"--initial-advertise-peer-urls=http://"+peer, "--initial-cluster=m0=http://"+peer)
	if err := os.WriteFile(dir+"/rsyncd.conf", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tcpServe(t, "/usr/bin/rsync", "--daemon", "--no-detach", "--config="+dir+"/rsyncd.conf", "--address=127.0.0.1", "--port="+tcpPort(t, servers["rsync"]), "--log-file="+dir+"/rsync.log")
	if out, err := exec.Command("ovsdb-tool", "create", dir+"/conf.db", "/usr/share/openvswitch/vswitch.ovsschema").CombinedOutput(); err != nil {
		t.Fatalf("ovsdb-tool: %v\n%s", err, out)
	}
	tcpServe(t, "/usr/sbin/ovsdb-server", dir+"/conf.db", "--remote=ptcp:"+tcpPort(t, servers["ovsdb"])+":127.0.0.1", "--unixctl="+dir+"/ovsdb.ctl")
	blocks := map[string]string{}
	for _, protocol := range []string{"redis", "memcached", "etcd", "ovsdb"} {
		for name, address := range servers {
			blocks[protocol+"-at-"+name] = "address: '" + address + "', protocol: " + protocol
		}
	}
	a := tcpAsk(t, blocks)
	for name := range blocks {
		t.Run(name, func(t *testing.T) {
			protocol, server, _ := strings.Cut(name, "-at-")
			want := "protocol"
			if protocol == server {
				want = ""
			}
			a.sees(t, name, want, protocol+" "+servers[server])
		})
	}
}
