package tcp_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

func TestCertificates(t *testing.T) {
	soon, past := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	good, goodFile, goodKey := collectortest.Certificate(t, "redis.example", soon)
	expired, expiredFile, _ := collectortest.Certificate(t, "redis.example", past)
	_, otherFile, _ := collectortest.Certificate(t, "redis.example", soon)
	pool := pool(t, goodFile)
	pong := redis("+PONG\r\n")
	serve := func(settings *tls.Config) string {
		return collectortest.ListenOn(t, "tcp", "127.0.0.1:0", settings, pong)
	}
	plainly := serve(&tls.Config{Certificates: []tls.Certificate{good}})
	tooLate := serve(&tls.Config{Certificates: []tls.Certificate{expired}})
	mutual := serve(&tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})
	old := serve(&tls.Config{Certificates: []tls.Certificate{good}, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	for _, c := range []struct {
		name, address, tls, reason string
		expiry                     time.Time
	}{
		{"trusted", plainly, "{ca_file: " + goodFile + ", server_name: redis.example}", "", soon},
		{"another name", plainly, "{ca_file: " + goodFile + ", server_name: mysql.example}", "tls", soon},
		{"another authority", plainly, "{ca_file: " + otherFile + ", server_name: redis.example}", "tls", soon},
		{"not verified", plainly, "{insecure_skip_verify: true}", "", soon},
		{"expired", tooLate, "{ca_file: " + expiredFile + ", server_name: redis.example}", "tls", past},
		{"expired and not verified", tooLate, "{insecure_skip_verify: true}", "", past},
		{"with a client certificate", mutual, "{insecure_skip_verify: true, cert_file: " + goodFile + ", key_file: " + goodKey + "}", "", soon},
		{"without a client certificate", mutual, "{insecure_skip_verify: true}", "tls", soon},
		{"no key", mutual, "{insecure_skip_verify: true, cert_file: " + goodFile + ", key_file: " + goodFile + "}", "tls", soon},
		{"an old version", old, "{insecure_skip_verify: true}", "tls", time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			samples, err := collectortest.Collect(t, newCollector(t, "d", "{address: '"+c.address+"', protocol: redis, tls: "+c.tls+"}"))
			if got := collectortest.Reason(samples); got != c.reason || (err == nil) != (c.reason == "") {
				t.Errorf("reason = %q, error %v, want %q", got, err, c.reason)
			}
			got, ok := collectortest.Value(samples, `vitals_tls_certificate_expiry_timestamp_seconds{dependency="d"}`)
			if ok == c.expiry.IsZero() || ok && got != float64(c.expiry.Unix()) {
				t.Errorf("expiry = %v, %t, want %v", got, ok, c.expiry)
			}
		})
	}
}

func pool(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(collectortest.Read(t, file))) {
		t.Fatalf("%s has no certificates", file)
	}
	return pool
}
