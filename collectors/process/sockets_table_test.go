package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

func TestParseInetRow(t *testing.T) {
	const rest = " 00000000:00000000 00:00000000 00000000     0        0 "
	tests := []struct {
		name, row string
		want      inetRow
	}{
		{"listens", "   0: 00000000:07E8 00000000:0000 0A" + rest + "1077 1 000000009bd65495 100 0 0 10 0", inetRow{2024, 0, 10, 1077}},
		{"time wait", "   1: 0100007F:9087 0100007F:C1C4 06" + rest + "0 3 00000000f59f5023", inetRow{36999, 49604, 6, 0}},
		{"IPv6", "   1: 00000000000000000000000001000000:83FB 00000000000000000000000001000000:E33A 01" + rest + "18446744073709551615 3", inetRow{33787, 58170, 1, 1<<64 - 1}},
		{"more than four digits of a number", "10000: 0100007F:9087 0100007F:C1C4 FF" + rest + "7", inetRow{36999, 49604, 255, 7}},
		{"no inode", "   0: 00000000:07E8 00000000:0000 0A" + rest, inetRow{}},
		{"inode that is none", "   0: 00000000:07E8 00000000:0000 0A" + rest + "x", inetRow{}},
		{"inode that is too large", "   0: 00000000:07E8 00000000:0000 0A" + rest + "18446744073709551616", inetRow{}},
		{"local port that is none", "   0: 00000000:07G8 00000000:0000 0A" + rest + "1", inetRow{}},
		{"remote port that is short", "   0: 00000000:07E8 00000000:0 0A" + rest + "1", inetRow{}},
		{"no port", "   0: 00000000 00000000:0000 0A" + rest + "1", inetRow{}},
		{"state that is none", "   0: 00000000:07E8 00000000:0000 100" + rest + "1", inetRow{}},
		{"empty", "", inetRow{}},
	}
	for _, tt := range tests {
		got, err := parseInetRow([]byte(tt.row))
		if got != tt.want || (err == nil) != (tt.want != inetRow{}) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, err, tt.want)
		}
	}
}

func TestParseUnixRow(t *testing.T) {
	const start = "000000002cebb57b: 00000003 00000000 "
	tests := []struct {
		name, row string
		want      unixRow
	}{
		{"connected", start + "00000000 0001 03   617", unixRow{617, false, ""}},
		{"listens", start + "00010000 0001 01 12345 /run/v", unixRow{12345, true, "/run/v"}},
		{"packets", start + "00010000 0005 01 12345 @v", unixRow{12345, true, "@v"}},
		{"datagrams", start + "00000000 0002 01 12345 /run/v", unixRow{12345, true, "/run/v"}},
		{"bound, and not listening", start + "00000000 0001 01 12345 /run/v", unixRow{12345, false, "/run/v"}},
		{"spaces in the path", start + "00010000 0001 01 12345  a  b ", unixRow{12345, true, " a  b "}},
		{"path that is empty", start + "00010000 0001 01 12345 ", unixRow{12345, true, ""}},
		{"no inode", start + "00010000 0001 01", unixRow{}},
		{"inode that is none", start + "00010000 0001 01 x /run/v", unixRow{}},
		{"flags that are none", start + "x 0001 01 1 /run/v", unixRow{}},
		{"type that is none", start + "00010000 x 01 1 /run/v", unixRow{}},
		{"part of a name", "b", unixRow{}},
		{"empty", "", unixRow{}},
	}
	for _, tt := range tests {
		got, ok := parseUnixRow([]byte(tt.row))
		if got != tt.want || ok != (tt.want != unixRow{}) {
			t.Errorf("%s: %+v, %v, want %+v", tt.name, got, ok, tt.want)
		}
	}
}

func TestSocketInode(t *testing.T) {
	for link, want := range map[string]uint64{
		"socket:[42439]": 42439, "socket:[0]": 0, "socket:[x]": 0, "socket:[]": 0, "socket:[1": 0, "pipe:[1]": 0, "/socket:[1]": 0, "socket:[1] (deleted)": 0, "": 0,
	} {
		got, ok := socketInode(link)
		if wantOK := want > 0 || link == "socket:[0]"; got != want && ok || ok != wantOK {
			t.Errorf("socketInode(%q) = %d, %v, want %d, %v", link, got, ok, want, wantOK)
		}
	}
}

// FuzzParseInetRow holds rows against another reader of them.
func FuzzParseInetRow(f *testing.F) {
	for _, row := range []string{
		"   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1077 1 000000009bd65495 100 0 0 10 0",
		"   1: 00000000000000000000000001000000:83FB 00000000000000000000000001000000:E33A 06 00000000:00000000 03:000014C1 00000000     0        0 0 3 00000000e817ad4a",
		"", "0: 0:0 0:0 1", " a b:0001 c:0002 d e f g h i 1",
	} {
		f.Add(row)
	}
	f.Fuzz(func(t *testing.T, row string) {
		got, err := parseInetRow([]byte(row))
		if err != nil {
			if got != (inetRow{}) || len(err.Error()) > 1024 {
				t.Errorf("parseInetRow(%q) = %+v, %v, want nothing but an error", row, got, err)
			}
			return
		}
		fields := strings.Fields(row)
		_, local, _ := strings.Cut(fields[1], ":")
		_, remote, _ := strings.Cut(fields[2], ":")
		for text, value := range map[string]uint64{"0x" + local: uint64(got.local), "0x" + remote: uint64(got.remote), "0x" + fields[3]: uint64(got.state)} {
			if v, err := strconv.ParseUint(text, 0, 64); err != nil || v != value {
				t.Errorf("parseInetRow(%q) = %+v, want %s", row, got, text)
			}
		}
		if v, err := strconv.ParseUint(fields[9], 10, 64); err != nil || v != got.inode {
			t.Errorf("parseInetRow(%q) = %+v, want the inode %s", row, got, fields[9])
		}
	})
}

// FuzzParseUnixRow holds rows against what must hold of all.
func FuzzParseUnixRow(f *testing.F) {
	for _, row := range []string{"000000002cebb57b: 00000003 00000000 00010000 0001 01   617 /run/v", "0: 1 2 3 4 5 6", "", "a b c d e f g h", "a b c 1 1 f 1  /run/ v"} {
		f.Add(row)
	}
	f.Fuzz(func(t *testing.T, row string) {
		got, ok := parseUnixRow([]byte(row))
		if !ok {
			if got != (unixRow{}) {
				t.Errorf("parseUnixRow(%q) = %+v, want nothing", row, got)
			}
			return
		}
		head, isEnd := strings.CutSuffix(row, got.path)
		fields := strings.FieldsFunc(head, func(r rune) bool { return r == ' ' })
		if !isEnd || len(fields) != 7 || got.path != "" && !strings.HasSuffix(head, " ") {
			t.Fatalf("parseUnixRow(%q) = %+v, want a path behind seven fields", row, got)
		}
		if inode, err := strconv.ParseUint(fields[6], 10, 64); err != nil || inode != got.inode {
			t.Errorf("parseUnixRow(%q) = %+v, want the inode %s", row, got, fields[6])
		}
	})
}

// fakeTables is what proc(5) shows of the sockets of one process, with so many rows that
// are not its own.
func fakeTables(t testing.TB, foreign int) string {
	t.Helper()
	mount := t.TempDir()
	var tcp bytes.Buffer
	tcp.WriteString("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n")
	for i := range foreign {
		fmt.Fprintf(&tcp, "%4d: 0100007F:%04X 0100007F:1628 01 00000000:00000000 00:00000000 00000000     0        0 %d 1 000000009bd65495 20 4 30 10 -1\n", i, i%60000, 100000+i)
	}
	for _, dir := range []string{"fd", "ns", "net"} {
		if err := os.MkdirAll(filepath.Join(mount, "40", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"fd/3": "socket:[100000]", "ns/net": "net:[1]"} {
		if err := os.Symlink(target, filepath.Join(mount, "40", name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string][]byte{"stat": []byte("40 (x) S" + strings.Repeat(" 1", 30)), "net/tcp": tcp.Bytes()} {
		if err := os.WriteFile(filepath.Join(mount, "40", name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return mount
}

func fakeSocketSearch(mount string) (*socketSearch, []foundProcess) {
	search := newSocketSearch(Sockets{Connections: []int{5672}}, &ProcReader{Mount: mount})
	return search, []foundProcess{{Proc: procfs.Proc{PID: 40}, processStat: processStat{start: 1, threads: 1}}}
}

// A process that ends while its sockets are read holds none.
func TestSocketSearchOfProcessThatEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		remove []string
		found  bool
		ok     bool
	}{
		{"it runs", nil, true, true},
		{"it runs, and shows no descriptors", []string{"fd"}, false, false},
		{"ended before its namespace is read", []string{"stat", "ns"}, false, true},
		{"ended before its descriptors are read", []string{"stat", "fd"}, false, true},
		{"ended before the tables are read", []string{"stat", "net"}, true, true},
	} {
		mount := fakeTables(t, 1)
		for _, name := range tt.remove {
			if err := os.RemoveAll(filepath.Join(mount, "40", name)); err != nil {
				t.Fatal(err)
			}
		}
		search, running := fakeSocketSearch(mount)
		if found, err := search.find(t.Context(), running); found != tt.found || (err == nil) != tt.ok {
			t.Errorf("%s: find() = %v, %v, want %v and an error: %v", tt.name, found, err, tt.found, !tt.ok)
		}
	}
}

// Reading a table ends with the collection.
func TestSocketSearchEndsWithItsContext(t *testing.T) {
	mount := fakeTables(t, 1)
	table := filepath.Join(mount, "40/net/tcp")
	if err := errors.Join(os.Remove(table), os.Symlink("/dev/zero", table)); err != nil {
		t.Fatal(err)
	}
	search, running := fakeSocketSearch(mount)
	if _, err := search.find(t.Context(), running); err == nil {
		t.Error("find() in a table without lines = no error, want one")
	}
	mount = fakeTables(t, 10)
	search, running = fakeSocketSearch(mount)
	ctx, cancel := context.WithCancel(t.Context())
	rows := 0
	err := search.table.each(ctx, filepath.Join(mount, "40/net/tcp"), inetHeader, func([]byte) error {
		if rows++; rows == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || rows != 3 {
		t.Errorf("each() = %v after %d rows, want it to end with the context after 3", err, rows)
	}
	if _, err := search.find(ctx, running); !errors.Is(err, context.Canceled) || ReasonOf(err) != unreadable {
		t.Errorf("find() = %v, want it to end with its context", err)
	}
}
