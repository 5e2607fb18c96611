package scrape_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vitals-health/vitals/collectors"
	"github.com/vitals-health/vitals/collectors/scrape"
)

func BenchmarkCollector(b *testing.B) {
	for _, series := range []int{1000, 10000} {
		var body strings.Builder
		for i := range series {
			fmt.Fprintf(&body, "node_cpu_seconds_total{cpu=\"%d\",mode=\"idle\",instance=\"node-%d.example\"} %d.25\n", i, i%7, i)
		}
		b.Run(fmt.Sprint(series), func(b *testing.B) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", textFormat)
				_, _ = w.Write([]byte(body.String()))
			}))
			defer server.Close()
			config := &scrape.Config{URL: server.URL}
			config.SetDefaults()
			config.SampleLimit = series
			c, err := config.New(collectors.Env{Name: "target"})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := c.Collect(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
