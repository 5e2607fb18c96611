package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// fullPipe returns a pipe that takes no further byte.
func fullPipe(t *testing.T) (reader, writer *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = writer.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := writer.Write(make([]byte, 4<<20)); !os.IsTimeout(err) {
		t.Fatalf("Write() to a pipe without a reader = %v, want a timeout", err)
	}
	return reader, writer
}

// TestReaderOfTheLogStops starts the daemon with a log that takes nothing. Probes are answered
// and SIGTERM is obeyed, also once the reader has gone.
func TestReaderOfTheLogStops(t *testing.T) {
	for name, gone := range map[string]bool{"stopped": false, "gone": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, writer := fullPipe(t)
			defer reader.Close()
			dir, config := markerConfig(t)
			socket := filepath.Join(collectortest.Dir(t), "v.sock")
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, "vitals", "run", "--config.file="+config, "--web.listen-address=127.0.0.1:0", "--web.unix-socket="+socket, "--web.shutdown-delay=0s")
			cmd.Stderr = writer
			cmd.Env = append(os.Environ(), "VITALS_TEST_DIR="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = writer.Close()
			get := func(path string) (int, string) {
				return request(t, overSocket(socket), http.MethodGet, "http://vitals"+path, "")
			}
			eventually(t, "the process to listen", func() bool { return dialSocket(socket) == nil })
			eventually(t, "ready to pass", func() bool { code, _ := get("/ready"); return code == 200 })
			if gone {
				_ = reader.Close()
				eventually(t, "dropped lines to be counted", func() bool {
					_, body := get("/metrics")
					return strings.Contains(body, "\nvitals_log_dropped_lines_total ") && !strings.Contains(body, "\nvitals_log_dropped_lines_total 0\n")
				})
			}
			if code, body := get("/alive"); code != 200 {
				t.Errorf("/alive = %d %q, want 200", code, body)
			}
			begin := time.Now()
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("the process ended with %v, want 0", err)
			}
			if took, most := time.Since(begin), flushTimeout+stopTimeout+10*time.Second; took > most {
				t.Errorf("the process ended after %s, want at most %s", took, most)
			}
		})
	}
}
