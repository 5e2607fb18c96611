package server_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vitals-health/vitals/internal/server"
)

// clientsVariable makes the test binary hold connections to the address in it.
const clientsVariable = "VITALS_TEST_HOLD_CONNECTIONS"

const idleConnections = 10_000

// holdConnections opens idleConnections, half of which send one request for /ready and half
// of which send the beginning of a request, and holds them until in ends. It
// runs in a separate process, because both ends together would exceed the usual limit of
// file descriptors.
func holdConnections(address string, in io.Reader, out io.Writer) int {
	var held []net.Conn
	for i := range idleConnections {
		c, err := net.DialTimeout("tcp", address, 2*time.Minute)
		if err != nil {
			fmt.Fprintf(out, "connection %d: %v\n", i, err)
			return 1
		}
		request := "GET /ready HTTP/1.1\r\nHost: x\r\n"
		if i%2 == 0 {
			request += "\r\n"
		}
		_, _ = io.WriteString(c, request) // The server may have closed it already.
		held = append(held, c)
	}
	fmt.Fprintln(out, "holding")
	_, _ = io.Copy(io.Discard, in)
	for _, c := range held {
		_ = c.Close()
	}
	return 0
}

func TestIdleConnectionsDoNotKeepProbesFromAnswering(t *testing.T) {
	url := serve(t, server.New(fixed(healthy())).Handler())
	before := heap()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), clientsVariable+"="+strings.TrimPrefix(url, "http://"))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "holding\n" {
		t.Fatalf("clients printed %q, %v, want holding", line, err)
	}
	for range 20 {
		start := time.Now()
		if r := fetch(t, "GET", url+"/ready"); r.code != http.StatusOK || r.body != "ok" {
			t.Errorf("/ready = %d %q, want 200 ok", r.code, r.body)
		}
		// On an idle machine it takes milliseconds, on a busy one that still accepts the
		// connections many seconds. Requests that waited for those would wait for ever.
		if took := time.Since(start); took > time.Minute {
			t.Errorf("/ready took %v with %d idle connections, want at most a minute", took, idleConnections)
		}
	}
	// Without a bound, 10,000 connections take more than 100 MiB.
	if grown := int64(heap()) - int64(before); grown > 32<<20 {
		t.Errorf("memory grew by %d MiB with %d idle connections, want at most 32", grown>>20, idleConnections)
	}
	if err := in.Close(); err != nil {
		t.Errorf("close clients' input: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("clients: %v", err)
	}
}

// heap is what the process has taken for objects and stacks and not given back.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
