package process

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/vitals-health/vitals/collectors/collectortest"
)

// manyRows is a host with very many connections.
const manyRows = 100_000

// The allocations of a collection do not grow with the connections of the host.
func TestSocketSearchHoldsNoTable(t *testing.T) {
	allocs := func(rows int) float64 {
		mount := fakeTables(t, rows)
		return testing.AllocsPerRun(1, func() {
			search, running := fakeSocketSearch(mount)
			if _, err := search.find(t.Context(), running); err != nil {
				t.Fatal(err)
			}
			if n := search.connections[5672][1]; n != 1 {
				t.Fatalf("find() has %d connections, want the one of the process", n)
			}
		})
	}
	if few, many := allocs(10), allocs(manyRows); many > few+10 {
		t.Errorf("find() allocates %v times for 10 rows and %v times for %d, want as often", few, many, manyRows)
	}
}

// BenchmarkSockets is the processor time that a search through a table takes, a
// row, and against splitting the table's rows into fields alone.
func BenchmarkSockets(b *testing.B) {
	mount := fakeTables(b, manyRows)
	b.ReportAllocs()
	var ours, all time.Duration
	for b.Loop() {
		before := collectortest.CPU(b)
		search, running := fakeSocketSearch(mount)
		if _, err := search.find(b.Context(), running); err != nil {
			b.Fatal(err)
		}
		between := collectortest.CPU(b)
		text, err := os.ReadFile(mount + "/40/net/tcp")
		if err != nil {
			b.Fatal(err)
		}
		for row := range bytes.Lines(text) {
			if len(bytes.Fields(row)) < 10 {
				b.Fatalf("row %q, want ten fields", row)
			}
		}
		ours += between - before
		all += collectortest.CPU(b) - between
	}
	b.ReportMetric(float64(ours.Nanoseconds())/float64(b.N)/manyRows, "cpu-ns/row")
	b.ReportMetric(float64(ours)/float64(all), "of-fields")
}
