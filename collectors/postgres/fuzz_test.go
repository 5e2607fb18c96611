package postgres

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/collectortest"
	"github.com/vitals-health/vitals/collectors/remote"
	"github.com/vitals-health/vitals/collectors/remote/query"
)

// played runs one collection against the answers.
func played(ctx context.Context, c *collector, r *collection, answers []byte) (err error) {
	conn := collectortest.Played(string(answers))
	s := &session{raw: conn, stop: func() bool { return true }}
	if s.conn, err = c.startup(ctx, conn, r); err != nil {
		return serverError(err)
	}
	defer s.close(ctx)
	if err := s.alive(ctx); err != nil {
		return err
	}
	if err := s.measure(ctx, r); err != nil {
		return err
	}
	return s.run(ctx, c.config.Queries, r)
}

// No answer of a server ends the process, shows the password, or has a reason that is not of the
// set.
func FuzzAnswers(f *testing.F) {
	const login = "R\x00\x00\x00\x08\x00\x00\x00\x00S\x00\x00\x00\x17server_version\x0017.2\x00Z\x00\x00\x00\x05I"
	const done = "C\x00\x00\x00\x07OK\x00Z\x00\x00\x00\x05T"
	const row = "1\x00\x00\x00\x042\x00\x00\x00\x04T\x00\x00\x00\x1a\x00\x01n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00D\x00\x00\x00\x0b\x00\x01\x00\x00\x00\x011"
	f.Add([]byte(login + done + done + row + done + done))
	f.Add([]byte("R\x00\x00\x00\x17\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00R\x00\x00\x00\x0c\x00\x00\x00\x0br=a,s=YQ==,i=1"))
	f.Add([]byte("R\x00\x00\x00\x0c\x00\x00\x00\x05saltE\x00\x00\x00\x15SFATAL\x00C28P01\x00Mno\x00\x00"))
	f.Add([]byte("R\x00\x00\x00\x08\x00\x00\x00\x03E\x00\x00\x00\x06\x00\x00"))
	f.Fuzz(func(t *testing.T, answers []byte) {
		c := &collector{config: Config{SSLMode: sslDisable, Queries: query.Queries{"n": {SQL: "SELECT n"}}}, address: remote.Address{Host: "127.0.0.1", Port: "5432"}, hide: func(...string) {}}
		r := &collection{username: "vitals", password: "hunter2", values: map[*collectors.Def]float64{}, outcomes: map[string]query.Outcome{}}
		err := played(t.Context(), c, r, answers)
		if err != nil && strings.Contains(err.Error(), "hunter2") && !bytes.Contains(answers, []byte("hunter2")) {
			t.Fatalf("an error shows the password: %v", err)
		}
		if reason := remote.ReasonUntil(t.Context(), err); err != nil && !slices.Contains(append(remote.Reasons(), ownReasons()...), reason) && !slices.Contains(query.Reasons(), reason) {
			t.Fatalf("error %v has the reason %q, want a known one", err, reason)
		}
	})
}
