package tcp

import (
	"io"
	"net"
	"slices"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

// For every answer, a dialogue ends with a match or with an error that has a reason.
func FuzzDialogue(f *testing.F) {
	for _, seed := range []string{"SSH-2.0-x\r\n", "@RSYNCD: 31.0\n", "220 a\r\n250-b\r\n250 c\r\n", "AMQP\x03\x01\x00\x00", "\xff\xfe\n\n"} {
		f.Add([]byte(seed), `^220 .*\r\n`, `^250 `)
	}
	f.Fuzz(func(t *testing.T, answer []byte, first, second string) {
		var steps []step
		for _, expr := range []string{first, second} {
			expect, err := compileExpect(expr)
			if err != nil || len(expr) > 100 {
				return
			}
			steps = append(steps, step{expect: expect, send: "x"})
		}
		_, conn := serveOnce(t, patience, func(conn net.Conn) {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			_, _ = conn.Write(answer)
		})
		d := dialogue{conn: conn}
		note, err := d.run(steps)
		if err == nil && len(answer) == 0 {
			t.Fatalf("run() = %q, nil without an answer, want an error", note)
		}
		if got := reasonOf(err); err != nil && (!slices.Contains(remote.Reasons(), got) || got == remote.ReasonTimeout) {
			t.Fatalf("run() with the answer %q = %v, reason %q, want a known one, and no waiting", answer, err, got)
		}
	})
}
