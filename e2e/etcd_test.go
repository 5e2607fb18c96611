//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// etcdCluster is a cluster of three members of Debian's etcd, and a Vitals that checks the first.
type etcdCluster struct {
	a       tcpAsking
	members []*tcpServer
	clients []string
}

// newEtcdCluster starts both. The quota of the database is 1 MiB. The times of an election, in milliseconds,
// are five times the defaults, so that a busy machine keeps its leader.
func newEtcdCluster(t *testing.T) etcdCluster {
	t.Helper()
	dir := shortDirectory(t, "")
	c := etcdCluster{}
	var peers, cluster []string
	for i := range 3 {
		c.clients, peers = append(c.clients, address(t)), append(peers, address(t))
		cluster = append(cluster, fmt.Sprintf("m%d=http://%s", i, peers[i]))
	}
	for i, client := range c.clients {
		c.members = append(c.members, tcpServe(t, debianEtcd, fmt.Sprintf("--name=m%d", i), fmt.Sprintf("--data-dir=%s/m%d", dir, i), "--logger=zap", "--log-level=error", "--quota-backend-bytes=1048576",
			"--heartbeat-interval=500", "--election-timeout=5000",
			"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client, "--listen-peer-urls=http://"+peers[i],
			"--initial-advertise-peer-urls=http://"+peers[i], "--initial-cluster="+strings.Join(cluster, ",")))
	}
	url := "http://" + c.clients[0]
	c.a = watch(t, map[string]string{
		"etcd":    "http: {url: '" + url + "/health', expect: {json: {health: 'true'}}}",
		"metrics": "scrape: {url: '" + url + "/metrics', keep: [etcd_server_has_leader]}",
	},
		`{alert: EtcdDown, expr: 'vitals_dependency_up{dependency="etcd"} == 0', labels: {state: ready}}`,
		`{alert: EtcdWithoutLeader, expr: 'etcd_server_has_leader{component="metrics"} == 0', labels: {state: ready}, annotations: {no_data: pass}}`)
	c.a.staysAlive(t)
	return c
}

const etcdWell = "200 "

// recovers waits until the member is healthy, and then for ready.
func (c etcdCluster) recovers(t *testing.T) {
	t.Helper()
	await(t, "etcd is healthy", startsWithin, func() error {
		_, err := c.call(http.MethodGet, "/health", "")
		return err
	})
	c.a.recovers(t, "etcd", etcdWell, time.Now())
	c.a.exports(t, `etcd_server_has_leader{component="metrics"} 1`)
}

// call sends a request to the first member.
func (c etcdCluster) call(method, path, body string) (string, error) {
	req, err := http.NewRequest(method, "http://"+c.clients[0]+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	client := http.Client{Timeout: 10 * time.Second}
	res, err := client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s = %d %s, want 200", method, path, res.StatusCode, answer)
	}
	return string(answer), err
}

// etcdAlarm is an alarm of a member.
type etcdAlarm struct {
	Member string `json:"memberID"`
	Alarm  string `json:"alarm"`
}

// alarms returns all alarms, and an error if there is none.
func (c etcdCluster) alarms() ([]etcdAlarm, error) {
	text, err := c.call(http.MethodPost, "/v3/maintenance/alarm", `{"action":"GET"}`)
	if err != nil {
		return nil, err
	}
	var list struct {
		Alarms []etcdAlarm `json:"alarms"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil || len(list.Alarms) == 0 {
		return nil, fmt.Errorf("alarms = %s, %v, want one", text, err)
	}
	return list.Alarms, nil
}

// disarm ends all alarms.
func (c etcdCluster) disarm(t *testing.T) {
	t.Helper()
	var alarms []etcdAlarm
	await(t, "the alarms are listed", startsWithin, func() (err error) {
		alarms, err = c.alarms()
		return err
	})
	for _, a := range alarms {
		if _, err := c.call(http.MethodPost, "/v3/maintenance/alarm", fmt.Sprintf(`{"action":"DEACTIVATE","memberID":%q,"alarm":%q}`, a.Member, a.Alarm)); err != nil {
			t.Fatal(err)
		}
	}
}

// A member that fails, a cluster without a leader and a full database: each has its reason, ready
// follows, and alive stays.
func TestEtcd(t *testing.T) {
	t.Parallel()
	c := newEtcdCluster(t)
	t.Run("healthy", func(t *testing.T) { c.recovers(t) })
	t.Run("frozen", func(t *testing.T) {
		c.members[0].signal(t, syscall.SIGSTOP)
		c.a.breaks(t, "etcd", "timeout", "timeout")
		c.members[0].signal(t, syscall.SIGCONT)
		c.recovers(t)
	})
	t.Run("stopped", func(t *testing.T) {
		c.members[0].kill()
		c.a.breaks(t, "etcd", "refused", "refused")
		c.members[0].start(t)
		c.recovers(t)
	})
	t.Run("no leader", func(t *testing.T) {
		c.members[1].kill()
		c.members[2].kill()
		c.a.breaks(t, "etcd", "server_error", "503")
		c.a.fails(t, "EtcdWithoutLeader")
		c.members[1].start(t)
		c.members[2].start(t)
		c.recovers(t)
	})
	t.Run("database is full", func(t *testing.T) {
		// A key, in base64, and a value that the quota has no room for.
		body := `{"key":"YQ==","value":"` + strings.Repeat("QUJD", 400_000) + `"}`
		await(t, "the database is full, and the alarm raised", startsWithin, func() error {
			text, err := c.call(http.MethodPost, "/v3/kv/put", body)
			if err == nil || !strings.Contains(err.Error(), "database space exceeded") {
				return fmt.Errorf("put = %s, %v, want the database full", text, err)
			}
			_, err = c.alarms()
			return err
		})
		c.a.breaks(t, "etcd", "server_error", "503")
		c.disarm(t)
		c.recovers(t)
	})
}
