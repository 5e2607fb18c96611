package main

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/postgres/postgrestest"
	"github.com/vitals-health/vitals/internal/fakes"
)

// recipeCase is a server for a recipe.
type recipeCase struct {
	name string
	// serve starts it, writes what it needs into the folder of the recipe, and returns the texts of the
	// page to replace.
	serve func(t *testing.T, dir string) (oldnew []string)
	// ready is the verdict with the rules that decide.
	ready string
	// restarts is that of alive, where a recipe may fail it.
	restarts string
}

// alive is the verdict of alive, which a recipe leaves alone.
func (c recipeCase) alive() string {
	if c.restarts == "" {
		return "pass"
	}
	return c.restarts
}

// The expositions in testdata are shortened, and have the names and labels of the page /metrics of RabbitMQ
// (https://www.rabbitmq.com/docs/prometheus), dcgm-exporter (https://github.com/NVIDIA/dcgm-exporter),
// etcd (https://etcd.io/docs/v3.5/metrics/) and client-go (tools/leaderelection/metrics.go).

// recipeCases are the servers of each recipe, by the name of its group. A recipe that changes its
// kind changes its servers here.
func recipeCases() map[string][]recipeCase {
	const down = http.StatusServiceUnavailable
	return map[string][]recipeCase{
		"orders-db": {
			{"healthy", postgresWith(nil), "pass", ""},
			{"all connections are in use", postgresRefuses("53300", "sorry, too many clients already"), "fail DatabaseDown", ""},
			{"recovers", postgresRefuses("57P03", "the database system is starting up"), "fail DatabaseDown", ""},
			{"nearly full", postgresWith(map[string]any{postgrestest.StateSQL: postgrestest.State("0", "0", "96", "97", nil, nil, nil)}), "warn DatabaseNearlyFull", ""},
		},
		"schema": {
			{"healthy", postgresWith(migrated(1)), "pass", ""},
			{"an older revision", postgresWith(migrated(0)), "fail MigrationMissing", ""},
			{"no table", postgresWith(map[string]any{migrationSQL: postgrestest.Failure("42P01", `relation "alembic_version" does not exist`)}), "fail MigrationMissing", ""},
		},
		"sessions": {
			{"healthy", redisWith("+PONG\r\n"), "pass", ""},
			{"loads the data set", redisWith("-LOADING Redis is loading the dataset in memory\r\n"), "fail RedisDown", ""},
		},
		"broker": {
			{"healthy", brokerWith(http.StatusOK, `{"status":"ok"}`), "pass", ""},
			// Source: https://www.rabbitmq.com/docs/monitoring#health-checks and the plugin's rabbit_mgmt_wm_health_check_alarms.
			{"an alarm", brokerWith(down, `{"status":"failed","reason":"There are alarms in effect in the cluster","alarms":[{"resource":"memory","node":"rabbit@node1"}]}`), "fail BrokerBlocksPublishers", ""},
		},
		"queues": {
			{"healthy", exposing("http://rabbitmq.example:15692", "queues.prom"), "pass", ""},
			{"too long", exposing("http://rabbitmq.example:15692", "queues.prom", `queue="orders"} 7`, `queue="orders"} 25000`), "fail QueueTooLong", ""},
			{"the queue is gone", exposing("http://rabbitmq.example:15692", "queues.prom", `queue="orders"`, `queue="old"`), "fail QueueTooLong", ""},
		},
		"objects": {
			{"healthy", objectsWith(http.StatusOK, http.StatusForbidden), "pass", ""},
			{"no write quorum", objectsWith(down, http.StatusForbidden), "fail ObjectStoreDown", ""},
			{"no bucket", objectsWith(http.StatusOK, http.StatusNotFound), "fail ObjectStoreDown", ""},
		},
		"billing": {
			// Source: https://docs.spring.io/spring-boot/api/rest/actuator/health.html
			{"healthy", responding("http://billing.example:8080", http.StatusOK, `{"status":"UP","components":{"broker":{"status":"UP"}}}`), "pass", ""},
			{"down", responding("http://billing.example:8080", down, `{"status":"DOWN"}`), "fail BillingDown", ""},
			{"down with status 200", responding("http://billing.example:8080", http.StatusOK, `{"status":"DOWN"}`), "fail BillingDown", ""},
		},
		"payments": {
			{"healthy", responding("http://payments.shop.svc:8080", http.StatusOK, "ok\n"), "pass", ""},
			{"not ready", responding("http://payments.shop.svc:8080", down, "DatabaseDown failing: The database accepts no login.\n"), "fail PaymentsNotReady", ""},
			{"no endpoint", refusing("http://payments.shop.svc:8080"), "fail PaymentsNotReady", ""},
		},
		"shop": {
			{"healthy", shopUntil(90 * 24 * time.Hour), "pass", ""},
			{"expires in three days", shopUntil(3 * 24 * time.Hour), "warn CertificateExpires", ""},
			{"expired", shopUntil(-time.Hour), "fail CertificateNotTrusted", ""},
		},
		"db-name": {
			{"healthy", resolving(dnsmessage.RCodeSuccess, [4]byte{192, 0, 2, 10}), "pass", ""},
			{"the address from before", resolving(dnsmessage.RCodeSuccess, [4]byte{192, 0, 2, 9}), "fail NameResolvedWrong", ""},
			{"the resolver fails", resolving(dnsmessage.RCodeServerFailure), "fail NameNotResolved NameResolvedWrong", ""},
			{"no such name", resolving(dnsmessage.RCodeNameError), "fail NameNotResolved NameResolvedWrong", ""},
		},
		"gpu": {
			{"healthy", exposing("http://127.0.0.1:9400", "gpu.prom"), "pass", ""},
			{"no XID so far", exposing("http://127.0.0.1:9400", "gpu.prom", "DCGM_FI_DEV_XID_ERRORS{", "DCGM_FI_DEV_OTHER{"), "pass", ""},
			{"off the bus", exposing("http://127.0.0.1:9400", "gpu.prom", `DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-8b5a2f0c-3c1d-4d6e-9f57-1c0d6a7be913"} 0`, `DCGM_FI_DEV_XID_ERRORS{gpu="1",UUID="GPU-8b5a2f0c-3c1d-4d6e-9f57-1c0d6a7be913"} 79`), "fail GPUBroken", ""},
			{"a mistake of the program", exposing("http://127.0.0.1:9400", "gpu.prom", "d92044ab6e52\"} 0\n", "d92044ab6e52\"} 31\n", "} 41\n", "} 93\n"), "warn GPUHot", ""},
			{"no exporter", refusing("http://127.0.0.1:9400"), "fail GPUUnknown", ""},
		},
		"etcd": {
			{"healthy", exposing("http://127.0.0.1:2381", "etcd.prom"), "pass", ""},
			{"no leader", exposing("http://127.0.0.1:2381", "etcd.prom", "etcd_server_has_leader 1", "etcd_server_has_leader 0"), "fail NoLeader", ""},
		},
		"controller": {
			{"healthy", exposing("http://127.0.0.1:8081", "controller.prom"), "pass", ""},
			{"standby", exposing("http://127.0.0.1:8081", "controller.prom", `name="orders-controller"} 1`, `name="orders-controller"} 0`), "fail Standby", ""},
		},
		"kubernetes": {
			{"healthy", clusterWith(fakes.None), "pass", ""},
			{"the role has changed", clusterWith("deny-access"), "fail AccessDenied", ""},
			{"not ready", clusterWith("503"), "fail KubernetesDown AccessDenied", ""},
		},
		"data": {
			{"healthy", mounted(""), "pass", ""},
			{"not mounted", mounted("none"), "fail DiskFull DiskMissing", ""},
		},
		"backup": {
			{"healthy", plugin("echo 'BACKUP OK - 3h old | age=10800s;86400;93600;0;'"), "pass", ""},
			{"warning", plugin("echo 'BACKUP WARNING - 25h old'; exit 1"), "warn BackupWarning", ""},
			{"critical", plugin("echo 'BACKUP CRITICAL - 30h old'; exit 2"), "fail BackupCritical", ""},
			{"the server does not answer", plugin("echo 'BACKUP UNKNOWN - no route to host'; exit 3"), "fail BackupCritical", ""},
		},
		"nightly": {
			{"healthy", job("backup_success 1\n", time.Hour), "pass", ""},
			{"failed", job("backup_success 0\n", time.Hour), "fail JobFailed", ""},
			{"did not run", job("backup_success 1\n", 30*time.Hour), "fail JobNotRun", ""},
			{"never ran", job("", 0), "fail JobFailed JobNotRun", ""},
			{"was cut", job("backup_success 1", time.Hour), "fail JobFailed JobNotRun", ""},
		},
		"worker": {
			{"healthy", heartbeat(time.Second), "pass", ""},
			{"hangs", heartbeat(10 * time.Minute), "fail", "fail WorkerHangs"},
			{"starts", func(_ *testing.T, dir string) []string { return []string{"/run/orders", dir} }, "fail WorkerStarts", ""},
		},
	}
}

const migrationSQL = "SELECT count(*) FROM alembic_version WHERE version_num = '1975ea83b712'"

func migrated(revisions int) map[string]any {
	return map[string]any{migrationSQL: postgrestest.Table{Columns: []string{"count"}, Rows: [][]any{{revisions}}}}
}

// postgresWith is a server with other answers than a healthy one.
func postgresWith(answers map[string]any) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		server := postgrestest.Server{Answers: postgrestest.Healthy()}
		for statement, answer := range answers {
			server.Answers[statement] = answer
		}
		return startPostgres(t, dir, server)
	}
}

func postgresRefuses(code, message string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		server := postgrestest.Server{Refuses: func(bool) *pgproto3.ErrorResponse { return postgrestest.Fatal(code, message) }}
		return startPostgres(t, dir, server)
	}
}

func startPostgres(t *testing.T, dir string, server postgrestest.Server) []string {
	t.Helper()
	cert, file, _ := collectortest.Certificate(t, "db.example", time.Now().Add(time.Hour))
	write(t, dir, "ca.pem", collectortest.Read(t, file))
	server.TB, server.Auth, server.Password = t, "password", "hunter2"
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	return []string{"db.example:5432", collectortest.Listen(t, server.Serve)}
}

// redisWith is a server that requires a password and answers PING.
func redisWith(answer string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		server := redisServer("hunter2")
		return []string{"redis.example:6379", collectortest.Listen(t, func(conn net.Conn) { server(pongs{conn, answer}) })}
	}
}

// pongs writes another answer in the place of each +PONG.
type pongs struct {
	net.Conn
	answer string
}

func (p pongs) Write(data []byte) (int, error) {
	_, err := io.WriteString(p.Conn, strings.ReplaceAll(string(data), "+PONG\r\n", p.answer))
	return len(data), err
}

func brokerWith(status int, alarms string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		login := rabbitServer("hunter2")
		address := collectortest.Listen(t, func(conn net.Conn) { login(conn) })
		return append(responding("http://rabbitmq.example:15672", status, alarms)(t, dir), "rabbitmq.example:5672", address)
	}
}

// objectsWith is a MinIO and a bucket of S3.
// Source: https://min.io/docs/minio/linux/operations/monitoring/healthcheck-probe.html and
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
func objectsWith(minio, bucket int) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		objects := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "MinIO")
			w.Header().Set("X-Minio-Write-Quorum", "3")
			if r.URL.Path != "/minio/health/cluster" {
				t.Errorf("MinIO gets a request for %s", r.URL.Path)
			}
			w.WriteHeader(minio)
		})
		amazon := collectortest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Server", "AmazonS3")
			w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
			if r.Method != http.MethodHead {
				t.Errorf("S3 gets a request of %s", r.Method)
			}
			w.WriteHeader(bucket)
		})
		return []string{"http://minio.example:9000", objects.URL, "https://orders.s3.eu-central-1.amazonaws.com", amazon.URL}
	}
}

// responding is a web server in the place of a base URL.
func responding(base string, status int, body string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		server := collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
		return []string{base, server.URL}
	}
}

func refusing(base string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string { return []string{base, "http://" + collectortest.Refusing(t)} }
}

// exposing is a target in the place of a base URL, with the metrics of a file and changes.
func exposing(base, file string, oldnew ...string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		given := collectortest.Read(t, "testdata/recipes/"+file)
		metrics := strings.NewReplacer(oldnew...).Replace(given)
		if len(oldnew) > 0 && metrics == given {
			t.Errorf("%s has no %q", file, oldnew)
		}
		server := collectortest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
			_, _ = io.WriteString(w, metrics)
		})
		return []string{base, server.URL}
	}
}

func shopUntil(left time.Duration) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		cert, file, _ := collectortest.Certificate(t, "shop.example", time.Now().Add(left))
		write(t, dir, "ca.pem", collectortest.Read(t, file))
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
		server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
		server.StartTLS()
		t.Cleanup(server.Close)
		return []string{"https://shop.example", server.URL}
	}
}

// resolving is a resolver with these addresses for each name.
func resolving(code dnsmessage.RCode, addresses ...[4]byte) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		conn, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			buffer := make([]byte, 4096)
			for {
				n, from, err := conn.ReadFrom(buffer)
				if err != nil {
					return
				}
				var m dnsmessage.Message
				if err := m.Unpack(buffer[:n]); err != nil {
					t.Errorf("Unpack() = %v", err)
					continue
				}
				m.Response, m.RCode, m.Additionals = true, code, nil
				for _, a := range addresses {
					m.Answers = append(m.Answers, dnsmessage.Resource{
						Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60}, Body: &dnsmessage.AResource{A: a},
					})
				}
				answer, err := m.Pack()
				if err != nil {
					t.Errorf("Pack() = %v", err)
				}
				_, _ = conn.WriteTo(answer, from)
			}
		}()
		t.Cleanup(func() { _ = conn.Close(); <-done })
		return []string{"10.0.0.53:53", conn.LocalAddr().String()}
	}
}

func clusterWith(fault string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		cloud, err := fakes.Start(fakes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cloud.Close() })
		if err := cloud.Set("kubernetes", fault); err != nil {
			t.Fatal(err)
		}
		return []string{"kubernetes: {access", "kubernetes: {kubeconfig: " + write(t, dir, "kubeconfig", string(cloud.Kubeconfig())) + ", access"}
	}
}

// mounted replaces the path of the volume. The verdict of a volume that is full is in the unit test: it needs
// a file system of its own.
func mounted(below string) func(*testing.T, string) []string {
	return func(_ *testing.T, dir string) []string { return []string{"/var/lib/orders", filepath.Join(dir, below)} }
}

// plugin is a check of Nagios.
func plugin(body string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		path := filepath.Join(dir, "check_backup")
		writeFile(t, path, "#!/bin/sh\n"+body+"\n")
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
		return nil
	}
}

// heartbeat is a file that was written some time ago.
func heartbeat(ago time.Duration) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		at := time.Now().Add(-ago)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "heartbeat"), nil, 0o600), os.Chtimes(filepath.Join(dir, "heartbeat"), at, at)); err != nil {
			t.Fatal(err)
		}
		return []string{"/run/orders", dir}
	}
}

// job leaves a file with metrics behind, written so long ago. Without a content it never ran.
func job(content string, ago time.Duration) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		file, at := filepath.Join(dir, "backup.prom"), time.Now().Add(-ago)
		if content != "" {
			if err := errors.Join(os.WriteFile(file, []byte(content), 0o600), os.Chtimes(file, at, at)); err != nil {
				t.Fatal(err)
			}
		}
		return []string{"/run/vitals", dir}
	}
}
