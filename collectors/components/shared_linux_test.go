package components

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// Both ways to read the byte find the same.
func TestReadMemoryIsAsReadFirst(t *testing.T) {
	for _, tt := range []struct {
		content string
		want    byte
		err     error
	}{{"\x01", 1, nil}, {"\x00\x01", 0, nil}, {"\xffmore", 0xff, nil}, {"", 0, io.EOF}} {
		path := filepath.Join(t.TempDir(), "boolean")
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for name, read := range map[string]func(*os.File) (byte, error){"readMemory": readMemory, "readFirst": readFirst} {
			if got, err := read(file); got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%s of %q = %d, %v, want %d, %v", name, tt.content, got, err, tt.want, tt.err)
			}
		}
		_ = file.Close()
		if _, err := readMemory(file); err == nil {
			t.Error("readMemory of a closed file = no error, want one")
		}
	}
}

// A file whose reads may wait is not read with a raw system call.
func TestProcIsNotMemory(t *testing.T) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if inMemory(file) {
		t.Error("inMemory of a file below /proc = true, want false")
	}
}

func TestEachPollsUntilStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	polls := 0
	begin := time.Now()
	each(ctx, 5*time.Millisecond, func() {
		if polls++; polls == 5 {
			cancel()
		}
	})
	if polls != 5 {
		t.Errorf("%d polls, want 5: it was stopped then", polls)
	}
	if took := time.Since(begin); took < 15*time.Millisecond {
		t.Errorf("5 polls took %s, want them 5ms apart", took)
	}

	polls = 0
	each(ctx, time.Hour, func() { polls++ })
	if polls > 1 {
		t.Errorf("%d polls after the end, want one at most", polls)
	}

	// It does not wait for the next poll.
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	each(ctx, time.Hour, func() {})
}

// What a kernel does that gives no timer.
func TestEachTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second-time.Millisecond)
		defer cancel()
		polls := 0
		eachTick(ctx, 25*time.Millisecond, func() { polls++ })
		if polls != 40 {
			t.Errorf("%d polls in a second, want 40", polls)
		}
	})
}
