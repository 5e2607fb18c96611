package tcp

import (
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors/remote"
)

func TestOVSDBCheck(t *testing.T) {
	const databases = `{"id":"vitals","result":["OVN_Southbound","_Server"],"error":null}`
	for _, c := range []struct {
		name, database string
		answers        []string // what the server reads after the request, and writes, in turn
		want           remote.Reason
		note           string
	}{
		{"databases", "", []string{databases}, "", "OVN_Southbound _Server"},
		{"the database is there", "OVN_Southbound", []string{databases}, "", "OVN_Southbound _Server"},
		{"the database is missing", "OVN_Northbound", []string{databases}, remote.ReasonNotFound, ""},
		{"a name in part", "OVN", []string{databases}, remote.ReasonNotFound, ""},
		{"echo first", "", []string{`{"id":"echo","method":"echo","params":["a",1]}`, `{"result":["a",1],"error":null,"id":"echo"}`, databases}, "", "OVN_Southbound _Server"},
		{"echo without parameters", "", []string{`{"id":7,"method":"echo"}`, `{"result":[],"error":null,"id":7}`, databases}, "", "OVN_Southbound _Server"},
		{"a notification first", "", []string{`{"id":null,"method":"update","params":[]}` + databases}, "", "OVN_Southbound _Server"},
		{"another request", "", []string{`{"id":1,"method":"transact","params":[]}`}, remote.ReasonProtocol, ""},
		{"an error", "", []string{`{"id":"vitals","result":null,"error":{"error":"not allowed"}}`}, remote.ReasonServerError, ""},
		{"an answer to another request", "", []string{`{"id":0,"result":["a"],"error":null}`}, remote.ReasonProtocol, ""},
		{"no list", "", []string{`{"id":"vitals","result":{"a":1},"error":null}`}, remote.ReasonProtocol, ""},
		{"no result", "", []string{`{"id":"vitals","error":null}`}, remote.ReasonProtocol, ""},
		{"null", "", []string{`{"id":"vitals","result":null,"error":null}`}, remote.ReasonProtocol, ""},
		{"numbers", "", []string{`{"id":"vitals","result":[1],"error":null}`}, remote.ReasonProtocol, ""},
		{"not an object", "", []string{`[1]`}, remote.ReasonProtocol, ""},
		{"truncated", "", []string{`{"id":"vitals","result":["OVN_South`}, remote.ReasonProtocol, ""},
		{"a redis", "", []string{"-ERR unknown command\r\n"}, remote.ReasonProtocol, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			script := append([]string{ovsdbRequest}, c.answers...)
			ctx, conn := serveOnce(t, patience, scripted(t, script...))
			note, err := checkOVSDB(ctx, &peer{conn: conn, database: c.database})
			if got := reasonOf(err); got != c.want || err == nil && note != c.note {
				t.Errorf("checkOVSDB() = %q, reason %q, %v, want %q, reason %q", note, got, err, c.note, c.want)
			}
		})
	}
}

// What follows the answer in the same packet is ignored.
func TestOVSDBReadsNoFurther(t *testing.T) {
	ctx, conn := serveOnce(t, patience, func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, len(ovsdbRequest)))
		_, _ = io.WriteString(conn, `{"id":"vitals","result":[],"error":null}garbage`)
	})
	if note, err := checkOVSDB(ctx, &peer{conn: conn}); note != "" || err != nil {
		t.Errorf("checkOVSDB() = %q, %v, want no databases and no error", note, err)
	}
}

func TestOVSDBHostile(t *testing.T) { hostile(t, checkOVSDB) }

func FuzzOVSDBMessage(f *testing.F) {
	for _, seed := range []string{`{"id":"vitals","result":["a"],"error":null}`, `{"id":"echo","method":"echo","params":[]}`, `{"id":null}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m ovsdbMessage
		if json.Unmarshal(data, &m) != nil {
			return
		}
		if note, err := parseOVSDB(m, "db"); err == nil && !strings.Contains(note, "db") {
			t.Fatalf("parseOVSDB(%s) = %q, nil, want an error without the database", data, note)
		}
		if echo, err := answerOVSDB(m); err == nil && echo != nil && (m.Method != "echo" || !json.Valid(echo)) {
			t.Fatalf("answerOVSDB(%s) = %s, want an answer to an echo alone", data, echo)
		}
	})
}

func FuzzOVSDBServer(f *testing.F) {
	f.Add([]byte(`{"id":"echo","method":"echo","params":[]}{"id":"vitals","result":["a"],"error":null}`))
	f.Fuzz(func(t *testing.T, answer []byte) { fuzzServer(t, answer, checkOVSDB) })
}
